import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLeadQuarantine, openDatabase } from '@leads/core/db';
import type { FoundCounts } from '@leads/core/erasure';
import type { LeadDetail, StoredLead } from '@leads/core/lead';
import { Broker, bufferStreamName, LeadBuffer } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { longTimeouts } from '@leads/test-kit/services';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { leadsProgram, runLeads } from './command-line.ts';
import { startCrm } from './crm.ts';
import { leadsApi, ok } from './leads-api.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-erase-'));
const nats = await startNats({ binary: await findNatsServer(), dataDir: join(directory, 'nats') });
const crm = await startCrm({ NATS_URL: nats.url });
const { fixture } = crm;
const api = leadsApi(crm.service);
const workspace = await fixture.createWorkspace();
const other = await fixture.createWorkspace();
const { owner } = workspace;
const broker = new Broker({ url: nats.url, name: 'tests' });
const client = openDatabase({
  url: crm.databaseUrl,
  poolSize: 1,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 60_000,
  applicationName: 'leads-tests',
});
const quarantine = createLeadQuarantine(client);
const buffer = new LeadBuffer(
  broker,
  { name: bufferStreamName, maxBytes: 10_000_000, replicas: 1 },
  { ackTimeoutMs: 60_000 },
);
if (!(await broker.connected(60_000))) throw new Error('The broker is not connected after 60 s');
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await broker[Symbol.asyncDispose]();
  await crm[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
});

const env = {
  DATABASE_URL: crm.databaseUrl,
  NATS_URL: nats.url,
  ERASURE_SECRET: 'a secret of the tests, at least 32 characters long',
};

const leads = (args: readonly string[], settings: Readonly<Record<string, string>> = env) =>
  runLeads(['erase', ...args], settings);

async function json<Value>(...args: string[]): Promise<Value> {
  const { code, stdout, stderr } = await leads([...args, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Value;
}

interface Report {
  readonly id: string;
  readonly erasures: number;
  readonly found: FoundCounts;
  readonly erased: FoundCounts;
  readonly left: FoundCounts;
}

const nothing = {
  leads: 0,
  changes: 0,
  waitingEvents: 0,
  views: 0,
  notes: 0,
  payments: 0,
  quarantined: 0,
  buffered: 0,
  events: 0,
};

/** Returns every stored message of a stream. */
async function messagesOf(stream: string): Promise<string[]> {
  const manager = await broker.manager();
  const info = await manager.streams.info(stream).catch(() => undefined);
  const messages: string[] = [];
  for (let seq = info?.state.first_seq ?? 1; seq <= (info?.state.last_seq ?? 0); seq++) {
    const message = await manager.streams.getMessage(stream, { seq }).catch(() => undefined);
    if (message !== undefined) messages.push(Buffer.from(message.data).toString());
  }
  return messages;
}

/** Waits until the outbox is empty, which means that all events are in the stream. */
const allPublished = () =>
  vi.waitFor(async () => expect(await fixture.sql('SELECT FROM lead_outbox')).toEqual([]), {
    timeout: 60_000,
    interval: 100,
  });

/** Returns every row of every table as text. */
async function dump(): Promise<string> {
  const tables = await fixture.sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => fixture.sql(`SELECT to_jsonb(t)::text AS row FROM "${name}" AS t`)),
  );
  return JSON.stringify(rows);
}

