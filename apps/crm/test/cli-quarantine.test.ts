import { createLeadQuarantine, openDatabase } from '@leads/core/db';
import { openFixture } from '@leads/test-kit/fixture';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, afterEach, expect, test } from 'vitest';
import { runLeads } from './command-line.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const client = openDatabase({
  url: database.url,
  poolSize: 1,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 60_000,
  applicationName: 'leads-tests',
});
const quarantine = createLeadQuarantine(client);
afterEach(() => fixture.sql('DELETE FROM lead_quarantine'));
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const leads = (...args: string[]) => runLeads(['quarantine', ...args], { DATABASE_URL: database.url });

const ids = [1, 2, 3].map((n) => `019c0a3e-5d2b-7c4e-9f10-00000000000${n}`);
const [first = '', second = '', third = ''] = ids;

test('leads quarantine lists the leads that Postgres rejected, and replay stores them after the cause is fixed', async () => {
  expect(await leads('list')).toEqual({ code: 0, stdout: 'The quarantine is empty.\n', stderr: '' });
  const accepted = ids.map((id) =>
    workspace.lead(owner, { id, name: `Lead ${id.at(-1)}`, source: 'intake', extra: '{"a": 1}' }),
  );
  await quarantine.add([...accepted, ...accepted].map((lead) => ({ lead, reason: '23503' })));

  const listed = await leads('list', '--json');
  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.stdout)).toMatchObject(
    ids.map((id) => ({
      reason: '23503',
      lead: { id, name: `Lead ${id.at(-1)}`, workspaceId: workspace.id, extra: { a: 1 } },
    })),
  );
  const table = await leads('list');
  expect(table.stdout).toContain(`  ${second}, campaign ${workspace.demoCampaignId}\n`);

  const absent = '019c0a3e-5d2b-7c4e-9f10-000000000009';
  const failure = await leads('replay', first, absent);
  expect(failure).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: No lead was stored, because these are not in the quarantine: ${absent}\n`,
  });

  const one = await leads('replay', first.toUpperCase(), '--json');
  expect([one.code, JSON.parse(one.stdout)]).toEqual([0, { stored: [first], refused: [] }]);

  await fixture.sql(`ALTER TABLE lead ADD CONSTRAINT poison CHECK (name <> 'Lead 3')`);
  const all = await leads('replay', '--all', '--json');
  const refused = [{ id: third, reason: '23514' }];
  expect([all.code, JSON.parse(all.stdout)]).toEqual([1, { stored: [second], refused }]);
  expect((await quarantine.list(10)).map(({ lead, reason }) => [lead.id, reason])).toEqual([
    [third, '23514'],
  ]);
  const stored = await fixture.leads.find({ workspaceId: workspace.id }, ids);
  expect(new Map(stored.map(({ id, createdAt }) => [id, createdAt]))).toEqual(
    new Map(accepted.slice(0, 2).map(({ id, createdAt }) => [id, createdAt])),
  );

  await fixture.sql('ALTER TABLE lead DROP CONSTRAINT poison');
  expect((await leads('replay', '--all')).stdout).toBe('Stored: 1. Rejected again: 0.\n');
  expect(await quarantine.list(10)).toEqual([]);
});

test('leads quarantine replay gives a lead whose Idempotency-Key was used meanwhile an id of its own', async () => {
  const lead = workspace.lead(owner, { id: first, contentHash: Buffer.alloc(32, 1), name: 'Waiting' });
  await fixture.sql('DELETE FROM lead WHERE id = $1', [first]);
  await fixture.leads.insert([{ ...lead, name: 'First', contentHash: Buffer.alloc(32, 2) }]);
  await quarantine.add([{ lead, reason: '23503' }]);

  const replayed = await leads('replay', '--all', '--json');
  const [{ lead: waiting, reason } = { lead, reason: undefined }, ...others] = await quarantine.list(10);
  expect([replayed.code, JSON.parse(replayed.stdout)]).toEqual([
    1,
    { stored: [], refused: [{ id: waiting.id, reason: 'idempotency_key_reused' }] },
  ]);
  expect([others, waiting.name, reason]).toEqual([[], 'Waiting', 'idempotency_key_reused']);
  expect(waiting.id).not.toBe(first);
  expect((await leads('list')).stdout).toContain('idempotency_key_reused');

  expect((await leads('replay', '--all')).stdout).toBe('Stored: 1. Rejected again: 0.\n');
  const stored = await fixture.leads.find({ workspaceId: workspace.id }, [first, waiting.id]);
  expect(stored.map(({ name }) => name).toSorted()).toEqual(['First', 'Waiting']);
  expect(await quarantine.list(10)).toEqual([]);
});

test('leads quarantine lists and replays the oldest lead first, also if a later lead has a smaller id', async () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 9, 30, seconds));
  const phone = { phone: '+44 20 7946 0958', phoneE164: '+442079460958', duplicateWindowSeconds: 86_400 };
  // An id that is derived from an Idempotency-Key has no time.
  const older = workspace.lead(owner, { ...phone, id: third, createdAt: at(0), updatedAt: at(0) });
  const newer = workspace.lead(owner, { ...phone, id: first, createdAt: at(1), updatedAt: at(1) });
  await fixture.sql('DELETE FROM lead WHERE id = ANY($1)', [ids]);
  await quarantine.add([newer, older].map((lead) => ({ lead, reason: '23503' })));
  const listed = JSON.parse((await leads('list', '--json')).stdout) as { lead: { id: string } }[];
  expect(listed.map(({ lead }) => lead.id)).toEqual([third, first]);
  const replayed = new Date();
  expect((await leads('replay', '--all')).stdout).toBe('Stored: 2. Rejected again: 0.\n');
  const stored = await fixture.sql(
    `SELECT id, created_at, status, duplicate_of, updated_at >= $2 AS "isFoundByUpdatedSince"
     FROM lead WHERE id = ANY($1) ORDER BY created_at`,
    [ids, replayed],
  );
  const isFoundByUpdatedSince = true;
  expect(stored).toEqual([
    { id: third, created_at: at(0), status: 'OnHold', duplicate_of: null, isFoundByUpdatedSince },
    { id: first, created_at: at(1), status: 'Trashed', duplicate_of: third, isFoundByUpdatedSince },
  ]);
});

test('leads quarantine delete deletes leads by id or by age only with --yes, and prints their ids', async () => {
  const accepted = ids.map((id) => workspace.lead(owner, { id, source: 'intake' }));
  await quarantine.add(accepted.map((lead) => ({ lead, reason: '23503' })));
  const remainingIds = async () => (await quarantine.list(10)).map(({ lead }) => lead.id);

  const absent = '019c0a3e-5d2b-7c4e-9f10-000000000009';
  expect(await leads('delete', first, absent, '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: No lead was deleted, because these are not in the quarantine: ${absent}\n`,
  });
  expect(await leads('delete', first, second)).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: No lead was deleted; use --yes to delete these 2: ${first}, ${second}\n`,
  });
  expect(await remainingIds()).toEqual(ids);
  const named = await leads('delete', first, '--yes');
  expect(named).toEqual({ code: 0, stdout: `Deleted: 1.\n  ${first}\n`, stderr: '' });
  expect(await remainingIds()).toEqual([second, third]);

  await fixture.sql(`UPDATE lead_quarantine SET quarantined_at = now() - interval '91 days' WHERE id = $1`, [
    second,
  ]);
  const unconfirmed = await leads('delete', '--older-than', '90d');
  expect(unconfirmed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(second) });
  const old = await leads('delete', '--older-than', '90d', '--yes', '--json');
  expect([old.code, JSON.parse(old.stdout)]).toEqual([0, { deleted: [second] }]);
  expect(await remainingIds()).toEqual([third]);
  expect((await leads('delete', '--older-than', '90d')).stdout).toBe('Deleted: 0.\n');
});

test.each([
  ['without ids and --all', ['replay'], 'set either the ids of the leads or --all'],
  ['with both an id and --all', ['replay', '--all', first], 'set either the ids of the leads or --all'],
  ['with an invalid id', ['replay', 'x'], 'It is not a UUID.'],
  ['without ids and --older-than', ['delete', '--yes'], 'set either the ids of the leads or --older-than'],
  [
    'with both an id and --older-than',
    ['delete', first, '--older-than', '1d'],
    'the ids of the leads or --older-than',
  ],
  ['with an invalid duration', ['delete', '--older-than', '90'], 'a whole number and a unit'],
])('leads quarantine exits with 2 %s: %j', async (_, args, hint) => {
  const { code, stdout, stderr } = await leads(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(hint);
});
