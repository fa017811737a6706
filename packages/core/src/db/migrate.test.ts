import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  addTenant,
  createEmptyDatabase,
  createMigratedDatabase,
  migrationSql,
  migrations,
  migrationsDir,
  schemaPath,
  type TestDatabase,
} from '../../test/database.ts';
import { diffMigrations, MigrationError, migrate, pendingMigrations } from './migrate.ts';

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

/** A copy of the migrations, with others beside them. */
function copyWith(added: Record<string, string>): string {
  const directory = join(scratch, String(Math.random()).slice(2));
  cpSync(migrationsDir, directory, { recursive: true });
  for (const [name, sql] of Object.entries(added)) {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  }
  return directory;
}

/** Only some of the migrations, as a release before this one had them. */
function copyOf(names: readonly string[]): string {
  const directory = copyWith({});
  for (const name of migrations) {
    if (!names.includes(name)) rmSync(join(directory, name), { recursive: true });
  }
  return directory;
}

const run = (directory = migrationsDir, onNotice?: (line: string) => void) =>
  migrate({
    databaseUrl: database.url,
    migrationsDir: directory,
    ...(onNotice !== undefined && { onNotice }),
  });

/** What is noticed when a database lacks all of them. */
const applying = migrations.map((name) => `Applying ${name}`);

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

