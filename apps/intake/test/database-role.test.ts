import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueApiKey } from '@leads/core/credential';
import { Broker } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type Fixture, openFixture } from '@leads/test-kit/fixture';
import { createServiceRoles, runAs, type ServiceRoles } from '@leads/test-kit/service-roles';
import { createTestDatabase, type TestDatabase } from '@leads/test-kit/test-database';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startIntakeService } from './intake.ts';

// The tests wait for last uses, which are written every few seconds, and for a delayed insert.
const directory = mkdtempSync(join(tmpdir(), 'leads-role-'));
let nats: LocalNats;
let database: TestDatabase;
let roles: ServiceRoles;
let fixture: Fixture;

beforeAll(async () => {
  nats = await startNats({ binary: await findNatsServer(), dataDir: directory });
  database = await createTestDatabase();
  roles = await createServiceRoles(database.url);
  fixture = openFixture(database.url);
});

afterAll(async () => {
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
  await fixture[Symbol.asyncDispose]();
  await roles[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const eventually = { timeout: 60_000, interval: 100 };

test('the database role of the intake has all permissions that the intake needs', async () => {
  const workspace = await fixture.createWorkspace();
  const { id, owner, demoCampaignId } = workspace;
  const goneCampaignId = await workspace.addCampaign('GONE');
  await workspace.mapLandingPage('watched', demoCampaignId);
  await workspace.mapLandingPage('gone', goneCampaignId);
  await fixture.campaigns.update(id, demoCampaignId, () => ({
    duplicateWindowSeconds: 3600,
    approveAfterSeconds: 60,
  }));

  await using service = await startIntakeService(roles.intake, { NATS_URL: nats.url });
  const submit = async (fields: object, headers: Record<string, string> = {}) => {
    const answer = await service.send({
      method: 'POST',
      path: '/api/v1/leads',
      headers: { API_KEY: owner.apiKey, ...headers },
      body: { name: 'Ada', phone: '+1 202 555 0143', ...fields },
    });
    expect(answer.status).toBe(200);
    return answer.json<{ order_id: string }>().order_id;
  };
  const stored = async (orderId: string) =>
    (await fixture.sql<{ status: string }>('SELECT status FROM lead WHERE id = $1', [orderId]))[0]?.status;

  // A single lead, many concurrent leads, a repeated request and a duplicate.
  expect(await stored(await submit({}))).toBe('OnHold');
  const many = await Promise.all(Array.from({ length: 30 }, (_, n) => submit({ s1: `click-${n}` })));
  expect(await fixture.sql('SELECT FROM lead WHERE id = ANY($1)', [many])).toHaveLength(30);
  const repeat = { 'Idempotency-Key': 'once' };
  expect(await submit({}, repeat)).toBe(await submit({}, repeat));
  const first = await submit({ lp_name: 'watched' });
  const duplicate = await submit({ lp_name: 'watched' });
  expect(await stored(duplicate)).toBe('Trashed');
  // Only the lead on hold has the hold time of the campaign.
  const timed = "SELECT id FROM lead WHERE approve_at >= created_at + interval '60 seconds'";
  expect(await fixture.sql(timed)).toEqual([{ id: first }]);

  // The intake writes landing pages, last uses and the snapshot in the background.
  await submit({ lp_name: 'unknown' });
  const origin = 'https://offer.example';
  const options = { name: 'Page', scope: 'intake', allowedOrigins: [origin] } as const;
  const { apiKey } = await issueApiKey(fixture.credentials, owner, options);
  await submit({ lp_name: 'of a page' }, { API_KEY: apiKey, Origin: origin });
  await using broker = new Broker({ url: nats.url, name: 'test' });
  expect(await broker.connected(60_000)).toBe(true);
  await vi.waitFor(async () => {
    const pages = `SELECT name, campaign_id FROM landing_page WHERE name IN ('unknown', 'of a page') ORDER BY name`;
    expect(await fixture.sql(pages)).toEqual([
      { name: 'of a page', campaign_id: null },
      { name: 'unknown', campaign_id: null },
    ]);
    const used = 'SELECT FROM api_key WHERE id = $1 AND last_used_at IS NOT NULL';
    expect(await fixture.sql(used, [owner.apiKeyId])).toHaveLength(1);
    const objects = await broker.jetStream.views.os('leads_intake');
    expect((await objects.list()).length).toBeGreaterThan(0);
  }, eventually);

  // Two leads are buffered. One is stored later. The other is quarantined, because its campaign is deleted.
  const release = await fixture.holdTable('lead');
  const [later, never] = await Promise.all([
    submit({ lp_name: 'watched', phone: '+1 202 555 0144' }),
    submit({ lp_name: 'gone' }),
  ]);
  await fixture.sql('UPDATE landing_page SET campaign_id = NULL WHERE campaign_id = $1', [goneCampaignId]);
  await fixture.sql('DELETE FROM campaign WHERE id = $1', [goneCampaignId]);
  await release();
  await vi.waitFor(async () => {
    expect(await stored(later)).toBe('OnHold');
    expect(await fixture.sql(timed)).toHaveLength(2);
    expect(await fixture.sql('SELECT id, reason FROM lead_quarantine')).toEqual([
      { id: never, reason: '23503' },
    ]);
  }, eventually);
  const denied = service.logs.entries().filter((entry) => JSON.stringify(entry).includes('42501'));
  expect(denied).toEqual([]);
});

test.each([
  ['read a lead', 'SELECT name FROM lead'],
  ['read all columns of a lead', 'SELECT * FROM lead'],
  ['find a lead by its phone number', `SELECT id FROM lead WHERE phone = '1'`],
  ['return other columns than the id of an inserted lead', storing('RETURNING phone')],
  ['overwrite a stored lead', storing(`ON CONFLICT (id) DO UPDATE SET name = 'Eve'`)],
  ['change a lead', `UPDATE lead SET status = 'Paid'`],
  ['delete a lead', 'DELETE FROM lead'],
  ['truncate the table of leads', 'TRUNCATE lead'],
  ['read the history of leads', 'SELECT FROM lead_change'],
  ['read lead counts', 'SELECT FROM lead_tally, lead_tally_entry'],
  ['read the outbox', 'SELECT FROM lead_outbox'],
  [
    'write into the outbox',
    'INSERT INTO lead_outbox (lead_ids, versions) VALUES (ARRAY[]::uuid[], ARRAY[]::int[])',
  ],
  ['read the quarantine', 'SELECT lead FROM lead_quarantine'],
  ['delete from the quarantine', 'DELETE FROM lead_quarantine'],
  ['change the hash of a key', `UPDATE api_key SET hash = sha256('mine')`],
  ['change the scope of a key', `UPDATE api_key SET scope = 'full'`],
  ['restore a revoked key', 'UPDATE api_key SET revoked_at = NULL'],
  ['create a key', 'INSERT INTO api_key DEFAULT VALUES'],
  ['delete a key', 'DELETE FROM api_key'],
  ['read access tokens', 'SELECT FROM access_token'],
  ['read users', 'SELECT FROM "user"'],
  ['read passwords', 'SELECT FROM account'],
  ['read sessions', 'SELECT FROM session'],
  ['become an owner', `UPDATE member SET role = 'owner'`],
  ['read the secret of an integration page', 'SELECT integration_token FROM campaign'],
  ['change a campaign', `UPDATE campaign SET name = 'mine'`],
  ['map a landing page', 'UPDATE landing_page SET campaign_id = NULL'],
  ['create a table', 'CREATE TABLE mine ()'],
  ['disable triggers', 'ALTER TABLE lead DISABLE TRIGGER ALL'],
  ['disable triggers for its session', 'SET session_replication_role = replica'],
  [
    'create a trigger with a function of a role with more permissions',
    'CREATE TEMPORARY TABLE mine (); CREATE TRIGGER t AFTER INSERT ON mine EXECUTE FUNCTION note_inserted_leads()',
  ],
  ['read files of the server', `SELECT pg_read_file('/etc/passwd')`],
])('the database role of the intake cannot %s', async (_, sql) => {
  await expect(runAs(roles.intake, sql)).rejects.toMatchObject({ code: '42501' });
});

function storing(more: string): string {
  return `
    INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, words, created_at, updated_at)
    VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'intake', 'OnHold', 'Ada', '1',
      '{}', now(), now()) ${more}`;
}
