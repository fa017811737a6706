import { expect, test, vi } from 'vitest';
import { EventRelay } from './event-relay.ts';

test('events that cannot be told in time are told fewer at once, until more go again', async () => {
  const asked: number[] = [];
  let most = 100;
  const handOver = async (count: number) => {
    asked.push(count);
    if (count > most) throw new Error('It takes too long');
    return asked.length < 30 ? count : 0;
  };
  const outbox = { handOver, dropBefore: async () => 0, oldest: async () => undefined };
  const onError = vi.fn<(error: unknown) => void>();
  const publisher = { isConnected: true, publish: async () => undefined };
  await using _relay = new EventRelay(outbox, publisher, onError);

  await expect.poll(() => asked.slice(0, 4), { timeout: 20_000 }).toEqual([1_000, 250, 62, 124]);
  most = Number.POSITIVE_INFINITY;
  await expect.poll(() => asked.at(-1), { timeout: 20_000 }).toBe(1_000);
  // Of failures in a row the first is told: of these two or more rows.
  expect(onError.mock.calls.length).toBeGreaterThan(1);
});
