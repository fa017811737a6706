import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  addTenant,
  createEmptyDatabase,
  createTestDatabase,
  migrationSql,
  migrations,
  migrationsDir,
  type TestDatabase,
} from '../../test/database.ts';
import { defaultLockRetryPolicy, type LockRetryPolicy } from './lock-retry.ts';
import { MigrationError, migrate, migrationState } from './migrate.ts';
import { runsInTransaction } from './migration-script.ts';

let database: TestDatabase;
let scratch: string;

beforeEach(async () => {
  database = await createEmptyDatabase();
  scratch = mkdtempSync(join(tmpdir(), 'leads-migrations-'));
});
afterEach(async () => {
  rmSync(scratch, { recursive: true, force: true });
  await database[Symbol.asyncDispose]();
});

/** Replaces the empty database of a test by one with every migration, which takes less time than applying them. */
async function useMigratedDatabase(): Promise<void> {
  await database[Symbol.asyncDispose]();
  database = await createTestDatabase();
}

/** Copies the migrations and adds others. */
function copyWith(added: Record<string, string>): string {
  const directory = join(scratch, String(Math.random()).slice(2));
  cpSync(migrationsDir, directory, { recursive: true });
  for (const [name, sql] of Object.entries(added)) {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  }
  return directory;
}

/** Copies some of the migrations, as an earlier release had them. */
function copyOf(names: readonly string[]): string {
  const directory = copyWith({});
  for (const name of migrations) {
    if (!names.includes(name)) rmSync(join(directory, name), { recursive: true });
  }
  return directory;
}

const run = (
  directory = migrationsDir,
  onNotice: (line: string) => void = () => undefined,
  lockRetry: LockRetryPolicy = { timeoutMs: 300, pauseMs: 300, maxAttempts: 200 },
) => migrate({ databaseUrl: database.url, migrationsDir: directory, onNotice, lockRetry });

/** The notices of a run on an empty database. */
const applying = migrations.map((name) => `Applying ${name}`);

const migratingProcess = `
  import { migrate } from ${JSON.stringify(resolve(import.meta.dirname, '../../dist/db-admin/migrate.js'))};
  const [databaseUrl, migrationsDir] = process.argv.slice(1);
  const onNotice = (line) => console.log(JSON.stringify(line));
  console.log(JSON.stringify(await migrate({ databaseUrl, migrationsDir, onNotice })));`;

/** Starts a Node.js process that runs a script. Each line of its output is JSON. */
function startProcess(script: string, args: readonly string[]) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  const lines = () =>
    stdout.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as unknown)));
  return {
    lines,
    kill: () => child.kill('SIGKILL'),
    ended: once(child, 'close').then(() => ({ output: lines() })),
  };
}

async function failureOf(work: Promise<unknown>): Promise<MigrationError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MigrationError);
  return error as MigrationError;
}

interface HistoryRow {
  id: string;
  checksum: string;
  finished_at: Date | null;
  migration_name: string;
  logs: string | null;
  rolled_back_at: Date | null;
  started_at: Date;
  applied_steps_count: number;
}
const history = () => database.query<HistoryRow>('SELECT * FROM _prisma_migrations ORDER BY started_at');

