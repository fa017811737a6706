import { describe, expect, test } from 'vitest';
import { LeadsError } from '../errors.ts';
import { FairShares, type UserOfWorkspace } from './fair-shares.ts';

const owner = (workspaceId: string) => ({ workspaceId, userId: 'owner', role: 'owner' as const });
const publisher = (workspaceId: string, userId: string) => ({
  workspaceId,
  userId,
  role: 'publisher' as const,
});

/** Takes slots for a user until one is rejected. Returns the number of slots and the code of the rejection. */
function takeAll(shares: FairShares, user: UserOfWorkspace): [number, string] {
  for (let taken = 0; ; taken++) {
    try {
      shares.take(user);
    } catch (error) {
      return [taken, error instanceof LeadsError ? error.code : String(error)];
    }
  }
}

describe('fair shares', () => {
  test('give one workspace half of the slots, and each further workspace half of the rest', () => {
    const shares = new FairShares(8, 'exports');
    expect(takeAll(shares, owner('a'))).toEqual([4, 'too_many_requests']);
    expect(takeAll(shares, owner('b'))).toEqual([2, 'too_many_requests']);
    expect(takeAll(shares, owner('c'))).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, owner('d'))).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, owner('e'))).toEqual([0, 'unavailable']);
    expect(shares.used).toBe(8);
  });

  test('give one publisher half, and all publishers three quarters of what their workspace gets', () => {
    const shares = new FairShares(16, 'exports');
    const end = shares.take(publisher('a', 'ada'));
    expect(takeAll(shares, publisher('a', 'ada'))).toEqual([3, 'too_many_requests']);
    expect(takeAll(shares, publisher('a', 'grace'))).toEqual([2, 'too_many_requests']);
    expect(takeAll(shares, publisher('a', 'joan'))).toEqual([0, 'too_many_requests']);
    end();
    expect(takeAll(shares, publisher('a', 'ada'))).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, owner('a'))).toEqual([2, 'too_many_requests']);
    expect(takeAll(shares, publisher('b', 'ada'))).toEqual([4, 'too_many_requests']);
  });

  test('free a slot once, for any workspace', () => {
    const shares = new FairShares(2, 'exports');
    const end = shares.take(owner('a'));
    expect(takeAll(shares, owner('a'))).toEqual([0, 'too_many_requests']);
    end();
    end();
    expect(shares.used).toBe(0);
    expect(takeAll(shares, owner('b'))).toEqual([1, 'too_many_requests']);
  });

  test('a single slot serves one workspace at a time', () => {
    const shares = new FairShares(1, 'exports');
    expect(takeAll(shares, owner('a'))).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, owner('b'))).toEqual([0, 'unavailable']);
  });
});
