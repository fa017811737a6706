import { expect, test } from 'vitest';
import { EndpointPace } from './endpoint-pace.ts';

const total = (room: ReadonlyMap<string, number>) => [...room.values()].reduce((sum, each) => sum + each, 0);

/** Begins what an endpoint may begin, and ends it with a result. Returns the number. */
function round(pace: EndpointPace, id: string, isSuccess: boolean): number {
  const count = pace.share([id]).get(id) ?? 0;
  for (let i = 0; i < count; i++) pace.begin(id);
  for (let i = 0; i < count; i++) pace.end(id, isSuccess);
  return count;
}

test('the concurrency of an endpoint grows with each success up to 50, and is one after a failure', () => {
  const pace = new EndpointPace(256);
  expect([1, 2, 3, 4, 5].map(() => round(pace, 'a', true))).toEqual([4, 8, 16, 32, 50]);
  expect(round(pace, 'a', true)).toBe(50);
  round(pace, 'a', false);
  expect([round(pace, 'a', false), round(pace, 'a', true), round(pace, 'a', true)]).toEqual([1, 1, 2]);
});

test('endpoints share the room evenly, and an endpoint that hangs leaves room for others', () => {
  const pace = new EndpointPace(10);
  for (let i = 0; i < 4; i++) round(pace, 'a', true);
  const room = pace.share(['a', 'b', 'c']);
  expect(total(room)).toBe(10);
  expect([...room.values()].toSorted((a, b) => a - b)).toEqual([3, 3, 4]);
  for (const [id, count] of room) for (let i = 0; i < count; i++) pace.begin(id);
  expect([pace.running, pace.share(['a', 'b', 'd'])]).toEqual([10, new Map()]);
  pace.end('a', false);
  expect([pace.running, pace.share(['a', 'd'])]).toEqual([9, new Map([['d', 1]])]);
});
