import { expect, test } from 'vitest';
import { addTenant } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { SnapshotCache } from '../snapshot/snapshot-cache.ts';
import { newId } from '../uuid.ts';
import { createSnapshotSource } from './snapshot-source.prisma.ts';

const [testDatabase, database] = await openTestDatabase({ statementTimeoutMs: 20_000 });

test('a workspace that exceeds the bounds of a snapshot leaves out no row of another workspace', async () => {
  const { workspaceId, campaignId } = await addTenant(testDatabase, 'small');
  const mapped = newId();
  await testDatabase.query(
    `INSERT INTO campaign (id, workspace_id, code, name, updated_at)
     VALUES ('${mapped}', '${workspaceId}', 'mapped', 'Mapped', now() - interval '1 day');
     INSERT INTO landing_page (id, workspace_id, name, campaign_id, updated_at)
     VALUES (gen_random_uuid(), '${workspaceId}', 'page', '${mapped}', now() - interval '1 day')`,
  );
  const large = await addTenant(testDatabase, 'large');
  await testDatabase.query(
    `INSERT INTO campaign (id, workspace_id, code, name, updated_at)
     SELECT gen_random_uuid(), '${large.workspaceId}', n, n, now() FROM generate_series(1, 5_000) AS n;
     INSERT INTO landing_page (id, workspace_id, name, campaign_id, updated_at)
     SELECT gen_random_uuid(), '${large.workspaceId}', n, '${large.otherCampaignId}', now() FROM generate_series(1, 20_000) AS n`,
  );

  const snapshot = await createSnapshotSource(database).readSnapshot();
  expect([snapshot.campaigns.length, snapshot.landingPages.length]).toEqual([5_000, 20_000]);
  const cache = new SnapshotCache({ get: async () => snapshot }, () => undefined);
  const route = async (of: string, page?: string, keyCampaignId?: string) =>
    (await cache.findRoute(of, page, keyCampaignId))?.found?.campaignId;
  expect(await route(workspaceId, 'page')).toBe(mapped);
  expect(await route(workspaceId, 'other page')).toBe(campaignId);
  expect(await route(workspaceId, undefined, mapped)).toBe(mapped);
  // A deleted campaign.
  expect(await route(workspaceId, undefined, newId())).toBe(campaignId);
  // Both may have been left out of the snapshot.
  expect(await route(large.workspaceId, 'other page')).toBeUndefined();
  expect(await route(large.workspaceId, undefined, newId())).toBeUndefined();
  expect(await route(large.workspaceId)).toBe(large.campaignId);
});
