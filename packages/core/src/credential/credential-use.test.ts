import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LastUses } from './credential-store.ts';
import { CredentialUse } from './credential-use.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

const written: LastUses[] = [];
let failure: Error | undefined;
const errors: unknown[] = [];
const open = () => {
  written.length = 0;
  errors.length = 0;
  failure = undefined;
  const store = {
    async recordUses(uses: LastUses) {
      if (failure !== undefined) throw failure;
      written.push(uses);
    },
  };
  return new CredentialUse(store, (error) => errors.push(error));
};

test('writes the last use of each credential together, every 5 s', async () => {
  await using use = open();
  use.note({ apiKeyId: 'k', accessTokenId: 't' }, '203.0.113.7');
  vi.advanceTimersByTime(1_000);
  use.note({ apiKeyId: 'k' });
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(written).toHaveLength(1);
  const [{ apiKeys, accessTokens } = { apiKeys: new Map(), accessTokens: new Map() }] = written;
  expect([...apiKeys.keys(), ...accessTokens.keys()]).toEqual(['k', 't']);
  expect(apiKeys.get('k')?.from).toBeUndefined();
  const at = (uses: LastUses['apiKeys'], id: string) => uses.get(id)?.at.getTime() ?? 0;
  expect(at(apiKeys, 'k') - at(accessTokens, 't')).toBe(1_000);
  // Without a new use, nothing is written.
  await vi.advanceTimersByTimeAsync(20_000);
  expect(written).toHaveLength(1);
});

test('retries uses whose write failed, unless there is a newer one', async () => {
  await using use = open();
  failure = new Error('unavailable');
  use.note({ apiKeyId: 'old' }, '1');
  use.note({ apiKeyId: 'both' }, '1');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(errors).toEqual([failure]);
  use.note({ apiKeyId: 'both' }, '2');
  failure = undefined;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(new Map(Array.from(written[0]?.apiKeys ?? [], ([id, { from }]) => [id, from]))).toEqual(
    new Map([
      ['both', '2'],
      ['old', '1'],
    ]),
  );
});

test('writes pending uses at disposal', async () => {
  const use = open();
  use.note({ accessTokenId: 't' });
  await use[Symbol.asyncDispose]();
  expect(written[0]?.accessTokens.has('t')).toBe(true);
});
