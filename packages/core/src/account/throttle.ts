import { addressBlock } from '../address-block.ts';
import { LeadsError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import { attemptKey } from './attempt-key.ts';

const windowMs = 15 * 60 * 1000;
/** The maximum of mails that strangers can have sent to one address. */
const maxByRecipient = 10;
/** The maximum of attempts from one address block on all accounts. The users of an office may share an address. */
const maxByAddress = 100;

/**
 * Limits attempts to guess a secret, such as a password, and requests for mails. They are counted in the database, for
 * all instances together.
 */
export function createThrottle(store: Pick<AccountStore, 'countAttempt'>) {
  const countMail = async (recipient: string) => ({
    limit: maxByRecipient,
    ...(await store.countAttempt(attemptKey('recipient', recipient), windowMs)),
  });
  return {
    /** Counts a mail to an address. @returns whether it may be sent. */
    async mayMail(recipient: string): Promise<boolean> {
      const { count, limit } = await countMail(recipient);
      return count <= limit;
    },

    /**
     * Counts an attempt.
     *
     * @param recipient the address that gets a mail, if any.
     * @throws LeadsError `too_many_requests` beyond the limits.
     */
    async attempt(address: string, recipient?: string): Promise<void> {
      const counted = [
        {
          limit: maxByAddress,
          ...(await store.countAttempt(attemptKey('address', addressBlock(address)), windowMs)),
        },
      ];
      if (recipient !== undefined) counted.push(await countMail(recipient));
      const over = counted.filter(({ count, limit }) => count > limit);
      if (over.length > 0) {
        throw new LeadsError('too_many_requests', {
          retryAfterSeconds: Math.ceil(Math.max(...over.map(({ leftMs }) => leftMs)) / 1000),
        });
      }
    },
  };
}
