import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { processInOrder } from './event-publisher.ts';

const events = ['a1', 'b1', 'c1', 'a2', 'd1', 'b2', 'a3', 'a4'].map((id) => ({ id, subject: id.charAt(0) }));
const idsOf = (batch: readonly { id: string }[]) => batch.map(({ id }) => id).join(' ');

test('processes the events of one lead one after another, and events of different leads together', async () => {
  const done: string[] = [];
  let running = 0;
  await processInOrder(events, async (batch) => {
    expect((running += 1)).toBe(1);
    await turn();
    running -= 1;
    done.push(idsOf(batch));
  });
  expect(done).toEqual(['a1 b1 c1', 'a2 d1 b2', 'a3', 'a4']);
  await processInOrder([], () => Promise.reject(new Error('called without events')));
});

test('does not process later events after a failure', async () => {
  const begun: string[] = [];
  const work = processInOrder(events, async (batch) => {
    begun.push(idsOf(batch));
    await turn();
    throw new Error('not stored');
  });
  await expect(work).rejects.toThrow('not stored');
  await turn();
  expect(begun).toEqual(['a1 b1 c1']);
});
