import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { addTenant } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { IntakeSnapshot } from '../snapshot/intake-snapshot.ts';
import { SnapshotCache } from '../snapshot/snapshot-cache.ts';
import { newId } from '../uuid.ts';
import { createSnapshotSource } from './snapshot-source.prisma.ts';

const [testDatabase, database] = await openTestDatabase();

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

test('an API key that expires after the year 9999 is in the snapshot, which matches its schema', async () => {
  const { workspaceId, userId } = await addTenant(testDatabase, 'lasting');
  const ids = await testDatabase.query<{ id: string }>(
    `INSERT INTO api_key (id, workspace_id, user_id, name, prefix, hash, expires_at)
     SELECT gen_random_uuid(), '${workspaceId}', '${userId}', 'key', 'lk_1234567' || n, sha256(n::text::bytea),
       timestamptz '9999-12-31 23:59:59.999Z' + n * interval '1 ms'
     FROM generate_series(0, 1) AS n
     RETURNING id`,
  );
  const snapshot = await createSnapshotSource(database).readSnapshot();
  expect(Compile(IntakeSnapshot).Check(snapshot)).toBe(true);
  const expiries = new Map(snapshot.keys.map(({ id, expiresAt }) => [id, expiresAt]));
  expect(ids.map(({ id }) => expiries.get(id))).toEqual(['9999-12-31T23:59:59.999Z', undefined]);
});
