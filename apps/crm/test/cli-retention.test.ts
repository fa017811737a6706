import { createLeadQuarantine, createOverviewStore, openDatabase } from '@leads/core/db';
import { openAdminClient } from '@leads/core/db-admin/admin-client';
import { openFixture } from '@leads/test-kit/fixture';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, expect, test, vi } from 'vitest';
import { runLeads, startLeads } from './command-line.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const workspace = await fixture.createWorkspace();
const client = openDatabase({
  url: database.url,
  poolSize: 1,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 60_000,
  applicationName: 'leads-tests',
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const env = { DATABASE_URL: database.url };
const leads = (...args: string[]) => runLeads(['retention', ...args], env);

const ageOf = (days: number) => new Date(Date.now() - days * 86_400_000);
/** Inserts leads of an age in days. Half of them have a history. */
async function add(count: number, days: number, campaignId = workspace.demoCampaignId): Promise<void> {
  const some = Array.from({ length: count }, (_, n) =>
    workspace.lead(workspace.owner, { createdAt: ageOf(days), s1: `click-${n}`, campaignId }),
  );
  await fixture.leads.insert(some);
  await fixture.sql(
    `INSERT INTO lead_change (lead_id, version, user_id, fields, created_at)
     SELECT id, 2, user_id, '{"city": {"to": "London"}}', now() FROM lead WHERE id = ANY($1)`,
    [some.filter((_, n) => n % 2 === 0).map(({ id }) => id)],
  );
}

const demoCounts = async () => {
  const [row] = await fixture.sql<{ leads: number; changes: number }>(
    `SELECT count(*)::int AS leads, (SELECT count(*)::int FROM lead_change) AS changes
     FROM lead WHERE campaign_id = $1`,
    [workspace.demoCampaignId],
  );
  return row;
};
const overview = () => {
  const from = quarter(ageOf(100));
  return createOverviewStore(client).count(
    { workspaceId: workspace.id },
    // The bounds are not whole days in UTC, as in other time zones.
    {
      previous: { from: ageOf(200), to: from },
      bounds: [from, quarter(ageOf(0))],
      offsets: [{ fromMs: from.getTime(), minutes: 0 }],
      top: 20,
    },
  );
};
const quarter = (time: Date) => new Date(Math.floor(time.getTime() / 900_000) * 900_000);

test('leads retention run deletes expired leads, and the overview keeps their counts', async () => {
  expect((await leads('run')).stdout).toBe(
    'No campaign has a retention period: leads are kept indefinitely.\nAudit log: 0 entries older than 400 days deleted\n',
  );
  await add(1_500, 31);
  await add(20, 29);
  await add(5, 400, workspace.defaultCampaignId);
  const quarantine = createLeadQuarantine(client);
  for (const days of [31, 29]) {
    await quarantine.add([{ lead: workspace.lead(workspace.owner, { createdAt: ageOf(days) }) }]);
  }
  const before = await overview();
  expect(before.campaigns[0]).toMatchObject({ value: 'DEMO', OnHold: 1_520 });

  const set = await leads(
    'set',
    '--workspace',
    workspace.slug,
    '--campaign',
    'DEMO',
    '--days',
    '30',
    '--json',
  );
  expect(JSON.parse(set.stdout)).toEqual({ workspace: workspace.slug, code: 'DEMO', retentionDays: 30 });
  const expectedCampaign = { workspace: workspace.slug, code: 'DEMO', retentionDays: 30 };
  const planned = await leads('run', '--dry-run', '--json');
  expect(JSON.parse(planned.stdout)).toEqual({
    campaigns: [{ ...expectedCampaign, leads: 1_501 }],
    auditEntries: 0,
    isComplete: true,
  });
  expect(await demoCounts()).toEqual({ leads: 1_520, changes: 763 });

  // The first run is bounded and needs several batches. The second run deletes the rest, and the quarantined lead.
  const bounded = await leads('run', '--max', '1200', '--json', '--quiet');
  expect(bounded).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(bounded.stdout)).toEqual({
    campaigns: [{ ...expectedCampaign, leads: 1_200 }],
    auditEntries: 0,
    isComplete: false,
  });
  expect(await demoCounts()).toMatchObject({ leads: 320 });
  expect(await quarantine.list(10)).toHaveLength(2);
  const rest = await leads('run', '--json', '--quiet');
  expect(JSON.parse(rest.stdout)).toEqual({
    campaigns: [{ ...expectedCampaign, leads: 301 }],
    auditEntries: 0,
    isComplete: true,
  });
  expect(await demoCounts()).toEqual({ leads: 20, changes: 13 });
  expect(await quarantine.list(10)).toHaveLength(1);

  const { s1: _before, s1Others: _others, ...counted } = before;
  expect(await overview()).toMatchObject(counted);

  await leads('set', '--workspace', workspace.slug, '--campaign', 'DEMO', '--days', 'off');
  expect((await leads('run')).stdout).toContain('No campaign has a retention period');

  const recorded = await fixture.sql(
    `SELECT source, target_id AS "targetId", details FROM audit_entry WHERE action = 'campaign.changed' ORDER BY at`,
  );
  expect(recorded).toEqual(
    [30, 0].map((retentionDays) => ({
      source: 'cli',
      targetId: workspace.demoCampaignId,
      details: { code: 'DEMO', retentionDays },
    })),
  );
});

test('leads retention run deletes entries of the audit log past AUDIT_RETENTION_DAYS, and no others', async () => {
  await fixture.sql(
    `INSERT INTO audit_entry (id, workspace_id, at, action, source, details)
     SELECT gen_random_uuid(), $1, now() - days * interval '1 day', 'sign_in', 'website', '{}'
     FROM unnest(ARRAY[399, 401, 401, 10, 20]) AS days`,
    [workspace.id],
  );
  const counts = async () =>
    (await fixture.sql<{ entries: number }>('SELECT count(*)::int AS entries FROM audit_entry'))[0]?.entries;
  const before = (await counts()) ?? 0;
  const run = async (settings: Record<string, string>, ...args: string[]) => {
    const answer = await runLeads(['retention', 'run', '--json', '--quiet', ...args], {
      ...env,
      ...settings,
    });
    return JSON.parse(answer.stdout) as { auditEntries: number };
  };
  expect(await run({}, '--dry-run')).toMatchObject({ auditEntries: 2 });
  expect(await counts()).toBe(before);
  expect(await run({})).toMatchObject({ auditEntries: 2 });
  expect(await counts()).toBe(before - 2);
  expect(await run({ AUDIT_RETENTION_DAYS: '15' })).toMatchObject({ auditEntries: 2 });
  expect(await counts()).toBe(before - 4);
});

test('leads retention run leaves no partial lead when it is killed, and rejects a concurrent run', async () => {
  await add(3_000, 50);
  await leads('set', '--workspace', workspace.slug, '--campaign', 'DEMO', '--days', '40');
  const all = (await demoCounts())?.leads ?? 0;
  const killed = startLeads(['retention', 'run', '--quiet'], env);
  await vi.waitFor(async () => expect((await demoCounts())?.leads).toBeLessThan(all), {
    timeout: 60_000,
    interval: 5,
  });
  killed.child.kill('SIGKILL');
  await killed.ended;
  const torn = await fixture.sql('SELECT FROM lead_change LEFT JOIN lead ON id = lead_id WHERE id IS NULL');
  expect(torn).toEqual([]);

  await add(10, 50);
  await client.transaction(async (tx) => {
    // The advisory lock that a run holds while it deletes.
    await tx.$queryRawUnsafe('SELECT FROM (VALUES (1)) AS one, pg_advisory_xact_lock(1618033988)');
    const second = await leads('run', '--quiet');
    expect(second).toEqual({ code: 1, stdout: '', stderr: 'error: Another retention run is in progress\n' });
  });
  expect((await leads('run', '--quiet')).code).toBe(0);
  expect(await demoCounts()).toMatchObject({ leads: 20 });
});

test('leads hold run approves each due lead once, also if it is killed and started again', async () => {
  const code = ['campaign', 'update', 'DEMO', '--workspace', workspace.slug, '--json'];
  const [short, long, set] = [
    await runLeads([...code, '--approve-after', '59s'], env),
    await runLeads([...code, '--approve-after', '366d'], env),
    await runLeads([...code, '--approve-after', '1m'], env),
  ];
  expect([short.code, long.code]).toEqual([2, 2]);
  expect(JSON.parse(set.stdout)).toMatchObject({ approveAfterSeconds: 60 });
  const due = Array.from({ length: 4_000 }, () => ({
    ...workspace.lead(workspace.owner, { createdAt: ageOf(1) }),
    approveAfterSeconds: 3_600,
  }));
  await fixture.leads.insert(due);
  const hold = async (...args: string[]) =>
    JSON.parse((await runLeads(['hold', ...args, '--json', '--quiet'], env)).stdout) as unknown;
  const list = async () => JSON.parse((await runLeads(['hold', 'list', '--json'], env)).stdout) as object[];
  expect(await list()).toMatchObject([{ campaignCode: 'DEMO', leads: 4_000, due: 0 }]);
  await fixture.sql(`UPDATE lead SET approve_at = now() WHERE approve_at IS NOT NULL`);
  expect(await hold('run', '--dry-run')).toEqual({ due: 4_000 });

  const counts = async () =>
    (
      await fixture.sql<{ leads: number; changes: number }>(
        `SELECT count(*)::int AS leads, (
           SELECT count(*)::int FROM lead_change WHERE reason = 'hold_ended' AND lead_id = ANY($1)
         ) AS changes FROM lead WHERE id = ANY($1) AND status = 'Approved' AND version = 2`,
        [due.map(({ id }) => id)],
      )
    )[0] ?? { leads: 0, changes: 0 };
  // The run takes this advisory lock in each transaction. It gets the lock once between two connections of the test.
  const lock = 'SELECT pg_advisory_lock(6626070150)';
  const waiting = () => fixture.countBlocked('%pg_advisory%lock%');
  await using before = await openAdminClient(env.DATABASE_URL);
  await using after = await openAdminClient(env.DATABASE_URL);
  await before.query(lock);
  const killed = startLeads(['hold', 'run', '--quiet'], env);
  await expect.poll(waiting).toBe(1);
  const locked = after.query(lock);
  await expect.poll(waiting).toBe(2);
  await before.query('SELECT pg_advisory_unlock_all()');
  await locked;
  killed.child.kill('SIGKILL');
  await killed.ended;
  await after.query('SELECT pg_advisory_unlock_all()');
  const { leads: approved, changes } = await counts();
  expect(approved).toBeGreaterThan(0);
  expect(changes).toBe(approved);
  expect(await hold('run')).toEqual({ approved: 4_000 - approved });
  expect(await counts()).toEqual({ leads: 4_000, changes: 4_000 });
  expect(await list()).toEqual([]);
  expect((await runLeads(['hold', 'list'], env)).stdout).toBe('No leads wait for the end of a hold time.\n');
});

test('leads hold list --held lists the leads on hold that a person holds, which do not wait', async () => {
  const list = async (...args: string[]) =>
    JSON.parse((await runLeads(['hold', 'list', '--json', ...args], env)).stdout) as unknown;
  expect((await runLeads(['hold', 'list', '--held'], env)).stdout).toBe('No leads are held by a person.\n');
  const held = (
    [
      [1, 'OnHold'],
      [2, 'OnHold'],
      [3, 'Trashed'],
    ] as const
  ).map(([day, status]) =>
    workspace.lead(workspace.owner, { createdAt: new Date(Date.UTC(2026, 0, day)), status }),
  );
  await fixture.leads.insert(held);
  await fixture.sql(`UPDATE lead SET hold_reason = 'Proof' WHERE id = ANY($1)`, [held.map(({ id }) => id)]);
  expect(await list()).toEqual([]);
  expect(await list('--held')).toEqual([
    {
      workspace: workspace.slug,
      campaignCode: 'DEMO',
      leads: 2,
      firstCreatedAt: '2026-01-01T00:00:00.000Z',
      lastCreatedAt: '2026-01-02T00:00:00.000Z',
    },
  ]);
  expect((await runLeads(['hold', 'list', '--held'], env)).stdout).toMatch(
    /^WORKSPACE +CAMPAIGN +HELD\n\S+ +DEMO +2\n  created from 2026-01-01 00:00 to 2026-01-02 00:00\n$/,
  );
});

test('leads payment marks approved leads as paid, lists and cancels payments, and its errors name the option', async () => {
  const own = await fixture.createWorkspace();
  const publisher = await own.addMember('publisher');
  const manager = await own.addMember('manager');
  await fixture.sql(`UPDATE campaign SET payout_amount = 0.5, payout_currency = 'EUR' WHERE id = $1`, [
    own.demoCampaignId,
  ]);
  const createdAt = new Date('2026-01-15T12:00:00Z');
  const approved = (count: number) =>
    Array.from({ length: count }, () => own.lead(publisher, { status: 'Approved', createdAt }));
  await fixture.leads.insert(approved(450));
  const payment = (command: string, ...args: string[]) =>
    runLeads(['payment', command, ...args, '--workspace', own.slug], env);
  const json = async (...args: Parameters<typeof payment>) =>
    JSON.parse((await payment(...args, '--json')).stdout) as { id: string };
  const days = [
    '--from',
    '2026-01-01',
    '--to',
    '2026-01-31',
    '--date',
    '2026-02-03',
    '--note',
    'Invoice 4711',
  ];
  const pay = (...args: string[]) =>
    ['--publisher', publisher.email, ...days, '--currency', 'EUR', '--user', ...args] as const;

  expect((await payment('list')).stdout).toBe('No payments.\n');
  expect((await payment('list', '--limit', '1001')).code).toBe(2);
  for (const [code, args, message] of [
    [2, [...pay(manager.email), '--currency', 'EURO'], '--currency must be a currency code of ISO 4217'],
    [2, [...pay(manager.email), '--from', '2026-02-01'], '--to must'],
    [2, [...pay(manager.email), '--date', '2026-11-31'], '--date must'],
    [2, [...pay(manager.email), '--zone', 'Mars'], '--zone must'],
    [1, [...pay(manager.email), '--campaign', 'OTHER'], 'There is no approved lead with a payout'],
    [1, pay(publisher.email), '--user must be an owner or a manager to pay'],
  ] as const) {
    expect(await payment('create', ...args)).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    });
  }
  const key = ['--idempotency-key', 'january'];
  const { id, ...paid } = await json('create', ...pay(manager.email), ...key);
  expect(paid).toMatchObject({
    number: 1,
    state: 'paid',
    total: 450,
    leads: 450,
    amount: '225',
    userId: publisher.userId,
    createdBy: manager.userId,
  });
  expect(await json('create', ...pay(manager.email), ...key)).toEqual({ id, ...paid });
  expect((await json('show', id)) as object).toMatchObject({ payment: { id }, leads: { length: 450 } });
  expect((await payment('list', '--publisher', publisher.email)).stdout).toBe(
    [
      'NUMBER  STATE  LEADS  AMOUNT   DATE',
      '1       paid   450    225 EUR  2026-02-03',
      `  Payment 1 (${id}) to user ${publisher.userId} is paid.`,
      '  450 of 450 leads were marked as Paid: 225 EUR.',
      '  Note: Invoice 4711',
      '',
    ].join('\n'),
  );
  expect(await json('list', '--publisher', manager.email)).toEqual([]);

  {
    // Another process works on the payment, so the command waits.
    await fixture.sql(`UPDATE payment SET state = 'paying' WHERE id = $1`, [id]);
    await using other = await openAdminClient(env.DATABASE_URL);
    await other.query('BEGIN');
    await other.query('SELECT FROM payment WHERE id = $1 FOR UPDATE', [id]);
    const args = ['payment', 'create', ...pay(manager.email), ...key, '--workspace', own.slug, '--quiet'];
    expect(await runLeads(args, env, '', AbortSignal.timeout(1_000))).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: Interrupted: the CRM service continues payment 1\n',
    });
  }
  await fixture.sql(`UPDATE payment SET state = 'paid' WHERE id = $1`, [id]);

  const cancel = (member: { email: string }, ...args: string[]) =>
    payment('cancel', id, '--user', member.email, '--reason', 'Bounced', ...args);
  expect(await cancel(own.owner)).toMatchObject({ code: 1, stdout: '' });
  expect((await cancel(manager, '--yes')).stderr).toContain('an owner to cancel');
  expect((await cancel(own.owner, '--yes', '--quiet')).stdout).toContain('450 leads are Approved again.');
  expect(await json('show', id)).toMatchObject({ payment: { cancelReason: 'Bounced', returned: 450 } });
  expect(
    await fixture.sql(
      `SELECT (count(*) FILTER (WHERE status = 'Approved'))::int AS approved,
         (SELECT count(*)::int FROM audit_entry WHERE workspace_id = $1 AND action LIKE 'payment.%') AS audited
       FROM lead WHERE workspace_id = $1`,
      [own.id],
    ),
  ).toEqual([{ approved: 450, audited: 2 }]);

  await fixture.sql(`
    CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'rejected'; END $$`);
  await fixture.sql('CREATE TRIGGER reject BEFORE UPDATE ON lead FOR EACH ROW EXECUTE FUNCTION reject()');
  const failed = await payment('create', ...pay(manager.email), '--quiet');
  await fixture.sql('DROP TRIGGER reject ON lead');
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toMatch(/^error: Payment 2: The database rejected the change of a lead/);
});

test.each([
  [
    'a positive number of days',
    ['set', '--campaign', 'DEMO', '--days', '0'],
    'Use a whole number, 1 or more.',
  ],
  ['at most 36500 days', ['set', '--campaign', 'DEMO', '--days', '36501'], 'It must be at most 36500'],
  ['a campaign', ['set', '--days', '1'], "required option '--campaign <code>'"],
])('leads retention set exits with 2 without %s', async (_, args, message) => {
  const { code, stdout, stderr } = await leads(...args);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
});
