import { describe, expect, test } from 'vitest';
import { LeadsError } from '../errors.ts';
import { FairShares } from './fair-shares.ts';

/** Takes slots for a tenant until it is rejected. Returns the number of slots and the code of the rejection. */
function takeAll(shares: FairShares, tenant: string): [number, string] {
  for (let taken = 0; ; taken++) {
    try {
      shares.take(tenant);
    } catch (error) {
      return [taken, error instanceof LeadsError ? error.code : String(error)];
    }
  }
}

describe('fair shares', () => {
  test('give one tenant half of the slots, and each further tenant half of the rest', () => {
    const shares = new FairShares(8, 'exports');
    expect(takeAll(shares, 'a')).toEqual([4, 'too_many_requests']);
    expect(takeAll(shares, 'b')).toEqual([2, 'too_many_requests']);
    expect(takeAll(shares, 'c')).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, 'd')).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, 'e')).toEqual([0, 'unavailable']);
    expect(shares.used).toBe(8);
  });

  test('free a slot once, for any tenant', () => {
    const shares = new FairShares(2, 'exports');
    const end = shares.take('a');
    expect(takeAll(shares, 'a')).toEqual([0, 'too_many_requests']);
    end();
    end();
    expect(shares.used).toBe(0);
    expect(takeAll(shares, 'b')).toEqual([1, 'too_many_requests']);
  });

  test('a single slot serves one tenant at a time', () => {
    const shares = new FairShares(1, 'exports');
    expect(takeAll(shares, 'a')).toEqual([1, 'too_many_requests']);
    expect(takeAll(shares, 'b')).toEqual([0, 'unavailable']);
  });
});