/** Returns all files of JetStream as bytes. */
function readBrokerFiles(): Buffer {
  const root = join(directory, 'nats', 'streams');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

/** Returns the number of leads that the overview counts. */
async function overviewCount(): Promise<number | undefined> {
  const [row] = await fixture.sql<{ leads: number }>(
    `SELECT coalesce(sum(leads), 0)::int AS leads FROM (
       SELECT on_hold + trashed + paid + approved AS leads FROM lead_tally WHERE kind = 'time' AND of_id = $1
       UNION ALL SELECT leads FROM lead_tally_entry WHERE workspace_id = $1
     ) AS counted`,
    [workspace.id],
  );
  return row?.leads;
}

async function create(fields: Partial<LeadDetail>): Promise<LeadDetail> {
  const body = { campaignCode: 'DEMO', name: 'Grace Hopper', phone: '+1 202 555 0143', ...fields };
  return ok<{ lead: LeadDetail }>(await api.create(owner, body)).lead;
}

const stored = (fields: Partial<StoredLead>) => workspace.lead(owner, { source: 'intake', ...fields });

describe('leads erase', () => {
  test('erases a person from all stores, and keeps the data of other people', async () => {
    // Leads of Ada, each found by another property.
    const ada = await create({
      name: 'Ada Canary',
      phone: '+44 20 7946 0958',
      email: 'Ada.Canary@example.io',
    });
    ok(await api.edit(owner, ada.id, { city: 'Adatown' }));
    ok(await api.edit(owner, ada.id, { status: 'Trashed', reason: 'Ada asked' }));
    const before = await create({ name: 'Ada Before', phone: '0044 20 7946 0958' });
    ok(await api.edit(owner, before.id, { phone: '+1 202 555 0199' }));
    const waiting = stored({ name: 'Ada Waiting', phone: '02079460958', s1: 'click-of-ada' });
    const byMail = stored({
      name: 'Ada Mail',
      phone: '5',
      extra: '{"Mail": "ADA.canary@EXAMPLE.io"}',
      s1: 'campaign-7',
    });
    const grace = await create({});
    await fixture.leads.insert([waiting, byMail, stored({ name: 'Grace', phone: '7', s1: 'campaign-7' })]);
    // A phone number of another country with the same digits.
    await create({ name: 'Namesake', phone: '+46 20 794 609 58' });
    await allPublished();
    await quarantine.add([
      { lead: stored({ name: 'Ada Refused', phone: '+442079460958', phoneE164: '+442079460958' }) },
      { lead: stored({ name: 'Grace Refused', phone: '8' }) },
    ]);
    await buffer.put([
      stored({ name: 'Ada Buffered', phone: '00442079460958' }),
      stored({ name: 'Grace Buffered', phone: '8' }),
    ]);
    await buffer.put([stored({ name: 'Ada Alone', phone: '1', email: 'ada.canary@example.io' })]);
    expect(await overviewCount()).toBe(7);
    // Views that search for Ada by the beginnings of her name, her number and her address, and views of other leads.
    const views: readonly (readonly [string, object])[] = [
      ['Calls', { q: 'Canary ada' }],
      ['Calls', { phone: '020 7946 0958', status: 'OnHold' }],
      ['Calls', { q: '79460958' }],
      ['Mails', { q: 'ADA.canary@example.io' }],
      ['Ada Before: to check', {}],
      ['Namesake', { q: '609 58' }],
      ['View of Grace', { q: 'grace hop' }],
    ];
    for (const [name, filters] of views) {
      await fixture.sql(
        'INSERT INTO saved_view (id, workspace_id, name, filters) VALUES (gen_random_uuid(), $1, $2, $3)',
        [workspace.id, name, JSON.stringify(filters)],
      );
    }

    // Notes of a lead that is kept: three contain Ada's number or address.
    const notes = [
      'At 9 she asked to call her sister, 020 7946 0958, 2 times',
      'or under 0044/20/7946-0958.',
      'Sister: <Ada.Canary@example.io>!',
      'Order 1234567, +46 20 794 609 58',
    ];
    for (const text of notes) {
      await fixture.sql(
        `INSERT INTO lead_note (id, workspace_id, lead_id, author_id, text, created_at)
         SELECT gen_random_uuid(), workspace_id, id, user_id, $2, now() FROM lead WHERE id = $1`,
        [grace.id, text],
      );
    }
    // Payments, whose notes and reasons the same rules find.
    for (const [number, note, reason] of [
      [1, 'For the sister of ada.canary@example.io', 'Bounced'],
      [2, 'Invoice 2079460950', 'Call 0044 20 7946 0958'],
    ]) {
      await fixture.sql(
        `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, note,
           state, cancelled_at, cancelled_by_id, cancel_reason)
         SELECT gen_random_uuid(), workspace_id, $2, user_id, user_id, now(), now(), 'EUR', now(), $3,
           'cancelled', now(), user_id, $4
         FROM lead WHERE id = $1`,
        [grace.id, number, note, reason],
      );
    }

    const subject = ['--phone', '020 7946 0958', '--country', 'GB', '--email', 'ada.canary@example.IO'];
    const planned = await leads([...subject, '--dry-run']);
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toContain('4 leads, 3 history entries');
    expect(planned.stdout).not.toMatch(/Ada|7946|example/i);
    expect(await dump()).toContain('Ada Canary');

    const { erased, left, id } = await json<Report>(...subject, '--yes');
    expect(erased).toEqual({
      leads: 4,
      changes: 3,
      waitingEvents: 0,
      views: 5,
      notes: 3,
      payments: 2,
      quarantined: 1,
      buffered: 2,
      events: 7,
    });
    expect(left).toEqual(nothing);

    const everything = [
      await dump(),
      ...(await messagesOf('LEADS')),
      ...(await messagesOf(bufferStreamName)),
    ].join();
    for (const trace of [
      /Ada [A-Z]/,
      /Adatown/,
      /Ada asked/,
      /canary/i,
      /(44 ?|\b0)20 ?7946/,
      /click-of-ada/,
    ]) {
      expect(trace.exec(everything)?.[0]).toBeUndefined();
    }
    for (const kept of [
      'Grace Hopper',
      'Grace Refused',
      'Grace Buffered',
      'Namesake',
      'View of Grace',
      'Order 1234567',
      'campaign-7',
      'Bounced',
      'Invoice 2079460950',
    ]) {
      expect(everything).toContain(kept);
    }
    const disk = readBrokerFiles();
    expect(disk.includes('Grace Hopper')).toBe(true);
    for (const trace of ['Ada Canary', 'Ada Before', 'Ada Buffered', 'Ada Alone', 'Adatown']) {
      expect(disk.includes(trace), trace).toBe(false);
    }
    expect(await api.get(owner, grace.id)).toMatchObject({ name: 'Grace Hopper' });
    expect(await overviewCount()).toBe(7);

    expect(await fixture.sql('SELECT id, found, finished_at IS NULL AS open FROM erasure')).toEqual([
      { id, found: erased, open: false },
    ]);
    const audited = await fixture.sql<{ source: string; details: object }>(
      `SELECT source, details FROM audit_entry WHERE action = 'person.erased' AND target_id = $1`,
      [id],
    );
    expect(audited[0]).toEqual({ source: 'cli', details: { isForAllWorkspaces: true } });
    expect((await json<Report>(...subject, '--yes')).erased).toEqual(nothing);
  });

  test('repeats an erasure after a restore, for leads that are older than the erasure', async () => {
    const log = join(directory, 'erasures.jsonl');
    const person = { name: 'Bob Canary', phone: '+49 30 901820', createdAt: new Date(Date.now() - 60_000) };
    const [first, theirs] = [stored(person), other.lead(other.owner, person)];
    await fixture.leads.insert([first, theirs]);
    await allPublished();

    const slug = ['--workspace', workspace.slug, '--log', log];
    const { erased } = await json<Report>('--phone', '+49 30 901820', ...slug, '--yes');
    expect(erased).toMatchObject({ leads: 1, events: 1 });

    // A restore from an earlier backup brings the lead back and removes the erasure from the table.
    await fixture.leads.insert([
      first,
      stored({ ...person, id: crypto.randomUUID(), createdAt: new Date() }),
    ]);
    await fixture.sql('TRUNCATE erasure');
    const withoutNats = { DATABASE_URL: env.DATABASE_URL, ERASURE_SECRET: env.ERASURE_SECRET };
    for (const args of [['--again'], ['--id', first.id]]) {
      const wrong = await leads([...args, '--yes'], { ...env, ERASURE_SECRET: 'x'.repeat(32) });
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('another ERASURE_SECRET')]);
    }
    const again = await leads(['--again', '--yes', '--json', '--without-events', '--log', log], withoutNats);
    expect(again).toMatchObject({ code: 0, stderr: 'Skipping the NATS streams.\n' });
    expect(JSON.parse(again.stdout)).toMatchObject({ erasures: 1, erased: { leads: 1 } });
    expect(await fixture.leads.find({ workspaceId: workspace.id }, [first.id])).toEqual([]);
    expect(await fixture.leads.find({ workspaceId: other.id }, [theirs.id])).toHaveLength(1);

    // The log in NATS has all erasures so far. A lead that is newer than the erasure stays.
    await fixture.leads.insert([first]);
    await fixture.sql('TRUNCATE erasure');
    const report = await json<Report>('--again', '--yes');
    expect(report).toMatchObject({ erasures: 3, erased: { leads: 1 } });
    expect(
      await fixture.sql('SELECT name FROM lead WHERE workspace_id = $1 AND name = $2', [
        workspace.id,
        person.name,
      ]),
    ).toHaveLength(1);
    expect(await fixture.sql('SELECT FROM erasure WHERE finished_at IS NOT NULL')).toHaveLength(3);
  });

  test('finishes an interrupted erasure in the next run', async () => {
    const lead = await create({ name: 'Cut Canary', phone: '+33 1 70 18 99 00' });
    ok(await api.edit(owner, lead.id, { phone: '+33 1 70 18 99 01' }));
    await allPublished();
    // Simulates a run that ended after the database. The first event of the lead has another phone number.
    await fixture.sql(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut'; END $$;
      CREATE TRIGGER cut BEFORE DELETE ON lead EXECUTE FUNCTION cut()`);
    const cut = await leads(['--phone', '+33 1 70 18 99 01', '--yes']);
    expect(cut.code).toBe(1);
    await fixture.sql('DROP TRIGGER cut ON lead');
    const [interrupted] = await fixture.sql<{ id: string }>(
      'SELECT id FROM erasure WHERE finished_at IS NULL',
    );
    await fixture.sql('SELECT erase_leads($1)', [[lead.id]]);
    expect((await messagesOf('LEADS')).join()).toContain('Cut Canary');
    const { id, erased } = await json<Report>(
      '--id',
      crypto.randomUUID(),
      '--workspace',
      other.slug,
      '--yes',
    );
    expect(erased).toEqual({ ...nothing, events: 2 });
    expect((await messagesOf('LEADS')).join()).not.toContain('Cut Canary');
    const audited = await fixture.sql(
      `SELECT workspace_id, target_id, details FROM audit_entry
       WHERE action = 'person.erased' AND target_id >= $1 ORDER BY target_id, workspace_id`,
      [interrupted?.id],
    );
    const inAll = [workspace.id, other.id].toSorted().map((workspace_id) => ({
      workspace_id,
      target_id: interrupted?.id,
      details: { isForAllWorkspaces: true },
    }));
    expect(audited).toEqual([
      ...inAll,
      { workspace_id: other.id, target_id: id, details: { isForAllWorkspaces: false } },
    ]);
  });

  test('counts no buffered leads without the stream of the intake, and names the setting', async () => {
    const empty = await startNats({ binary: await findNatsServer(), dataDir: join(directory, 'empty') });
    try {
      const args = ['--id', crypto.randomUUID(), '--json'];
      for (const action of ['--dry-run', '--yes']) {
        const { code, stdout, stderr } = await leads([...args, action], {
          ...env,
          NATS_INTAKE_URL: empty.url,
        });
        expect([code, stderr]).toEqual([
          0,
          'NATS has no stream LEADS_BUFFER, so no buffered leads were checked: if the intake uses another account or other servers, set NATS_INTAKE_URL\n',
        ]);
        const { found, erased } = JSON.parse(stdout) as Report;
        const { buffered: _, ...others } = nothing;
        expect(found ?? erased).toEqual(others);
      }
    } finally {
      await empty.stop();
    }
  });

  test('erases nothing while NATS has no JetStream, and names NATS', async () => {
    const lead = await create({ name: 'Streamless Canary', phone: '+33 1 70 18 99 03' });
    await using streamless = await startNats({
      binary: await findNatsServer(),
      dataDir: join(directory, 'streamless'),
      settings: 'jetstream: disabled',
    });
    const { host } = new URL(streamless.url);
    const settings = { ...env, NATS_URL: streamless.url };
    const unreachable = {
      code: 3,
      stdout: '',
      stderr: `error: NATS at ${host} cannot be reached: JetStream does not answer\n`,
    };
    expect(await leads(['--id', lead.id, '--yes'], settings)).toEqual(unreachable);
    expect(await runLeads(['nats', 'setup'], settings)).toEqual(unreachable);
    expect(await api.get(owner, lead.id)).toMatchObject({ id: lead.id });
  });

  test('erases nothing if the disk has room for only a part of the record, and leaves no part in the file', async () => {
    const log = join(directory, 'small.log');
    // Blank lines are ignored. The limit of the file is 1 KiB.
    const earlier = '\n'.repeat(900);
    writeFileSync(log, earlier);
    const lead = await create({ name: 'Small Canary', phone: '+33 1 70 18 99 02' });
    const args = ['erase', '--id', lead.id, '--without-events', '--log', log, '--yes'];
    const limited = ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, leadsProgram, ...args];
    const { status, stderr } = spawnSync('bash', limited, {
      env: { ...longTimeouts, ...env },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${log} cannot be written: EFBIG`)]);
    expect(readFileSync(log, 'utf8')).toBe(earlier);
    expect(await fixture.leads.find({ workspaceId: workspace.id }, [lead.id])).toHaveLength(1);
  });

  test.each([
    ['a subject', [], 'set --phone, --email or --id'],
    [
      'a choice between --again and --id',
      ['--again', '--id', crypto.randomUUID()],
      'set --phone, --email or --id',
    ],
    ['a valid id', ['--id', 'x'], 'It is not a UUID.'],
    ['NATS and a log file', ['--id', crypto.randomUUID(), '--without-events'], 'set --log <file>'],
  ])('exits with 2 without %s', async (_, args, message) => {
    const { code, stdout, stderr } = await leads(args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  });

  test('rejects an erasure without NATS, without a confirmation, or with an ambiguous phone number', async () => {
    const { NATS_URL: _, ...withoutNats } = env;
    const one = ['--phone', '+44 20 7946 0958'];
    expect((await leads([...one, '--yes'], withoutNats)).stderr).toContain('use --without-events');
    expect((await leads(one)).stderr).toBe('error: stdin is not a terminal: confirm with --yes\n');
    const national = await leads(['--phone', '020 7946 0958', '--yes']);
    expect([national.code, national.stderr]).toEqual([1, expect.stringContaining('add its country code')]);
  });

  test('erases the views that find a lead by its number without the extension, or with another', async () => {
    const lead = stored({ name: 'Dan Canary', phone: '030 1234 5670 ext. 12' });
    await fixture.leads.insert([lead]);
    await allPublished();
    for (const filters of [{ phone: '030 1234 5670' }, { q: '12345670' }, { phone: '030 1234 5670 x7' }]) {
      await fixture.sql(
        'INSERT INTO saved_view (id, workspace_id, name, filters) VALUES (gen_random_uuid(), $1, $2, $3)',
        [workspace.id, 'Calls', JSON.stringify(filters)],
      );
    }
    const { erased } = await json<Report>('--id', lead.id, '--yes');
    expect(erased).toMatchObject({ leads: 1, views: 3 });
  });
});