/** All that a migration could leave in a database: what there is, how it is made, and what was written down. */
async function dump(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const ours = `NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`;
  for (const [name, sql] of Object.entries({
    schemas: `SELECT nspname FROM pg_namespace ORDER BY 1`,
    relations: `SELECT relnamespace::regnamespace::text, relname, relkind, reltuples FROM pg_class
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
  test('makes an empty database what the release needs, and finds nothing to do the second time', async () => {
    const notices: string[] = [];
    expect(await run(migrationsDir, (line) => notices.push(line))).toEqual({ applied: migrations });
    expect(notices).toEqual(applying);
    const after = await dump();
    expect(await run(migrationsDir, (line) => notices.push(line))).toEqual({ applied: [] });
    expect(notices).toEqual(applying);
    expect(await dump()).toEqual(after);
    await database.query(`INSERT INTO workspace (id, name, slug) VALUES (gen_random_uuid(), 'A', 'a')`);
  });

  test('keeps its history as Prisma does', async () => {
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

  test('of two at once, one applies and one waits', async () => {
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

  test('of two processes at once, one applies and the other finds nothing to do', async () => {
    const built = resolve(import.meta.dirname, '../../dist/db/migrate.js');
    const script = `
      import { migrate } from ${JSON.stringify(built)};
      const [databaseUrl, migrationsDir] = process.argv.slice(1);
      const onNotice = (line) => console.log(JSON.stringify(line));
      console.log(JSON.stringify(await migrate({ databaseUrl, migrationsDir, onNotice })));`;
    // Neither can begin before both wait.
    await database.query('SELECT pg_advisory_lock(7262001)');
    const outcomes = Promise.all(
      [1, 2].map(async () => {
        const args = ['--input-type=module', '--eval', script, database.url, migrationsDir];
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
        const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
        expect(stderr).toBe('');
        return stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown);
      }),
    );
    const waiting = `SELECT count(*)::int AS waiting FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;
    await expect.poll(() => database.query(waiting), { timeout: 20_000 }).toEqual([{ waiting: 2 }]);
    await database.query('SELECT pg_advisory_unlock(7262001)');
    const notice = 'Another migration is running: waiting for it';
    expect((await outcomes).toSorted((x, y) => y.length - x.length)).toEqual([
      [notice, ...applying, { applied: migrations }],
      [notice, { applied: [] }],
    ]);
    expect(await history()).toHaveLength(migrations.length);
  });

  test('waits for the lock as long as someone holds it', async () => {
    await database.query('SELECT pg_advisory_lock(7262001)');
    let done = false;
    const running = run().then((result) => {
      done = true;
      return result;
    });
    await sleep(500);
    expect(done).toBe(false);
    await database.query('SELECT pg_advisory_unlock(7262001)');
    expect((await running).applied).toEqual(migrations);
  });

  test('takes functions whole, with the semicolons of their bodies, and several statements with comments', async () => {
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

  test('says who cannot be reached', async () => {
    const url = new URL(database.url);
    url.port = '1';
    await expect(migrate({ databaseUrl: url.href, migrationsDir })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  describe('when a migration fails', () => {
    const second = '20270101000000_second';
    const broken = '20270102000000_broken';
    const later = '20270103000000_later';

    test.each([
      ['at once', 'CREATE TABLE broken (id NO_SUCH_TYPE);', /no_such_type/i],
      [
        'at its second statement',
        'CREATE TABLE half (id INT); ALTER TABLE nowhere ADD COLUMN x INT; CREATE TABLE other (id INT);',
        /nowhere/,
      ],
      ['by its grammar', 'CREATE TABEL broken (id INT);', /syntax error/],
      [
        'within a function it calls',
        `DO $$ BEGIN CREATE TABLE half (id INT); RAISE 'not today'; END $$;`,
        /not today/,
      ],
      [
        'by its data',
        `INSERT INTO workspace (id, name, slug) VALUES (gen_random_uuid(), '', '');`,
        /workspace_/,
      ],
    ])('%s, it is named, and the database is as it was', async (_how, sql, reason) => {
      const directory = copyWith({
        [second]: 'CREATE TABLE second (id INT);',
        [broken]: sql,
        [later]: 'CREATE TABLE later (id INT);',
      });
      for (const prepare of [async () => undefined, async () => run()]) {
        await prepare();
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

    test('an empty one is no failure', async () => {
      const directory = copyWith({ [second]: '', [later]: '-- nothing\n' });
      expect((await run(directory)).applied).toEqual([...migrations, second, later]);
    });

    test('a connection that breaks meanwhile leaves the database as it was, and the lock free', async () => {
      const directory = copyWith({ [second]: 'CREATE TABLE half (id INT); SELECT pg_sleep(20);' });
      const before = await dump();
      const failing = failureOf(run(directory));
      const end = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()`;
      await expect.poll(() => database.query(end), { timeout: 10_000 }).toEqual([{ ended: true }]);
      expect((await failing).migration).toBe(second);
      await expect.poll(dump).toEqual(before);
      expect((await run()).applied).toEqual(migrations);
    });

    test('one that another tool left unfinished is not passed over', async () => {
      await run();
      await database.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, logs)
        VALUES (gen_random_uuid(), 'x', '${second}', now(), 'it failed')`);
      const before = await dump();
      const error = await failureOf(run(copyWith({ [second]: 'SELECT 1;', [later]: 'SELECT 1;' })));
      expect(error.message).toContain(second);
      expect(await dump()).toEqual(before);
    });
  });

  test('an applied migration that was edited since is passed over, as prisma migrate deploy does', async () => {
    await run();
    const before = await dump();
    for (const migration of migrations) {
      const edited = `${migrationSql(migration)}\n`;
      const directory = copyWith({ [migration]: `${edited}-- a comment more\n` });
      expect(await run(directory)).toEqual({ applied: [] });
      expect(await dump()).toEqual(before);
      expect(await pendingMigrations({ databaseUrl: database.url, migrationsDir: directory })).toEqual([]);
    }
    const next = '20270101000000_next';
    const edited = Object.fromEntries(migrations.map((name) => [name, `${migrationSql(name)}\n`]));
    expect(await run(copyWith({ ...edited, [next]: 'CREATE TABLE next (id INT);' }))).toEqual({
      applied: [next],
    });
  });

  test('a database with tables but no history is refused, and left as it is', async () => {
    await database.query('CREATE TABLE someone_elses (id INT)');
    const before = await dump();
    const error = await failureOf(run());
    expect(error.message).toMatch(/not empty/);
    expect(await dump()).toEqual(before);
  });
});

describe('leads of the release before', () => {
  interface Words {
    readonly name: string;
    readonly words: readonly (string | null)[];
  }

  test('get the words they are searched by, whatever they hold', async () => {
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

describe('pendingMigrations', () => {
  const pending = (directory = migrationsDir) =>
    pendingMigrations({ databaseUrl: database.url, migrationsDir: directory });
  const next = '20270101000000_next';

  test('before: all; after: none; with a newer release: the newer ones', async () => {
    expect(await pending()).toEqual(migrations);
    await run();
    expect(await pending()).toEqual([]);
    expect(await pending(copyWith({ [next]: 'SELECT 1;' }))).toEqual([next]);
  });

  test('ahead of this release: none', async () => {
    await run(copyWith({ [next]: 'SELECT 1;' }));
    expect(await pending()).toEqual([]);
  });

  test('diverged from this release: an error', async () => {
    await run(copyWith({ [next]: 'SELECT 1;' }));
    const error = await failureOf(pending(copyWith({ '20270102000000_other': 'SELECT 1;' })));
    expect(error.message).toMatch(/another history/);
  });

  test('changes nothing', async () => {
    const before = await dump();
    await pending();
    expect(await dump()).toEqual(before);
  });
});

describe('schema and migrations', () => {
  const diff = (schema: string, directory = migrationsDir) =>
    diffMigrations({ databaseUrl: database.url, migrationsDir: directory, schemaPath: schema });

  async function databases(): Promise<string[]> {
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    try {
      const { rows } = await admin.query<{ name: string }>(
        `SELECT datname AS name FROM pg_database WHERE datname LIKE 'prisma_shadow_%'`,
      );
      return rows.map(({ name }) => name);
    } finally {
      await admin.end();
    }
  }

  test('agree', async () => {
    expect(await diff(schemaPath)).toBe('');
    expect(await databases()).toEqual([]);
  });

  test.each([
    ['a column more', /  phone {7}String\n/, '$&  nickname    String?\n', /ADD COLUMN\s+"nickname" TEXT/],
    ['a column less', /  street {6}String\?\n/, '', /DROP COLUMN "street"/],
    ['an index more', /  @@map\("lead"\)/, '  @@index([s1])\n$&', /CREATE INDEX .*"s1"/],
    ['a value more in an enum', /  Approved\n/, '$&  Lost\n', /ADD VALUE 'Lost'/],
  ])('are told apart by %s', async (_what, find, replacement, expected) => {
    const schema = readFileSync(schemaPath, 'utf8');
    const changed = schema.replace(find, replacement);
    expect(changed).not.toBe(schema);
    const path = join(scratch, 'schema.prisma');
    writeFileSync(path, changed);
    expect(await diff(path)).toMatch(expected);
  });

  test('are told apart by a migration too many', async () => {
    const directory = copyWith({ '20270101000000_more': 'CREATE TABLE more (id INT PRIMARY KEY);' });
    expect(await diff(schemaPath, directory)).toMatch(/DROP TABLE "more"/);
  });

  test('a shadow database is dropped even when a migration does not run on it', async () => {
    const directory = copyWith({ '20270101000000_broken': 'CREATE TABEL x (id INT);' });
    await expect(diff(schemaPath, directory)).rejects.toThrow(/20270101000000_broken/);
    expect(await databases()).toEqual([]);
  });

  test('the template of the tests is migrated as any database is', async () => {
    await using migrated = await createMigratedDatabase();
    await run();
    const tables = `SELECT table_name, column_name, data_type FROM information_schema.columns
      WHERE table_schema = 'public' ORDER BY 1, 2`;
    expect(await migrated.query(tables)).toEqual(await database.query(tables));
  });
});
