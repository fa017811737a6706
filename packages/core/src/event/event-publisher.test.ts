import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inOrder } from './event-publisher.ts';

const events = ['a1', 'b1', 'c1', 'a2', 'd1', 'b2', 'a3', 'a4'].map((id) => ({ id, subject: id.charAt(0) }));

test('events of a lead follow one another, those of others do not wait', async () => {
  const done: string[] = [];
  let atOnce = 0;
  let most = 0;
  await inOrder(events, async ({ id, subject }) => {
    const version = Number(id.charAt(1));
    for (let earlier = 1; earlier < version; earlier++) expect(done).toContain(`${subject}${earlier}`);
    most = Math.max(most, (atOnce += 1));
    // The earlier, the longer.
    for (let turns = 0; turns < 10 - version; turns++) await turn();
    atOnce -= 1;
    done.push(id);
  });
  expect(done.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  expect(most).toBe(3);
});

test('what fails keeps back what comes after it', async () => {
  const begun: string[] = [];
  const work = inOrder(events, async ({ id }) => {
    begun.push(id);
    await turn();
    if (id === 'a1') throw new Error('not stored');
  });
  await expect(work).rejects.toThrow('not stored');
  await turn();
  expect(begun).toEqual(['a1', 'b1', 'c1']);
});
