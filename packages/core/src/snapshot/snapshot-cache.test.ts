import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { type IntakeSnapshot, snapshotBounds } from './intake-snapshot.ts';
import { SnapshotCache } from './snapshot-cache.ts';

const minute = 60_000;
const [workspaceId, otherWorkspaceId, userId] = [newId(), newId(), newId()];
const [first, ofPage, ofKey, theirs] = [newId(), newId(), newId(), newId()];
const sha = (text: string) => hash('sha256', text, 'buffer');

let snapshot: IntakeSnapshot | undefined;
let failure: Error | undefined;
let gets: number;
let errors: unknown[];
let memory: SnapshotCache;

const keyOf = (text: string, more: Partial<IntakeSnapshot['keys'][number]> = {}) => ({
  hash: sha(text).toString('base64'),
  id: newId(),
  workspaceId,
  userId,
  role: 'owner' as const,
  scope: 'intake' as const,
  allowedOrigins: ['https://offer.example'],
  ...more,
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  gets = 0;
  errors = [];
  failure = undefined;
  snapshot = {
    at: Date.now(),
    keys: [
      keyOf('key', { defaultCampaignId: ofKey, expiresAt: '2100-01-01T00:00:00.000Z' }),
      keyOf('theirs', { userId: newId() }),
    ],
    campaigns: [
      { id: first, workspaceId, isDefault: true },
      { id: ofPage, workspaceId, isDefault: false, duplicateWindowSeconds: 60 },
      { id: ofKey, workspaceId, isDefault: false },
      { id: theirs, workspaceId: otherWorkspaceId, isDefault: true },
    ],
    landingPages: [
      { workspaceId, name: 'mapped', campaignId: ofPage },
      { workspaceId: otherWorkspaceId, name: 'elsewhere', campaignId: theirs },
    ],
  };
  const get = async () => {
    gets += 1;
    if (failure !== undefined) throw failure;
    return snapshot;
  };
  memory = new SnapshotCache({ get }, (error) => errors.push(error));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('knows a key by its hash, as of when the snapshot was taken', async () => {
  const asOf = Date.now();
  vi.advanceTimersByTime(minute);
  const recalled = await memory.recallApiKey(sha('key'));
  expect(recalled).toEqual({
    asOf,
    found: {
      id: snapshot?.keys[0]?.id,
      workspaceId,
      userId,
      role: 'owner',
      scope: 'intake',
      defaultCampaignId: ofKey,
      allowedOrigins: ['https://offer.example'],
      expiresAt: new Date('2100-01-01'),
    },
  });
  expect(await memory.recallApiKey(sha('no key'))).toBeUndefined();
  expect(gets).toBe(1);
});

test('a snapshot of 15 minutes is too old, and one of a clock that is fast is not good for longer', async () => {
  snapshot = { ...(snapshot as IntakeSnapshot), at: Date.now() + 10 * minute };
  const asOf = Date.now();
  expect((await memory.recallApiKey(sha('key')))?.asOf).toBe(asOf);
  vi.advanceTimersByTime(15 * minute);
  snapshot = { ...snapshot, at: asOf };
  expect(await memory.recallApiKey(sha('key'))).toBeUndefined();
});

test('routes leads as the store does', async () => {
  const route = async (page?: string, keyCampaignId?: string) =>
    (await memory.recallRoute(workspaceId, page, keyCampaignId))?.found;
  expect(await route('mapped', ofKey)).toMatchObject({ campaignId: ofPage, duplicateWindowSeconds: 60 });
  expect(await route('unknown', ofKey)).toMatchObject({ campaignId: ofKey });
  expect(await route(undefined, ofKey)).toMatchObject({ campaignId: ofKey });
  expect(await route('elsewhere', newId())).toMatchObject({ campaignId: first });
  expect(await route()).toMatchObject({ campaignId: first, landingPageKnown: true });
  // A campaign of another workspace is none, whatever the snapshot says.
  expect(await route(undefined, theirs)).toBeUndefined();
  expect((await memory.recallRoute(newId(), undefined, undefined))?.found).toBeUndefined();
});

test('does not guess where a page may be mapped that the snapshot had no room for', async () => {
  const pages = Array.from({ length: snapshotBounds.landingPages }, (_, n) => ({
    workspaceId,
    name: `page ${n}`,
    campaignId: ofPage,
  }));
  snapshot = { ...(snapshot as IntakeSnapshot), landingPages: pages };
  expect(await memory.recallRoute(workspaceId, 'page 1', ofKey)).toBeDefined();
  expect(await memory.recallRoute(workspaceId, 'another', ofKey)).toBeUndefined();
  expect(await memory.recallRoute(workspaceId, undefined, ofKey)).toBeDefined();
});

test('what was revoked or removed after the snapshot was taken is not let in by it', async () => {
  const [key] = snapshot?.keys ?? [];
  vi.advanceTimersByTime(10_000);
  memory.forget({ kind: 'api_key', id: key?.id ?? '' });
  expect((await memory.recallApiKey(sha('key')))?.found.revokedAt).toEqual(new Date());
  expect((await memory.recallApiKey(sha('theirs')))?.found.revokedAt).toBeUndefined();
  memory.forget({ kind: 'member', workspaceId, userId });
  expect(await memory.recallApiKey(sha('key'))).toBeUndefined();
  // One that was taken later knows whether that member is one again.
  vi.advanceTimersByTime(2 * minute);
  snapshot = { ...(snapshot as IntakeSnapshot), at: Date.now(), keys: [keyOf('key')] };
  expect((await memory.recallApiKey(sha('key')))?.found.revokedAt).toBeUndefined();
});

test('without a snapshot nothing is known; it is asked for again after a second, and told once', async () => {
  failure = new LeadsError('unavailable');
  for (let n = 0; n < 5; n++) expect(await memory.recallApiKey(sha('key'))).toBeUndefined();
  expect(gets).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(await memory.recallApiKey(sha('key'))).toBeUndefined();
  expect(errors).toEqual([failure]);
  failure = undefined;
  vi.advanceTimersByTime(1_000);
  expect(await memory.recallApiKey(sha('key'))).toBeDefined();
  vi.advanceTimersByTime(minute);
  expect(await memory.recallApiKey(sha('key'))).toBeDefined();
  expect(gets).toBe(4);
});
