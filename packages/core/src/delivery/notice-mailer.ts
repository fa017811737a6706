import type { AccountStore } from '../account/account-store.ts';
import { attemptKey } from '../account/attempt-key.ts';
import type { SendMail } from '../account/mail.ts';
import { BackgroundLoop } from '../background/background-loop.ts';
import type { DeliveryNotice, DeliveryNotices } from './delivery-notices.ts';
import { noticeMail } from './notice-mail.ts';

const idleMs = 5_000;
const retryMs = { min: 1_000, max: 60_000 };
/** The notices of a claim. Their mails must be sent within the lease, also if each step of the mail server times out. */
const claimSize = 20;
const leaseMs = 15 * 60_000;
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** The attempts to send a mail, with pauses of 2 minutes to 2 hours: 4 hours in all. */
const maxAttempts = 8;
/** The mails to a member in a day. A receiver that is enabled and disabled again and again cannot cause more. */
const maxMailsADay = 20;

/** Notices to one member of one workspace. */
type OneMail = readonly [DeliveryNotice, ...DeliveryNotice[]];

interface NoticeMailerOptions {
  readonly notices: DeliveryNotices;
  readonly store: Pick<AccountStore, 'countAttempt'>;
  readonly sendMail: SendMail;
  /** The origin of the website. */
  readonly publicUrl: string;
  /** Called for failures of the database, and for each mail that was not sent. */
  readonly onError: (error: unknown) => void;
}

/**
 * Mails notices about failing and disabled endpoints until it is disposed. Any number of processes may run one. A notice
 * is removed after its mail is sent, so a process that dies between the two repeats the mail.
 */
export class NoticeMailer implements AsyncDisposable {
  readonly #options: NoticeMailerOptions;
  readonly #loop: BackgroundLoop;

  constructor(options: NoticeMailerOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({
      step: (signal) => this.#sendDue(signal),
      onError: options.onError,
      retryMs,
    });
  }

  async #sendDue(signal: AbortSignal): Promise<number> {
    const { notices } = this.#options;
    const claimed = await notices.claim(claimSize, leaseMs);
    if (claimed.length === 0) return idleMs;
    const isWanted = ({ isCurrent, attempts }: DeliveryNotice) => isCurrent && attempts <= maxAttempts;
    await notices.remove(claimed.filter((notice) => !isWanted(notice)));
    for (const mailed of byMember(claimed.filter(isWanted))) {
      if (signal.aborted) await notices.retry(mailed, 0);
      else await this.#send(mailed);
    }
    return 0;
  }

  async #send(mailed: OneMail): Promise<void> {
    const { notices, store, sendMail, publicUrl, onError } = this.#options;
    const attempts = Math.min(...mailed.map((notice) => notice.attempts));
    try {
      const key = attemptKey('notice-mail', mailed[0].userId);
      const { count } = attempts > 1 ? { count: 0 } : await store.countAttempt(key, dayMs);
      if (count <= maxMailsADay) await sendMail(noticeMail(mailed, publicUrl));
    } catch (error) {
      onError(error);
      await notices.retry(mailed, 2 ** attempts * minuteMs);
      return;
    }
    await notices.remove(mailed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}

function byMember(notices: readonly DeliveryNotice[]): Iterable<OneMail> {
  const mails = new Map<string, OneMail>();
  for (const notice of notices) {
    const member = `${notice.workspaceId} ${notice.userId}`;
    const [first, ...others] = mails.get(member) ?? [];
    mails.set(member, first === undefined ? [notice] : [first, ...others, notice]);
  }
  return mails.values();
}
