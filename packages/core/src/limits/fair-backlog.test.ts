import { expect, test } from 'vitest';
import { FairBacklog } from './fair-backlog.ts';

function backlogOf(bounds: { items?: number; size?: number } = {}) {
  const backlog = new FairBacklog<{ name: string; size: number }>({ items: 100, size: 1_000, ...bounds });
  return {
    backlog,
    /** Adds items while there is room. Returns the number of added items. */
    add: (tenant: string, count: number, size = 1): number => {
      for (let at = 0; at < count; at++) {
        if (!backlog.hasRoom(tenant)) return at;
        backlog.add(tenant, { name: `${tenant}${at}`, size });
      }
      return count;
    },
    take: (max: number, maxSize = 1_000) => backlog.take(max, maxSize).map(({ name }) => name),
  };
}

test('one tenant gets at most half of the room, and leaves room for others', () => {
  const { backlog, add } = backlogOf({ items: 100 });
  expect(add('a', 200)).toBe(50);
  expect(add('b', 200)).toBe(25);
  expect(add('c', 1)).toBe(1);
  expect(backlog.count).toBe(76);
});

test('the bound on sizes is shared in the same way', () => {
  const { add, take } = backlogOf({ size: 1_000 });
  expect(add('a', 100, 100)).toBe(5);
  expect(add('b', 100, 100)).toBe(3);
  take(100);
  expect(add('a', 100, 100)).toBe(5);
});

test('tenants take turns while more items wait than are taken, and keep the order of their items', () => {
  const { add, take } = backlogOf();
  add('a', 10);
  add('b', 2);
  add('c', 1);
  expect(take(3)).toEqual(['a0', 'b0', 'c0']);
  expect(take(6)).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'a5']);
  expect(take(100)).toEqual(['a6', 'a7', 'a8', 'a9']);
  expect(take(1)).toEqual([]);
});

test('if more tenants wait than items are taken, the next tenants come first', () => {
  const { add, take } = backlogOf();
  for (const tenant of ['a', 'b', 'c']) add(tenant, 2);
  expect([take(2), take(2), take(2)]).toEqual([
    ['a0', 'b0'],
    ['c0', 'a1'],
    ['b1', 'c1'],
  ]);
});

test('items are taken up to a size, which the tenants share', () => {
  const { add, take } = backlogOf();
  add('a', 4, 100);
  add('b', 9, 10);
  expect(take(100, 200)).toEqual(['a0', 'b0', 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'b8', 'a1']);
  // An item that is larger than the size is taken alone.
  expect(take(100, 50)).toEqual(['a2']);
});

test('the oldest items that meet a condition are removed, of every tenant', () => {
  const { backlog, add, take } = backlogOf({ items: 10 });
  add('a', 3);
  add('b', 2);
  expect(backlog.takeWhile(({ name }) => name.endsWith('0')).map(({ name }) => name)).toEqual(['a0', 'b0']);
  expect(backlog.takeWhile(({ name }) => name.endsWith('2'))).toEqual([]);
  expect(backlog.count).toBe(3);
  expect(take(10)).toEqual(['a1', 'a2', 'b1']);
  expect(add('a', 10)).toBe(5);
});
