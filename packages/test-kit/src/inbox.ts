import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';

/** A mail server that stores received mails. */
export interface Inbox extends AsyncDisposable {
  /** The address of the server, in the form of `SMTP_URL`. */
  readonly url: string;
  /** What happens to each mail: it is stored, it is rejected for now (SMTP 451), or it is never answered. */
  answer: 'store' | 'reject' | 'hang';
  /** The number of mails that senders have sent, whatever the answer. */
  readonly sentCount: number;
  /** Returns and removes the next mail to an address. @throws Error if none arrives within 60 s. */
  mailTo(email: string): Promise<string>;
  /** Returns the number of stored mails to an address. */
  countTo(email: string): number;
}

const waitMs = 60_000;

/** Starts a mail server on a free port. */
export async function openInbox(): Promise<Inbox> {
  const mails: { to: string; text: string }[] = [];
  let sentCount = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      stream.on('end', () => {
        sentCount += 1;
        if (inbox.answer === 'hang') return;
        if (inbox.answer === 'reject') {
          done(Object.assign(new Error('Try again later'), { responseCode: 451 }));
          return;
        }
        const to = session.envelope.rcptTo.map(({ address }) => address).join();
        mails.push({ to, text: decode(text) });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const inbox: Inbox = {
    answer: 'store',
    get sentCount() {
      return sentCount;
    },
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    async mailTo(email) {
      for (const end = Date.now() + waitMs; Date.now() < end; await sleep(20)) {
        const index = mails.findIndex(({ to }) => to === email);
        if (index >= 0) return mails.splice(index, 1)[0]?.text ?? '';
      }
      throw new Error(`No mail to ${email} arrived`);
    },
    countTo: (email) => mails.filter(({ to }) => to === email).length,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
  return inbox;
}

/** Decodes a mail in ASCII. A mail of short lines is not encoded: in it, a token may begin with `3D`. */
function decode(mail: string): string {
  const isEncoded = /^Content-Transfer-Encoding: quoted-printable\r$/im.test(mail);
  return isEncoded ? mail.replaceAll('=\r\n', '').replaceAll('=3D', '=') : mail;
}

/** Returns the link of a mail, which is on a line of its own. */
export function linkIn(mail: string): URL {
  return new URL(/^https?:\S+/m.exec(mail)?.[0] ?? '');
}
