import { describe, expect, test } from 'vitest';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

const scope = { workspaceId: newId() };
const position = { createdAt: new Date('2026-01-31T09:30:00.123Z'), id: newId() };
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const parts = () =>
  JSON.parse(Buffer.from(encodeCursor(position, scope), 'base64url').toString()) as [number, string, string];

function expectRefused(cursor: string, ofScope: { workspaceId: string; userId?: string } = scope) {
  let refusal: unknown;
  try {
    decodeCursor(cursor, ofScope);
  } catch (error) {
    refusal = error;
  }
  expect(refusal, cursor).toBeInstanceOf(LeadsError);
  expect((refusal as LeadsError).code).toBe('invalid_cursor');
}

describe('cursor', () => {
  test('gives back the position it was made of, for whole workspaces and for single users', () => {
    for (const ofScope of [scope, { ...scope, userId: newId() }]) {
      const cursor = encodeCursor(position, ofScope);
      expect(cursor).toMatch(/^[\w-]+$/);
      expect(cursor.length).toBeLessThanOrEqual(512);
      expect(decodeCursor(cursor, ofScope)).toEqual(position);
    }
  });

  test('carries the whole range of times, to the millisecond', () => {
    for (const time of [0, 1, 1_700_000_000_001, Date.UTC(9999, 11, 31)]) {
      const at = { createdAt: new Date(time), id: position.id };
      expect(decodeCursor(encodeCursor(at, scope), scope)).toEqual(at);
    }
  });

  test('is refused in any other scope', () => {
    const userId = newId();
    expectRefused(encodeCursor(position, scope), { workspaceId: newId() });
    expectRefused(encodeCursor(position, scope), { ...scope, userId });
    expectRefused(encodeCursor(position, { ...scope, userId }));
    expectRefused(encodeCursor(position, { ...scope, userId }), { ...scope, userId: newId() });
  });

  test('is refused when it was made up', () => {
    const [time, id, fingerprint] = parts();
    for (const value of [
      null,
      {},
      'x',
      [],
      [time, id],
      [time, id, fingerprint, 1],
      [String(time), id, fingerprint],
      [time + 0.5, id, fingerprint],
      [-1, id, fingerprint],
      [Date.UTC(10_000, 0, 1), id, fingerprint],
      [Number.MAX_SAFE_INTEGER, id, fingerprint],
      [1e300, id, fingerprint],
      [null, id, fingerprint],
      [time, 1, fingerprint],
      [time, 'not-a-uuid', fingerprint],
      [time, `${id}' OR true`, fingerprint],
      [time, id.toUpperCase(), fingerprint],
      [time, id, null],
      [time, id, ''],
    ]) {
      expectRefused(encode(value));
    }
    for (const text of ['', ' ', '!', '0', 'undefined', 'a'.repeat(512), '[1,2,3]', '%00', '\u{1F600}']) {
      expectRefused(text);
    }
  });

  test('is refused when it was changed, even in ways that base64 does not see', () => {
    const cursor = encodeCursor(position, scope);
    for (const changed of [
      `${cursor}=`,
      `${cursor}!`,
      ` ${cursor}`,
      `${cursor}\n`,
      `${cursor.slice(0, 8)}.${cursor.slice(8)}`,
      cursor.slice(0, -1),
      cursor + cursor,
    ]) {
      expectRefused(changed);
    }
  });
});
