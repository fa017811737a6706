import { describe, expect, test } from 'vitest';
import { addTenant } from '../../test/database.ts';
import { waitingForLocks } from '../../test/lead-store.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { CampaignRouter } from '../campaign/campaign-router.ts';
import type { IntakeRouting, RouteQuery } from '../campaign/intake-routing.ts';
import { DatabaseHealth } from '../database-health.ts';
import { newId } from '../uuid.ts';
import { createIntakeRouting } from './intake-routing.prisma.ts';
import { createLandingPageStore } from './landing-page-store.prisma.ts';

const [testDatabase, database] = await openTestDatabase();
const routing = createIntakeRouting(database);
const busy = await addTenant(testDatabase, 'busy');
const neighbor = await addTenant(testDatabase, 'neighbor');

describe('the routes of a batch', () => {
  const landingPages = createLandingPageStore(database);
  const queryOf = (workspaceId: string, landingPage?: string, keyCampaignId?: string) => ({
    workspaceId,
    landingPage,
    keyCampaignId,
  });

  test('are those of each workspace, by landing page, campaign of the key and default campaign', async () => {
    const name = `{"a",NULL} \\ 'b' é 😀`;
    const both = [busy.workspaceId, neighbor.workspaceId];
    await landingPages.add(both.map((workspaceId) => ({ workspaceId, name })));
    await landingPages.map(busy.workspaceId, { name }, busy.otherCampaignId);
    const routes = await routing.findRoutes([
      queryOf(busy.workspaceId, name),
      queryOf(neighbor.workspaceId, name),
      queryOf(neighbor.workspaceId, name, neighbor.otherCampaignId),
      queryOf(neighbor.workspaceId, undefined, busy.otherCampaignId),
      queryOf(busy.workspaceId, 'NULL', busy.otherCampaignId),
      queryOf(newId(), name),
      queryOf(busy.workspaceId, name),
    ]);
    const mapped = { campaignId: busy.otherCampaignId, landingPageKnown: true };
    expect(routes).toEqual([
      mapped,
      { campaignId: neighbor.campaignId, landingPageKnown: true },
      { campaignId: neighbor.otherCampaignId, landingPageKnown: true },
      { campaignId: neighbor.campaignId, landingPageKnown: false },
      { campaignId: busy.otherCampaignId, landingPageKnown: false },
      undefined,
      mapped,
    ]);
  });

  test('skip paused campaigns, and have the duplicate window and the hold time of the campaign', async () => {
    const [tenant, name] = [await addTenant(testDatabase, 'paused'), 'page'];
    await landingPages.add([{ workspaceId: tenant.workspaceId, name }]);
    await landingPages.map(tenant.workspaceId, { name }, tenant.otherCampaignId);
    await testDatabase.query(`UPDATE campaign SET status = 'paused' WHERE id = '${tenant.otherCampaignId}';
      UPDATE campaign SET duplicate_window_seconds = 60, approve_after_seconds = 3600 WHERE id = '${tenant.campaignId}'`);
    expect(await routing.findRoutes([queryOf(tenant.workspaceId, name, tenant.otherCampaignId)])).toEqual([
      {
        campaignId: tenant.campaignId,
        duplicateWindowSeconds: 60,
        approveAfterSeconds: 3_600,
        landingPageKnown: true,
      },
    ]);
  });
});

test('a workspace with thousands of unknown landing pages does not delay a lookup of another one beyond the next statement, and no outage is recorded', async () => {
  const health = new DatabaseHealth({ timeoutMs: 60_000 });
  const sent: (readonly RouteQuery[])[] = [];
  const watched: IntakeRouting = {
    findRoutes(queries) {
      sent.push(queries);
      return routing.findRoutes(queries);
    },
  };
  const router = new CampaignRouter(watched, { register: () => undefined }, { database: health });
  let rejected = 0;
  const find = async ({ workspaceId }: { workspaceId: string }, name: string) => {
    try {
      return (await router.find(workspaceId, name, undefined)).campaignId;
    } catch (error) {
      rejected += 1;
      return error;
    }
  };
  await testDatabase.query('BEGIN; LOCK TABLE landing_page IN ACCESS EXCLUSIVE MODE');
  let ofBusy: Promise<unknown>[];
  let ofNeighbor: Promise<unknown>;
  try {
    ofBusy = Array.from({ length: 3_000 }, (_, n) => find(busy, `unknown-${n}`));
    // The lookups use 2 of the 4 connections. Each statement looks up 500 routes.
    await expect.poll(() => testDatabase.query(waitingForLocks)).toEqual([{ count: 2 }]);
    await expect.poll(() => rejected).toBe(500);
    ofNeighbor = find(neighbor, 'of the neighbor');
    expect(database.poolUsage()).toMatchObject({ waiting: 0, total: 2 });
    expect(health.isUnavailable).toBe(false);
  } finally {
    await testDatabase.query('ROLLBACK');
  }
  expect(await ofNeighbor).toBe(neighbor.campaignId);
  const outcomes = await Promise.all(ofBusy);
  // A queue of 5,000 lookups has room for 2,500 of one workspace.
  expect(outcomes.slice(0, 2_500)).toEqual(Array.from({ length: 2_500 }, () => busy.campaignId));
  for (const outcome of outcomes.slice(2_500)) expect(outcome).toMatchObject({ code: 'unavailable' });
  // Its turn came with the first statement that was sent after its lookup.
  expect(
    sent.findIndex((queries) => queries.some(({ landingPage }) => landingPage === 'of the neighbor')),
  ).toBe(2);
  // The rejected lookups are not cached.
  expect(await find(busy, 'unknown-2999')).toBe(busy.campaignId);
});
