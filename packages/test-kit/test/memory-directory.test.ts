import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createMemoryDirectory } from '../src/memory-directory.ts';

const parent = mkdtempSync(join(tmpdir(), 'leads-memory-'));
afterAll(() => rmSync(parent, { recursive: true }));

test('a directory in memory is open to all accounts, and is removed with its files', async () => {
  const directory = createMemoryDirectory(parent, 0);
  const path = directory?.path ?? '';
  expect(statSync(path).mode & 0o7777).toBe(0o1777);
  expect(readdirSync(path)).toEqual([]);
  mkdtempSync(join(path, 'database-'));
  await directory?.[Symbol.asyncDispose]();
  expect(readdirSync(parent)).toEqual([]);
});

test('no directory in memory is used without enough memory, or in a missing file system', async () => {
  expect(createMemoryDirectory(join(parent, 'missing'), 0)).toBeUndefined();
  expect(createMemoryDirectory(parent, 2 ** 60)).toBeUndefined();
  expect(readdirSync(parent)).toEqual([]);
});
