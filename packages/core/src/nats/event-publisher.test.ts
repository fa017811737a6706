import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inTurns } from './event-publisher.ts';

const events = ['a1', 'b1', 'c1', 'a2', 'd1', 'b2', 'a3', 'a4'].map((id) => ({ id, subject: id.charAt(0) }));
const idsOf = (some: readonly { id: string }[]) => some.map(({ id }) => id).join(' ');

test('events of a lead follow one another, those of others do not wait', async () => {
  const done: string[] = [];
  let atOnce = 0;
  await inTurns(events, async (some) => {
    expect((atOnce += 1)).toBe(1);
    await turn();
    atOnce -= 1;
    done.push(idsOf(some));
  });
  expect(done).toEqual(['a1 b1 c1', 'a2 d1 b2', 'a3', 'a4']);
  await inTurns([], () => Promise.reject(new Error('there is nothing to do')));
});

test('what fails keeps back what comes after it', async () => {
  const begun: string[] = [];
  const work = inTurns(events, async (some) => {
    begun.push(idsOf(some));
    await turn();
    throw new Error('not stored');
  });
  await expect(work).rejects.toThrow('not stored');
  await turn();
  expect(begun).toEqual(['a1 b1 c1']);
});
