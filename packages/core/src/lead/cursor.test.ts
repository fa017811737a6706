import { describe, expect, test } from 'vitest';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { decodeCursor, encodeCursor, type LeadCursor } from './cursor.ts';
import type { LeadFilter, LeadOrder, LeadSelection } from './lead-store.ts';
import { leadSearch, phoneSearch } from './search.ts';

const newestFirst: LeadOrder = { by: 'createdAt', direction: 'descending' };
const scope = { workspaceId: newId() };
const selected = (filter: LeadFilter = {}, order: LeadOrder = newestFirst): LeadSelection => ({
  scope,
  filter,
  order,
});
const position = { time: new Date('2026-01-31T09:30:00.123Z'), id: newId() };
const place: LeadCursor = { position, toward: 'next' };
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const parts = () =>
  JSON.parse(Buffer.from(encodeCursor(place, selected()), 'base64url').toString()) as [
    number,
    string,
    string,
    string,
  ];

function expectRejected(cursor: string, selection: LeadSelection = selected()) {
  let rejection: unknown;
  try {
    decodeCursor(cursor, selection);
  } catch (error) {
    rejection = error;
  }
  expect(rejection, cursor).toBeInstanceOf(LeadsError);
  expect((rejection as LeadsError).code).toBe('invalid_cursor');
}

describe('a cursor', () => {
  test('decodes to the encoded position and direction, for a workspace and for a single user', () => {
    for (const ofScope of [scope, { ...scope, userId: newId() }]) {
      for (const toward of ['next', 'prev'] as const) {
        const selection = { ...selected(), scope: ofScope };
        const cursor = encodeCursor({ position, toward }, selection);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(cursor.length).toBeLessThanOrEqual(512);
        expect(decodeCursor(cursor, selection)).toEqual({ position, toward });
      }
    }
  });

  test('keeps times from 1970 to 9999 to the millisecond', () => {
    for (const time of [0, 1, 1_700_000_000_001, Date.UTC(9999, 11, 31)]) {
      const at: LeadCursor = { position: { time: new Date(time), id: position.id }, toward: 'next' };
      expect(decodeCursor(encodeCursor(at, selected()), selected())).toEqual(at);
    }
  });

  test('is rejected in any other scope', () => {
    const userId = newId();
    const workspace = selected();
    const user = { ...workspace, scope: { ...scope, userId } };
    const ofWorkspace = encodeCursor(place, workspace);
    expectRejected(ofWorkspace, { ...workspace, scope: { workspaceId: newId() } });
    expectRejected(ofWorkspace, user);
    const ofUser = encodeCursor(place, user);
    expectRejected(ofUser, workspace);
    expectRejected(ofUser, { ...workspace, scope: { ...scope, userId: newId() } });
  });

  test('is valid only for the filter and the order that it was made for', () => {
    const day = new Date('2026-01-01T00:00:00Z');
    const selections = [
      selected(),
      selected({}, { by: 'createdAt', direction: 'ascending' }),
      selected({}, { by: 'updatedAt', direction: 'descending' }),
      selected({ statuses: ['OnHold'] }),
      selected({ statuses: ['Paid'] }),
      selected({ statuses: ['OnHold', 'Paid'] }),
      selected({ user: newId() }),
      selected({ campaignCode: 'A' }),
      selected({ s1: 'A' }),
      selected({ lpName: 'A' }),
      selected({ createdFrom: day }),
      selected({ createdTo: day }),
      selected({ updatedSince: day }),
      selected({ updatedSince: new Date(day.getTime() + 1) }),
      selected({ source: 'crm' }),
      selected({ phone: phoneSearch('+44 20 7946 0958') }),
      selected({ phone: phoneSearch('20 7946 0958') }),
      selected({ search: leadSearch('ada') }),
      selected({ search: leadSearch('ada love') }),
      selected({ search: leadSearch('adalove') }),
    ];
    for (const [i, from] of selections.entries()) {
      const cursor = encodeCursor(place, from);
      expect(decodeCursor(cursor, structuredClone(from))).toEqual(place);
      for (const [j, to] of selections.entries()) {
        if (i !== j) expectRejected(cursor, to);
      }
    }
    const both = encodeCursor(place, selected({ s1: 'A', lpName: 'B', statuses: undefined }));
    expect(decodeCursor(both, selected({ lpName: 'B', s1: 'A' }))).toEqual(place);
  });

  test('is rejected if it was forged', () => {
    const [time, id, toward, fingerprint] = parts();
    for (const value of [
      null,
      {},
      'x',
      [],
      [time, id],
      [time, id, toward],
      [time, id, fingerprint],
      [time, id, toward, fingerprint, 1],
      [time, id, 'up', fingerprint],
      [time, id, null, fingerprint],
      [String(time), id, toward, fingerprint],
      [time + 0.5, id, toward, fingerprint],
      [-1, id, toward, fingerprint],
      [Date.UTC(10_000, 0, 1), id, toward, fingerprint],
      [Number.MAX_SAFE_INTEGER, id, toward, fingerprint],
      [1e300, id, toward, fingerprint],
      [null, id, toward, fingerprint],
      [time, 1, toward, fingerprint],
      [time, 'not-a-uuid', toward, fingerprint],
      [time, `${id}' OR true`, toward, fingerprint],
      [time, id.toUpperCase(), toward, fingerprint],
      [time, id, toward, null],
      [time, id, toward, ''],
    ]) {
      expectRejected(encode(value));
    }
    for (const text of ['', ' ', '!', '0', 'undefined', 'a'.repeat(512), '[1,2,3]', '%00', '\u{1F600}']) {
      expectRejected(text);
    }
  });

  test('is rejected if it was changed, even if it decodes to the same bytes', () => {
    const cursor = encodeCursor(place, selected());
    for (const changed of [
      `${cursor}=`,
      `${cursor}!`,
      ` ${cursor}`,
      `${cursor}\n`,
      `${cursor.slice(0, 8)}.${cursor.slice(8)}`,
      cursor.slice(0, -1),
      cursor + cursor,
    ]) {
      expectRejected(changed);
    }
  });
});