/** Returns everything that a migration could leave in a database: objects, definitions, locks and the history. */
async function dump(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const ours = `NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`;
  for (const [name, sql] of Object.entries({
    schemas: `SELECT nspname FROM pg_namespace ORDER BY 1`,
    relations: `SELECT relnamespace::regnamespace::text, relname, relkind FROM pg_class
      WHERE relnamespace::regnamespace::text ${ours} ORDER BY 1, 2`,
    columns: `SELECT attrelid::regclass::text, attname, atttypid::regtype::text, attnotnull, pg_get_expr(adbin, adrelid)
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE relnamespace::regnamespace::text ${ours} AND attnum > 0 ORDER BY 1, attnum`,
    constraints: `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace::regnamespace::text ${ours} ORDER BY 1, 2`,
    indexes: `SELECT schemaname, indexname, indexdef FROM pg_indexes WHERE schemaname ${ours} ORDER BY 1, 2`,
    types: `SELECT typname, enumlabel FROM pg_type LEFT JOIN pg_enum ON enumtypid = pg_type.oid
      WHERE typnamespace::regnamespace::text ${ours} ORDER BY 1, enumsortorder`,
    functions: `SELECT proname, prosrc FROM pg_proc WHERE pronamespace::regnamespace::text ${ours} ORDER BY 1`,
    triggers: `SELECT tgname FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
    extensions: `SELECT extname FROM pg_extension ORDER BY 1`,
    comments: `SELECT objoid, description FROM pg_description WHERE objoid >= 16384 ORDER BY 1`,
    locks: `SELECT locktype FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE locktype = 'advisory' AND datname = current_database()`,
  })) {
    found[name] = await database.query(sql);
  }
  const [table] = await database.query(`SELECT to_regclass('_prisma_migrations') AS name`);
  found['history'] = table?.['name'] === null ? 'no table' : await history();
  return found;
}

describe('migrate', () => {
  test('applies all migrations to an empty database, and does nothing the second time', async () => {
    const notices: string[] = [];
    expect(await run(migrationsDir, (line) => notices.push(line))).toEqual({ applied: migrations });
    expect(notices).toEqual(applying);
    const after = await dump();
    expect(await run(migrationsDir, (line) => notices.push(line))).toEqual({ applied: [] });
    expect(notices).toEqual(applying);
    expect(await dump()).toEqual(after);
    await database.query(`INSERT INTO workspace (id, name, slug) VALUES (gen_random_uuid(), 'A', 'a')`);
  });

  test('writes its history in the format of Prisma', async () => {
    const directory = copyWith({
      '20270101000000_second': 'CREATE TABLE second (id INT);\n',
      '20270102000000_third': '-- ünïcode 😀\nCREATE TABLE third (id INT)',
    });
    const startedAt = Date.now();
    const { applied } = await run(directory);
    expect(applied).toEqual([...migrations, '20270101000000_second', '20270102000000_third']);
    const rows = await history();
    expect(rows.map((row) => row.migration_name)).toEqual(applied);
    for (const row of rows) {
      const file = readFileSync(join(directory, row.migration_name, 'migration.sql'));
      expect(row.checksum).toBe(createHash('sha256').update(file).digest('hex'));
      expect(row.applied_steps_count).toBe(1);
      expect(row.logs).toBeNull();
      expect(row.rolled_back_at).toBeNull();
      expect(row.id).toMatch(/^[0-9a-f-]{36}$/);
      expect(row.started_at.getTime()).toBeGreaterThan(startedAt - 5_000);
      expect(row.finished_at?.getTime()).toBeGreaterThanOrEqual(row.started_at.getTime());
    }
    const columns = await database.query(`
      SELECT column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '-') AS is
      FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`);
    expect(columns.map((column) => column['is'] as string)).toEqual([
      'id character varying NO -',
      'checksum character varying NO -',
      'finished_at timestamp with time zone YES -',
      'migration_name character varying NO -',
      'logs text YES -',
      'rolled_back_at timestamp with time zone YES -',
      'started_at timestamp with time zone NO now()',
      'applied_steps_count integer NO 0',
    ]);
  });

  test('applies each migration once if two runs start at the same time', async () => {
    const directory = copyWith({ '20270101000000_slow': 'SELECT pg_sleep(1); CREATE TABLE slow (id INT);' });
    const notices: string[] = [];
    const runs = await Promise.all([
      run(directory, (l) => notices.push(l)),
      run(directory, (l) => notices.push(l)),
    ]);
    const all = migrations.length + 1;
    expect(runs.map(({ applied }) => applied.length).toSorted((x, y) => x - y)).toEqual([0, all]);
    expect(notices.filter((line) => line.includes('waiting'))).toHaveLength(1);
    expect(notices.filter((line) => line.startsWith('Applying'))).toHaveLength(all);
    expect(await history()).toHaveLength(all);
  });

  test('applies each migration once if two processes start at the same time', async () => {
    // Holds the lock until both processes wait for it.
    await database.query('SELECT pg_advisory_lock(7262001)');
    const notice = 'Another migration is running: waiting for it';
    const runs = [1, 2].map(() => startProcess(migratingProcess, [database.url, migrationsDir]));
    for (const { lines } of runs) await expect.poll(lines).toContain(notice);
    await database.query('SELECT pg_advisory_unlock(7262001)');
    const outcomes = await Promise.all(runs.map(async ({ ended }) => (await ended).output));
    expect(outcomes.toSorted((x, y) => y.length - x.length)).toEqual([
      [notice, ...applying, { applied: migrations }],
      [notice, { applied: [] }],
    ]);
    expect(await history()).toHaveLength(migrations.length);
  });

  test('waits until another session releases the advisory lock', async () => {
    await database.query('SELECT pg_advisory_lock(7262001)');
    let isDone = false;
    const running = run().then((result) => {
      isDone = true;
      return result;
    });
    await sleep(500);
    expect(isDone).toBe(false);
    await database.query('SELECT pg_advisory_unlock(7262001)');
    expect((await running).applied).toEqual(migrations);
  });

  test('runs a script with several statements, comments, and functions whose bodies have semicolons', async () => {
    await useMigratedDatabase();
    const directory = copyWith({
      '20270101000000_function': `
        -- a comment; with a semicolon, and it's a quote
        CREATE FUNCTION twice(n INT) RETURNS INT LANGUAGE plpgsql AS $$
        BEGIN
          IF n > 10 THEN RAISE NOTICE 'large; very'; END IF;
          RETURN n * 2;
        END;
        $$;
        /* another; comment */
        CREATE TABLE doubled (n INT, CHECK (n <> ';'::text::"char"::int));
        DO $body$ BEGIN INSERT INTO doubled VALUES (twice(21)); END; $body$;`,
    });
    await run(directory);
    expect(await database.query('SELECT n, twice(n) AS twice FROM doubled')).toEqual([{ n: 42, twice: 84 }]);
  });

  test('rejects with ECONNREFUSED if the server cannot be reached', async () => {
    const url = new URL(database.url);
    url.port = '1';
    await expect(migrate({ databaseUrl: url.href, migrationsDir })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  describe('if a migration fails', () => {
    const second = '20270101000000_second';
    const broken = '20270102000000_broken';
    const later = '20270103000000_later';
    /** The migrations that are committed before a later one can fail: up to the last one without a transaction. */
    const committed = migrations.slice(
      0,
      1 + migrations.findLastIndex((name) => !runsInTransaction(migrationSql(name))),
    );

    test.each([
      ['at its first statement', 'CREATE TABLE broken (id NO_SUCH_TYPE);', /no_such_type/i],
      [
        'at its second statement',
        'CREATE TABLE half (id INT); ALTER TABLE nowhere ADD COLUMN x INT; CREATE TABLE other (id INT);',
        /nowhere/,
      ],
      ['with a syntax error', 'CREATE TABEL broken (id INT);', /syntax error/],
      [
        'in a function that it calls',
        `DO $$ BEGIN CREATE TABLE half (id INT); RAISE 'not today'; END $$;`,
        /not today/,
      ],
      [
        'with a violated constraint',
        `INSERT INTO workspace (id, name, slug) VALUES (gen_random_uuid(), '', '');`,
        /workspace_/,
      ],
    ])('%s, names it in the error and leaves the database unchanged', async (_how, sql, reason) => {
      const directory = copyWith({
        [second]: 'CREATE TABLE second (id INT);',
        [broken]: sql,
        [later]: 'CREATE TABLE later (id INT);',
      });
      for (const first of [committed, migrations]) {
        await run(copyOf(first));
        const before = await dump();
        const error = await failureOf(run(directory));
        expect(error.migration).toBe(broken);
        expect(error.message).toContain(broken);
        expect(error.message).toMatch(reason);
        expect(await dump()).toEqual(before);
      }

      writeFileSync(join(directory, broken, 'migration.sql'), 'CREATE TABLE mended (id INT);');
      expect((await run(directory)).applied).toEqual([second, broken, later]);
      expect(await history()).toHaveLength(migrations.length + 3);
    });

    test('because its connection breaks, leaves the database unchanged and releases the lock', async () => {
      await run(copyOf(committed));
      const directory = copyWith({ [second]: 'CREATE TABLE half (id INT); SELECT pg_sleep(20);' });
      const before = await dump();
      const failing = failureOf(run(directory));
      const end = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`;
      await expect.poll(() => database.query(end)).toEqual([{ ended: true }]);
      expect((await failing).migration).toBe(second);
      await expect.poll(dump).toEqual(before);
      expect((await run()).applied).toEqual(migrations.slice(committed.length));
    });

    test('in another tool, rejects and leaves the database unchanged', async () => {
      await useMigratedDatabase();
      await database.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, logs)
        VALUES (gen_random_uuid(), 'x', '${second}', now(), 'it failed')`);
      const before = await dump();
      const error = await failureOf(run(copyWith({ [second]: 'SELECT 1;', [later]: 'SELECT 1;' })));
      expect(error.message).toContain(second);
      expect(await dump()).toEqual(before);
    });
  });

  test('applies an empty migration', async () => {
    await useMigratedDatabase();
    const empty = '20270101000000_empty';
    const comment = '20270102000000_comment';
    const directory = copyWith({ [empty]: '', [comment]: '-- nothing\n' });
    expect((await run(directory)).applied).toEqual([empty, comment]);
  });

  test('ignores edits of applied migrations, like prisma migrate deploy', async () => {
    await useMigratedDatabase();
    const before = await dump();
    const edited = Object.fromEntries(migrations.map((name) => [name, `${migrationSql(name)}\n-- edited\n`]));
    const directory = copyWith(edited);
    expect(await run(directory)).toEqual({ applied: [] });
    expect(await dump()).toEqual(before);
    expect(await migrationState({ databaseUrl: database.url, migrationsDir: directory })).toEqual({
      pending: [],
      ahead: [],
    });
    const next = '20270101000000_next';
    expect(await run(copyWith({ ...edited, [next]: 'CREATE TABLE next (id INT);' }))).toEqual({
      applied: [next],
    });
  });

  test('rejects a database with tables but no history, and leaves it unchanged', async () => {
    await database.query('CREATE TABLE of_another_application (id INT)');
    const before = await dump();
    const error = await failureOf(run());
    expect(error.message).toMatch(/not empty/);
    expect(await dump()).toEqual(before);
  });

  test('rejects a database whose new tables would be in another schema than public, such as that of the role, and leaves it unchanged', async () => {
    await database.query('CREATE SCHEMA AUTHORIZATION CURRENT_USER');
    const [role] = await database.query<{ name: string }>('SELECT current_user AS name');
    const of = { databaseUrl: database.url, migrationsDir };
    for (const work of [() => run(), () => migrationState(of)]) {
      const error = await failureOf(work());
      expect(error.message).toMatch(/public/);
      expect(error.message).toContain(`the schema ${role?.name}`);
    }
    expect(
      await database.query(`SELECT FROM pg_tables WHERE schemaname IN (current_user, 'public')`),
    ).toEqual([]);
  });
});

describe('leads of the previous release', () => {
  interface Words {
    readonly name: string;
    readonly words: readonly (string | null)[];
  }

  test('get their search words, whatever their names, phones and emails contain', async () => {
    await run(copyOf(migrations.slice(0, 1)));
    const tenant = await addTenant(database, 'a');
    const many = Array.from({ length: 100 }, (_, i) => i.toString(36)).join(' ');
    const leads: [name: string, phone: string, e164: string | null, email: string | null, words: string[]][] =
      [
        ['Ada Lovelace', '+44 20 7946 0958', '+442079460958', null, ['442079460958', 'ada', 'lovelace']],
        [
          'Grace',
          '(202) 555-0143',
          null,
          'Grace.H@Example.IO',
          ['2025550143', 'example', 'grace', 'h', 'io'],
        ],
        ['ÉMILE  Zola-Dreyfus, 2nd', 'call me', null, null, ['2nd', 'dreyfus', 'zola', 'emile']],
        ['!!!', '?', null, null, []],
        [' \t\n', ' ', null, null, []],
        ['عمر 😀 Ω', '+7', null, null, ['7', 'ω', 'عمر']],
        ['Long', '12'.repeat(20_000), null, null, ['12'.repeat(16), 'long']],
        ['é'.repeat(50_000), '1', null, 'a@b.io', ['1', 'a', 'b', 'io', 'e'.repeat(64)]],
        ['😀'.repeat(50_000), '3', null, null, ['3']],
        [many, '4-444', '+44', null, ['4444', '44', ...many.split(' ').slice(0, 30)]],
      ];
    for (const [name, phone, e164, email] of leads) {
      await database.query(
        `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164,
           email, created_at, updated_at)
         VALUES (gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', $4, $5, $6, $7, now(), now())`,
        [tenant.workspaceId, tenant.campaignId, tenant.userId, name, phone, e164, email],
      );
    }

    expect((await run()).applied).toEqual(migrations.slice(1));
    const rows = await database.query<Words>('SELECT name, words FROM lead');
    const found = new Map(rows.map(({ name, words }) => [name, words]));
    for (const [name, , , , words] of leads) {
      expect(new Set(found.get(name))).toEqual(new Set(words));
    }
    const rest = await database.query('SELECT DISTINCT version, content_hash, duplicate_of FROM lead');
    expect(rest).toEqual([{ version: 1, content_hash: null, duplicate_of: null }]);
  });
});

