import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { IntakeRoute } from './campaign-store.ts';
import { IntakeRoutes } from './intake-routes.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The cache keeps the object that it found when it was loaded, so it is its method that is replaced.
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function setUp() {
  const asked: unknown[][] = [];
  const registered: string[] = [];
  const answer: { route: IntakeRoute; failure?: Error } = {
    route: { campaignId: 'c', landingPageKnown: true },
  };
  const routes = new IntakeRoutes(
    {
      routeIntakeLead: async (...given) => {
        asked.push(given);
        if (answer.failure !== undefined) throw answer.failure;
        return answer.route;
      },
    },
    { register: (_workspaceId, name) => void registered.push(name) },
  );
  return { asked, registered, answer, routes };
}

test('asks once for what many want to know, and anew before ten seconds have gone', async () => {
  const { asked, answer, routes } = setUp();
  const first = await Promise.all(Array.from({ length: 5 }, async () => routes.find('w', 'page', 'key')));
  expect(first).toEqual(Array.from({ length: 5 }, () => answer.route));
  expect(routes.find('w', 'page', 'key')).toBe(answer.route);
  expect(asked).toEqual([['w', 'page', 'key']]);
  answer.route = { campaignId: 'other', landingPageKnown: true };
  vi.advanceTimersByTime(10_000);
  expect(await routes.find('w', 'page', 'key')).toBe(answer.route);
});

test('tells apart workspaces, campaigns of keys and landing pages', async () => {
  const { asked, routes } = setUp();
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
  expect(asked).toEqual(all);
});

test('has an unknown landing page registered, once a look-up', async () => {
  const { registered, answer, routes } = setUp();
  answer.route = { campaignId: 'c', landingPageKnown: false };
  for (let n = 0; n < 3; n++) await routes.find('w', 'new', undefined);
  await routes.find('w', undefined, undefined);
  expect(registered).toEqual(['new']);
});

test('takes a name that no landing page can have for none', async () => {
  const { asked, registered, answer, routes } = setUp();
  answer.route = { campaignId: 'c', landingPageKnown: false };
  for (const name of ['', 'x'.repeat(256), '😀'.repeat(256)]) await routes.find('w', name, undefined);
  expect(asked).toEqual([['w', undefined, undefined]]);
  expect(registered).toEqual([]);
});

test('does not keep that the store was away', async () => {
  const { answer, routes } = setUp();
  answer.failure = new Error('away');
  await expect(routes.find('w', 'page', undefined)).rejects.toThrow('away');
  delete answer.failure;
  expect(await routes.find('w', 'page', undefined)).toBe(answer.route);
});
