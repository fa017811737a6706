import { createHash } from 'node:crypto';
import { LeadsError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';

const windowMs = 15 * 60 * 1000;
/** Attempts on one account, wherever they come from. Few enough for passwords, enough for people. */
const maxByAccount = 10;
/** Attempts from one address, at whichever accounts. Offices share one. */
const maxByAddress = 100;

/**
 * Counts attempts at what can be guessed, an account's password for instance, in the database: all instances
 * count as one.
 */
export function createThrottle(store: Pick<AccountStore, 'countAttempt' | 'forgetAttempts'>) {
  const keyOf = (kind: string, text: string) =>
    `${kind}:${createHash('sha256').update(text.toLowerCase()).digest('base64url')}`;
  return {
    /**
     * @param account whose password or code is tried, where there is one.
     * @throws LeadsError `too_many_requests` beyond what people need.
     */
    async attempt(address: string, account?: string): Promise<void> {
      const counted = [
        { most: maxByAddress, ...(await store.countAttempt(keyOf('address', address), windowMs)) },
      ];
      if (account !== undefined) {
        counted.push({
          most: maxByAccount,
          ...(await store.countAttempt(keyOf('account', account), windowMs)),
        });
      }
      const over = counted.filter(({ count, most }) => count > most);
      if (over.length > 0) {
        throw new LeadsError('too_many_requests', {
          retryAfterSeconds: Math.ceil(Math.max(...over.map(({ leftMs }) => leftMs)) / 1000),
        });
      }
    },
    /** Who got in was not guessing. */
    async succeed(account: string): Promise<void> {
      await store.forgetAttempts(keyOf('account', account));
    },
  };
}
