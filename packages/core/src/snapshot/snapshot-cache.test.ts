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
let cache: SnapshotCache;

const keyOf = (text: string, more: Partial<IntakeSnapshot['keys'][number]> = {}) => ({
  hash: sha(text).toString('base64'),
  id: newId(),
  workspaceId,
  userId,
  role: 'owner' as const,
  scope: 'intake' as const,
  allowedOrigins: ['https://offer.example'],
  allowedNetworks: ['203.0.113.0/24'],
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
  cache = new SnapshotCache({ get }, (error) => errors.push(error));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('finds a key by its hash, dated by the snapshot', async () => {
  const asOf = Date.now();
  vi.advanceTimersByTime(minute);
  const answer = await cache.findApiKey(sha('key'));
  expect(answer).toEqual({
    asOf,
    found: {
      id: snapshot?.keys[0]?.id,
      workspaceId,
      userId,
      role: 'owner',
      scope: 'intake',
      defaultCampaignId: ofKey,
      allowedOrigins: ['https://offer.example'],
      allowedNetworks: ['203.0.113.0/24'],
      expiresAt: new Date('2100-01-01'),
    },
  });
  expect(await cache.findApiKey(sha('no key'))).toBeUndefined();
  expect(gets).toBe(1);
});

test('a snapshot expires after 15 minutes, also if it was taken by a fast clock', async () => {
  snapshot = { ...(snapshot as IntakeSnapshot), at: Date.now() + 10 * minute };
  const asOf = Date.now();
  expect((await cache.findApiKey(sha('key')))?.asOf).toBe(asOf);
  vi.advanceTimersByTime(15 * minute);
  snapshot = { ...snapshot, at: asOf };
  expect(await cache.findApiKey(sha('key'))).toBeUndefined();
});

test('routes leads as the store does', async () => {
  const route = async (page?: string, keyCampaignId?: string) =>
    (await cache.findRoute(workspaceId, page, keyCampaignId))?.found;
  expect(await route('mapped', ofKey)).toMatchObject({ campaignId: ofPage, duplicateWindowSeconds: 60 });
  expect(await route('unknown', ofKey)).toMatchObject({ campaignId: ofKey });
  expect(await route(undefined, ofKey)).toMatchObject({ campaignId: ofKey });
  expect(await route('elsewhere', newId())).toMatchObject({ campaignId: first });
  expect(await route()).toMatchObject({ campaignId: first, landingPageKnown: true });
  // A campaign of another workspace is never used.
  expect(await route(undefined, theirs)).toBeUndefined();
  expect((await cache.findRoute(newId(), undefined, undefined))?.found).toBeUndefined();
});

test('names the workspace that has all keys', async () => {
  expect(await cache.findOnlyWorkspace()).toBe(workspaceId);
  vi.advanceTimersByTime(minute);
  snapshot?.keys.push(keyOf('of another', { workspaceId: otherWorkspaceId }));
  expect(await cache.findOnlyWorkspace()).toBeUndefined();
});

test('does not answer for a page that may not have fitted into the snapshot', async () => {
  const pages = Array.from({ length: snapshotBounds.landingPages }, (_, n) => ({
    workspaceId,
    name: `page ${n}`,
    campaignId: ofPage,
  }));
  snapshot = { ...(snapshot as IntakeSnapshot), landingPages: pages };
  expect(await cache.findRoute(workspaceId, 'page 1', ofKey)).toBeDefined();
  expect(await cache.findRoute(workspaceId, 'another', ofKey)).toBeUndefined();
  expect(await cache.findRoute(workspaceId, undefined, ofKey)).toBeDefined();
  // In a snapshot of the release before, pages of any workspace may have been left out.
  expect(await cache.findRoute(otherWorkspaceId, 'another', undefined)).toBeUndefined();
});

test('with shared bounds, answers for unknown pages and campaigns of a workspace that has fewer than the largest', async () => {
  const [large, second] = [newId(), newId()];
  const fill = <Row>(rows: readonly Row[], count: number, create: (n: number) => Row) => [
    ...rows,
    ...Array.from({ length: count - rows.length }, (_, n) => create(n)),
  ];
  const { campaigns = [], landingPages = [] } = snapshot ?? {};
  snapshot = {
    ...(snapshot as IntakeSnapshot),
    hasSharedBounds: true,
    campaigns: fill(campaigns, snapshotBounds.campaigns, (n) => ({
      id: newId(),
      workspaceId: large,
      isDefault: n === 0,
    })),
    // Of the second workspace, the last turn may have left out one page.
    landingPages: fill(landingPages, snapshotBounds.landingPages, (n) => ({
      workspaceId: n % 2 === 0 ? large : second,
      name: `page ${n}`,
      campaignId: ofPage,
    })),
  };
  const isAnswered = async (of: string, page?: string, keyCampaignId?: string) =>
    (await cache.findRoute(of, page, keyCampaignId)) !== undefined;
  expect(await isAnswered(workspaceId, 'unknown')).toBe(true);
  expect(await isAnswered(otherWorkspaceId, 'unknown', newId())).toBe(true);
  expect(await isAnswered(large)).toBe(true);
  expect(await isAnswered(large, 'unknown')).toBe(false);
  expect(await isAnswered(large, undefined, newId())).toBe(false);
  expect(await isAnswered(second, 'unknown')).toBe(false);
});

test('does not serve keys that were revoked, or whose member changed, after the snapshot', async () => {
  const [key] = snapshot?.keys ?? [];
  vi.advanceTimersByTime(10_000);
  cache.invalidate({ kind: 'api_key', id: key?.id ?? '' });
  expect((await cache.findApiKey(sha('key')))?.found.revokedAt).toEqual(new Date());
  expect((await cache.findApiKey(sha('theirs')))?.found.revokedAt).toBeUndefined();
  cache.invalidate({ kind: 'member', workspaceId, userId });
  expect(await cache.findApiKey(sha('key'))).toBeUndefined();
  // A later snapshot holds the new state of the member.
  vi.advanceTimersByTime(2 * minute);
  snapshot = { ...(snapshot as IntakeSnapshot), at: Date.now(), keys: [keyOf('key')] };
  expect((await cache.findApiKey(sha('key')))?.found.revokedAt).toBeUndefined();
});

test('retries a failed read after a second, and reports the first error of a streak', async () => {
  failure = new LeadsError('unavailable');
  for (let n = 0; n < 5; n++) expect(await cache.findApiKey(sha('key'))).toBeUndefined();
  expect(gets).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(await cache.findApiKey(sha('key'))).toBeUndefined();
  expect(errors).toEqual([failure]);
  failure = undefined;
  vi.advanceTimersByTime(1_000);
  expect(await cache.findApiKey(sha('key'))).toBeDefined();
  vi.advanceTimersByTime(minute);
  expect(await cache.findApiKey(sha('key'))).toBeDefined();
  expect(gets).toBe(4);
});