describe('migrationState', () => {
  const state = (directory = migrationsDir) =>
    migrationState({ databaseUrl: database.url, migrationsDir: directory });
  const next = '20270101000000_next';
  const upToDate = { pending: [], ahead: [] };

  test('returns the migrations that a database lacks: all, none, or those of a newer release', async () => {
    expect(await state()).toEqual({ pending: migrations, ahead: [] });
    await run();
    expect(await state()).toEqual(upToDate);
    expect(await state(copyWith({ [next]: 'SELECT 1;' }))).toEqual({ pending: [next], ahead: [] });
  });

  test('returns the migrations by which a database is ahead of this release', async () => {
    await useMigratedDatabase();
    await run(copyWith({ [next]: 'SELECT 1;' }));
    expect(await state()).toEqual({ pending: [], ahead: [next] });
  });

  test('rejects a database with another history, and names the difference', async () => {
    await useMigratedDatabase();
    await run(copyWith({ [next]: 'SELECT 1;' }));
    const other = '20270102000000_other';
    const error = await failureOf(state(copyWith({ [other]: 'SELECT 1;' })));
    expect(error.message).toMatch(/another history/);
    expect(error.message).toMatch(new RegExp(`has ${next} and lacks ${other}`));
  });

  test('returns an unfinished migration as pending', async () => {
    await useMigratedDatabase();
    const directory = copyWith({ [next]: '-- leads: no transaction\nSELECT 1 / 0;' });
    await failureOf(run(directory));
    expect(await state(directory)).toEqual({ pending: [next], ahead: [] });
  });

  test('returns an unfinished migration of a newer release as ahead, and the previous release can migrate', async () => {
    await useMigratedDatabase();
    await failureOf(run(copyWith({ [next]: '-- leads: no transaction\nSELECT 1 / 0;' })));
    expect(await state()).toEqual({ pending: [], ahead: [next] });
    expect(await run()).toEqual({ applied: [] });
  });

  test('does not change the database', async () => {
    const before = await dump();
    await state();
    expect(await dump()).toEqual(before);
  });
});

