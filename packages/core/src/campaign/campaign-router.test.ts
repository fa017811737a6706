import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseHealth } from '../database-health.ts';
import { LeadsError } from '../errors.ts';
import { CampaignRouter, type StaleRoutes } from './campaign-router.ts';
import type { IntakeRoute } from './intake-routing.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The cache keeps a reference to `performance` from its import, so only the method can be replaced.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function setUp(stale?: StaleRoutes) {
  const queries: unknown[][] = [];
  const registered: string[] = [];
  const answer: { route: IntakeRoute; failure?: Error } = {
    route: { campaignId: 'c', landingPageKnown: true },
  };
  const routes = new CampaignRouter(
    {
      findRoutes: async (batch) => {
        queries.push(
          ...batch.map(({ workspaceId, landingPage, keyCampaignId }) => [
            workspaceId,
            landingPage,
            keyCampaignId,
          ]),
        );
        if (answer.failure !== undefined) throw answer.failure;
        return batch.map(() => answer.route);
      },
    },
    { register: (_workspaceId, name) => void registered.push(name) },
    stale,
  );
  return { queries, registered, answer, routes };
}

test('queries a route once for concurrent callers, and again within 10 s', async () => {
  const { queries, answer, routes } = setUp();
  const first = await Promise.all(Array.from({ length: 5 }, async () => routes.find('w', 'page', 'key')));
  expect(first).toEqual(Array.from({ length: 5 }, () => answer.route));
  expect(routes.find('w', 'page', 'key')).toBe(answer.route);
  expect(queries).toEqual([['w', 'page', 'key']]);
  answer.route = { campaignId: 'other', landingPageKnown: true };
  vi.advanceTimersByTime(10_000);
  expect(await routes.find('w', 'page', 'key')).toBe(answer.route);
});

test('caches routes by workspace, campaign of the key and landing page', async () => {
  const { queries, routes } = setUp();
  const all = [
    ['w', 'page', 'key'],
    ['w', 'page', undefined],
    ['w', undefined, 'key'],
    ['w', undefined, undefined],
    ['v', 'page', 'key'],
    ['w', 'Page', 'key'],
    ['w', 'key/page', undefined],
  ] as const;
  for (const [workspaceId, page, campaignId] of all) await routes.find(workspaceId, page, campaignId);
  for (const [workspaceId, page, campaignId] of all) void routes.find(workspaceId, page, campaignId);
  expect(queries).toEqual(all);
});

test('registers an unknown landing page once per query', async () => {
  const { registered, answer, routes } = setUp();
  answer.route = { campaignId: 'c', landingPageKnown: false };
  for (let n = 0; n < 3; n++) await routes.find('w', 'new', undefined);
  await routes.find('w', undefined, undefined);
  expect(registered).toEqual(['new']);
});

test('ignores a name that no landing page may have', async () => {
  const { queries, registered, answer, routes } = setUp();
  answer.route = { campaignId: 'c', landingPageKnown: false };
  for (const name of ['', 'x'.repeat(256), '😀'.repeat(256)]) await routes.find('w', name, undefined);
  expect(queries).toEqual([['w', undefined, undefined]]);
  expect(registered).toEqual([]);
});

test('does not cache an outage', async () => {
  const { answer, routes } = setUp();
  answer.failure = new Error('unavailable');
  await expect(routes.find('w', 'page', undefined)).rejects.toThrow('unavailable');
  delete answer.failure;
  expect(await routes.find('w', 'page', undefined)).toBe(answer.route);
});

test('serves stale routes while the database is unavailable, and routes of the snapshot', async () => {
  const snapshotRoute: IntakeRoute = { campaignId: 'snapshot', landingPageKnown: true };
  const snapshotLookups: unknown[][] = [];
  const { registered, answer, routes } = setUp({
    database: new DatabaseHealth({ timeoutMs: 2_000 }),
    snapshot: {
      findRoute: async (...parameters) => {
        snapshotLookups.push(parameters);
        return parameters[0] === 'w' ? { found: snapshotRoute, asOf: Date.now() } : undefined;
      },
    },
  });
  answer.route = { campaignId: 'c', landingPageKnown: false };
  await routes.find('w', 'page', 'key');
  answer.failure = new LeadsError('unavailable');
  vi.advanceTimersByTime(60_000);
  expect(await routes.find('w', 'page', 'key')).toBe(answer.route);
  expect(await routes.find('w', 'x'.repeat(256), 'key')).toBe(snapshotRoute);
  expect(snapshotLookups).toEqual([['w', undefined, 'key']]);
  await expect(routes.find('v', 'page', undefined)).rejects.toMatchObject({ code: 'unavailable' });
  // The page is registered by a later lead, once the database is available.
  expect(registered).toEqual(['page']);
});

test('queries the routes of a workspace again after they changed', async () => {
  const { queries, routes } = setUp();
  for (const workspace of ['w', 'v']) await routes.find(workspace, 'page', undefined);
  routes.invalidate({ kind: 'member', workspaceId: 'w', userId: 'u' });
  routes.invalidate({ kind: 'routes', workspaceId: 'w' });
  for (const workspace of ['w', 'v']) await routes.find(workspace, 'page', undefined);
  expect(queries.map(([workspace]) => workspace)).toEqual(['w', 'v', 'w']);
});
