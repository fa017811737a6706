import { addressBlock } from '../address-block.ts';
import { LeadsError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import { attemptKey } from './attempt-key.ts';

const windowMs = 15 * 60 * 1000;
/** The maximum of attempts on one account from all addresses. It stops password guessing and tolerates typing errors. */
const maxByAccount = 10;
/** The maximum of attempts from one address block on all accounts. The users of an office may share an address. */
const maxByAddress = 100;

/**
 * Limits attempts to guess a secret, such as an account's password. Attempts are counted in the database, for all
 * instances together.
 */
export function createThrottle(store: Pick<AccountStore, 'countAttempt' | 'resetAttempts'>) {
  return {
    /**
     * Counts an attempt.
     *
     * @param account the account of the password or code, if known.
     * @throws LeadsError `too_many_requests` beyond the limits.
     */
    async attempt(address: string, account?: string): Promise<void> {
      const counted = [
        {
          limit: maxByAddress,
          ...(await store.countAttempt(attemptKey('address', addressBlock(address)), windowMs)),
        },
      ];
      if (account !== undefined) {
        counted.push({
          limit: maxByAccount,
          ...(await store.countAttempt(attemptKey('account', account), windowMs)),
        });
      }
      const over = counted.filter(({ count, limit }) => count > limit);
      if (over.length > 0) {
        throw new LeadsError('too_many_requests', {
          retryAfterSeconds: Math.ceil(Math.max(...over.map(({ leftMs }) => leftMs)) / 1000),
        });
      }
    },
    /** Resets the attempts on an account after a successful sign-in. */
    async succeed(account: string): Promise<void> {
      await store.resetAttempts(attemptKey('account', account));
    },
  };
}