describe('a migration of a table that another session uses', () => {
  const next = '20270101000000_next';
  const added = () =>
    database.query(
      `SELECT FROM information_schema.columns WHERE table_name = 'lead' AND column_name = 'added'`,
    );

  /** Opens a transaction that reads the table `lead` and stays open. */
  async function holdLead(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database.url, application_name: 'idle psql' });
    await client.connect();
    await client.query('BEGIN; SELECT FROM lead');
    return client;
  }

  test('retries until the table is free, and lets writers continue between attempts', async () => {
    await useMigratedDatabase();
    const directory = copyWith({ [next]: 'ALTER TABLE lead ADD COLUMN added INT;' });
    const tenant = await addTenant(database, 'a');
    const holder = await holdLead();
    const notices: string[] = [];
    const running = run(directory, (line) => notices.push(line));
    try {
      await expect.poll(() => notices).toContainEqual(expect.stringMatching(/^Waiting/));
      const attempts = () => notices.filter((line) => line === `Applying ${next}`).length;
      const before = attempts();
      // Each insert waits for at most one attempt. It would time out if the migration waited without a pause.
      for (let count = 0; count < 3 || attempts() < before + 2; count++) await insertLead(tenant);
      expect(await added()).toEqual([]);
    } finally {
      await holder.end();
    }
    expect((await running).applied).toEqual([next]);
    expect(await added()).toHaveLength(1);
    expect(notices).toContainEqual(
      expect.stringMatching(
        /^Waiting for lead, held by process \d+ \(idle psql, idle in transaction, for \d+ s\)$/,
      ),
    );
  });

  test('locks the table first in the next attempt if its users wait for a table that the migration holds', async () => {
    await useMigratedDatabase();
    // Locks in the reverse order of the writers, once one of them waits. A longer pause would use up the time until Postgres
    // checks the writer for a deadlock. In the next attempt, none waits for this table.
    const directory = copyWith({
      [next]: `ALTER TABLE campaign ADD COLUMN added INT;
        DO $$ BEGIN
          FOR i IN 1..40 LOOP
            EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE relation = 'campaign'::regclass AND NOT granted);
            PERFORM pg_sleep(0.01);
          END LOOP;
        END $$;
        ALTER TABLE lead ADD COLUMN added INT;`,
    });
    let isOver = false;
    const writers = Array.from({ length: 4 }, async () => {
      let written = 0;
      while (!isOver) {
        const writer = await holdLead();
        try {
          await sleep(20);
          await writer.query('SELECT FROM campaign; COMMIT');
          written += 1;
        } finally {
          await writer.end();
        }
      }
      return written;
    });
    // Postgres must not abort a writer, because the writers of an older release may not handle a deadlock.
    const migrating = migrate({
      databaseUrl: database.url,
      migrationsDir: directory,
      lockRetry: { ...defaultLockRetryPolicy, pauseMs: 300, maxAttempts: 5 },
    }).finally(() => (isOver = true));
    const [{ applied }, ...written] = await Promise.all([migrating, ...writers]);
    expect(applied).toEqual([next]);
    for (const count of written) expect(count).toBeGreaterThan(0);
  });

  test('fails after the last attempt, names the session that holds the lock, and changes nothing', async () => {
    await useMigratedDatabase();
    const directory = copyWith({
      [next]: 'CREATE TABLE half (id INT); ALTER TABLE lead ADD COLUMN added INT;',
    });
    const before = await dump();
    const holder = await holdLead();
    try {
      // Long enough for the lock monitor to see the wait, even on a busy machine.
      const lockRetry = { timeoutMs: 3_000, pauseMs: 10, maxAttempts: 2 };
      const error = await failureOf(run(directory, undefined, lockRetry));
      expect(error.migration).toBe(next);
      expect(error.message).toMatch(
        /^Migration \d+_next failed: .*lock timeout, 2 times: lead, held by process \d+ \(idle psql, /,
      );
    } finally {
      await holder.end();
    }
    await expect.poll(dump).toEqual(before);
  });
});

