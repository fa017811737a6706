import { expect, test } from 'vitest';
import { BufferShares } from './buffer-shares.ts';

function setUp(readRoom: () => Promise<number>, onlyWorkspaceId?: string) {
  const shares = new BufferShares(readRoom, async () => onlyWorkspaceId);
  return {
    shares,
    /** Adds leads of 100 bytes while there is room. Returns the number of added leads. */
    fill: (workspace: string): number => {
      let count = 0;
      for (; shares.hasRoom(workspace) && count < 1_000; count++) shares.add(workspace, 100);
      return count;
    },
  };
}

test('one workspace gets at most half of the room, and leaves room for others', async () => {
  const { shares, fill } = setUp(async () => 10_000);
  await shares.refresh();
  expect([fill('a'), fill('b'), fill('c'), fill('a')]).toEqual([50, 25, 13, 0]);
});

test('the only workspace gets the whole room, until another one has buffered a lead', async () => {
  const { shares, fill } = setUp(async () => 10_000, 'a');
  await shares.refresh();
  for (let count = 0; count < 60; count++) shares.add('a', 100);
  expect(shares.hasRoom('a')).toBe(true);
  expect(fill('b')).toBe(20);
  expect(shares.hasRoom('a')).toBe(false);
});

test('a workspace whose key is newer than the read gets at most half of the room', async () => {
  const { shares, fill } = setUp(async () => 10_000, 'a');
  await shares.refresh();
  expect(fill('b')).toBe(50);
});

test('a workspace has its share of the room again after an outage', async () => {
  const { shares, fill } = setUp(async () => 10_000);
  await shares.refresh();
  fill('a');
  shares.clear();
  expect(fill('a')).toBe(25);
});

test('a workspace has room while the room is unknown', async () => {
  const { shares, fill } = setUp(() => Promise.reject(new Error('no answer')));
  await shares.refresh();
  expect(fill('a')).toBe(1_000);
});
