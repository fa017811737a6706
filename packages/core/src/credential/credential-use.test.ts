import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CredentialUse, type Uses } from './credential-use.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

const written: Uses[] = [];
let failure: Error | undefined;
const errors: unknown[] = [];
const open = () => {
  written.length = 0;
  errors.length = 0;
  failure = undefined;
  const store = {
    async recordUses(uses: Uses) {
      if (failure !== undefined) throw failure;
      written.push(uses);
    },
  };
  return new CredentialUse(store, (error) => errors.push(error));
};

test('uses are written together after some seconds, the last of each', async () => {
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
  const at = (uses: Uses['apiKeys'], id: string) => uses.get(id)?.at.getTime() ?? 0;
  expect(at(apiKeys, 'k') - at(accessTokens, 't')).toBe(1_000);
  // Nothing more happened.
  await vi.advanceTimersByTimeAsync(20_000);
  expect(written).toHaveLength(1);
});

test('what could not be written is written with what comes, the newer one where both are known', async () => {
  await using use = open();
  failure = new Error('away');
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

test('what was noted last is written when it ends', async () => {
  const use = open();
  use.note({ accessTokenId: 't' });
  await use[Symbol.asyncDispose]();
  expect(written[0]?.accessTokens.has('t')).toBe(true);
});