const insertLead = (tenant: { workspaceId: string; campaignId: string; userId: string }, s1 = 'x') =>
  database.query(
    `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, s1, created_at, updated_at)
     VALUES (gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', 'Ada', '1', $4, now(), now())`,
    [tenant.workspaceId, tenant.campaignId, tenant.userId, s1],
  );

describe('a migration without a transaction', () => {
  const before = '20270101000000_before';
  const index = '20270102000000_index';
  const after = '20270103000000_after';
  const steps = {
    [before]: 'CREATE TABLE before (id INT);',
    [index]: `-- leads: no transaction
      CREATE INDEX CONCURRENTLY IF NOT EXISTS lead_website_idx ON lead (website);
      -- Another index; a unique one.
      CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS lead_s1_key ON lead (s1);`,
    [after]: 'CREATE TABLE after (id INT);',
  };
  const indexes = () =>
    database.query(`SELECT relname AS name, indisvalid AS valid FROM pg_index JOIN pg_class ON oid = indexrelid
      WHERE relname IN ('lead_website_idx', 'lead_s1_key') ORDER BY 1`);
  const bothValid = [
    { name: 'lead_s1_key', valid: true },
    { name: 'lead_website_idx', valid: true },
  ];
  const ofIndex = async () => (await history()).filter(({ migration_name: name }) => name === index);
  /** Opens a transaction that writes and stays open. A concurrent index build waits for it. */
  async function startOlderWriter(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('BEGIN; UPDATE lead SET city = NULL WHERE false');
    return client;
  }

  test('runs statement by statement after earlier migrations, and is recorded in the format of Prisma', async () => {
    const notices: string[] = [];
    const { applied } = await run(copyWith(steps), (line) => notices.push(line));
    expect(applied).toEqual([...migrations, before, index, after]);
    // Ignores notices of waits, which autovacuum may cause.
    const started = notices.filter((line) => line.startsWith('Applying '));
    expect(started).toEqual(applied.map((name) => `Applying ${name}`));
    expect(await indexes()).toEqual(bothValid);
    const rows = await history();
    expect(rows.map((row) => row.migration_name)).toEqual(applied);
    expect(await ofIndex()).toEqual([
      expect.objectContaining({
        checksum: createHash('sha256').update(steps[index]).digest('hex'),
        applied_steps_count: 1,
        finished_at: expect.any(Date),
        logs: null,
        rolled_back_at: null,
      }),
    ]);
    expect((await run(copyWith(steps))).applied).toEqual([]);
  });

  test('does not block writers, and finishes while another run waits for it', async () => {
    await useMigratedDatabase();
    const tenant = await addTenant(database, 'a');
    const directory = copyWith(steps);
    const older = await startOlderWriter();
    const notices: string[] = [];
    const running = run(directory, (line) => notices.push(line));
    await expect
      .poll(() => notices)
      .toContainEqual(expect.stringMatching(/^Waiting for transactions that began before, held by process/));
    const waiting: string[] = [];
    const second = run(directory, (line) => waiting.push(line));
    await expect.poll(() => waiting).toHaveLength(1);
    for (let count = 0; count < 5; count++) await insertLead(tenant, `written ${count}`);
    // Longer than the lock timeout.
    await sleep(1_000);
    expect(await ofIndex()).toMatchObject([{ finished_at: null }]);
    await older.end();
    expect((await running).applied).toEqual([before, index, after]);
    expect((await second).applied).toEqual([]);
    expect(waiting).toEqual(['Another migration is running: waiting for it']);
    expect(await indexes()).toEqual(bothValid);
  });

  test('keeps earlier migrations if it fails, and the next run drops its invalid indexes and continues', async () => {
    await useMigratedDatabase();
    const tenant = await addTenant(database, 'a');
    await insertLead(tenant, 'twice');
    await insertLead(tenant, 'twice');
    const directory = copyWith(steps);
    for (const attempts of [1, 2]) {
      const error = await failureOf(run(directory));
      expect(error.migration).toBe(index);
      expect(error.message).toMatch(/could not create unique index "lead_s1_key"/);
      expect(await indexes()).toEqual([
        { name: 'lead_s1_key', valid: false },
        { name: 'lead_website_idx', valid: true },
      ]);
      expect(await ofIndex()).toHaveLength(attempts);
    }
    expect((await history()).map((row) => row.migration_name)).toContain(before);

    await database.query(`UPDATE lead SET s1 = id::text`);
    expect((await run(directory)).applied).toEqual([index, after]);
    expect(await indexes()).toEqual(bothValid);
    expect(await ofIndex()).toMatchObject([
      { finished_at: null, rolled_back_at: expect.any(Date), logs: expect.stringContaining(index) },
      { finished_at: null, rolled_back_at: expect.any(Date) },
      { finished_at: expect.any(Date), rolled_back_at: null, applied_steps_count: 1 },
    ]);
  });

  test('is applied by the next run if its process is killed', async () => {
    await useMigratedDatabase();
    const directory = copyWith(steps);
    const older = await startOlderWriter();
    const killed = startProcess(migratingProcess, [database.url, directory]);
    await expect.poll(killed.lines).toContainEqual(expect.stringMatching(/^Waiting for transactions/));
    killed.kill();
    await killed.ended;
    await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '%CONCURRENTLY%' AND pid <> pg_backend_pid()`);
    await older.end();
    await expect.poll(indexes).toEqual([{ name: 'lead_website_idx', valid: false }]);
    expect((await run(directory)).applied).toEqual([index, after]);
    expect(await indexes()).toEqual(bothValid);
  });
});

test('the template database of the tests has the same columns as a migrated database', async () => {
  await using migrated = await createTestDatabase();
  await run();
  const tables = `SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = 'public' ORDER BY 1, 2`;
  expect(await migrated.query(tables)).toEqual(await database.query(tables));
});
