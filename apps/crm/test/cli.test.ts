import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CredentialVerifier, generateApiKey, type Principal } from '@leads/core/credential';
import { createCredentialStore, createWorkspaceStore, type Database, openDatabase } from '@leads/core/db';
import { openAdminClient } from '@leads/core/db-admin/admin-client';
import { runAs } from '@leads/test-kit/service-roles';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '@leads/test-kit/test-database';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CommandLineSettings } from '../src/cli/runtime/settings.ts';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { runLeads, startLeads } from './command-line.ts';

// Each test starts processes that load Prisma, which takes seconds on a busy machine.
const jwtSecret = 'a secret for tests, of more than 32 characters';
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const isoDate = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Campaign {
  readonly code: string;
  readonly isDefault: boolean;
}

interface Credential {
  readonly id: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}
type Key = Credential & { readonly prefix: string; readonly apiKey: string };
type Token = Credential & { readonly accessToken: string };

const spawnLeads = (args: readonly string[], env: NodeJS.ProcessEnv) => startLeads(args, env).ended;

/** The commands that have already run as a process. */
const started = new Set<string>();

/** Returns functions that run commands on one database. Arguments with spaces follow the command line as parameters. */
function commandLine(databaseUrl: () => string) {
  const env = () => ({ DATABASE_URL: databaseUrl(), JWT_SECRET: jwtSecret });
  const leads = (line: string, ...more: string[]) => {
    const args = [...line.split(' '), ...more];
    const command = args.slice(0, 2).join(' ');
    // The first run of each command is a process, which also tests that the process exits.
    const isFirst = !started.has(command);
    started.add(command);
    return (isFirst ? spawnLeads : runLeads)(args, env());
  };
  return {
    leads,
    /** Returns the value that `--json` prints as exactly one line on stdout. */
    json: async <Value = unknown>(line: string, ...more: string[]): Promise<Value> => {
      const { code, stdout, stderr } = await leads(line, ...more, '--json');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^[^\n]+\n$/);
      return JSON.parse(stdout) as Value;
    },
    /** Returns the line on stderr of a command that fails with 1 and prints nothing else. */
    failureLine: async (line: string, ...more: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runLeads([...line.split(' '), ...more], env());
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: [^\n]+\n$/);
      return stderr;
    },
  };
}

/** Returns every column of every row of every table as text. */
async function dump({ prisma }: Database): Promise<string> {
  const tables = await prisma.$queryRawUnsafe<{ name: string }[]>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await prisma.$queryRawUnsafe<{ row: string }[]>(
      `SELECT to_jsonb(t)::text AS row FROM "${name}" t`,
    );
    rows.push(...found.map(({ row }) => `${name} ${row}`));
  }
  return rows.join('\n');
}

function expectNoTrace(text: string, secret: string): void {
  const bytes = Buffer.from(secret);
  for (const clear of [secret, bytes.toString('hex'), bytes.toString('base64')]) {
    expect(text).not.toContain(clear.slice(0, 40));
    expect(text).not.toContain(clear.slice(-20));
  }
}

function open(url: string): Database {
  return openDatabase({
    url,
    poolSize: 1,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'cli-test',
  });
}

const commands = [
  'migrate',
  'db grant',
  'user create',
  'user reset-second-factor',
  'campaign create',
  'campaign update',
  'campaign list',
  'landing-page list',
  'landing-page map',
  'landing-page dismiss',
  'landing-page restore',
  'key create',
  'key list',
  'key revoke',
  'token create',
  'token list',
  'token revoke',
  'quarantine list',
  'quarantine replay',
  'events tail',
  'erase',
  'backup-check',
  'retention set',
  'retention run',
];

describe('the command line', () => {
  test.each(commands)(
    'prints usage, examples, environment and exit codes for leads %s --help',
    async (command) => {
      const { code, stdout, stderr } = await runLeads([...command.split(' '), '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: leads ${command}`);
      expect(stdout).toMatch(/^ {2}--json /m);
      expect(stdout).toMatch(new RegExp(`Examples:\n  \\$ leads ${command}`));
      expect(stdout).toMatch(/Environment:\n  DATABASE_URL +\S/);
      expect(stdout).toMatch(/Exit codes:\n  0  success\n  1 .*\n  2 .*\n  3 .*\n$/);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    },
  );

  test.each([
    ['key create', [], ['NATS_URL', 'JWT_SECRET', 'ERASURE_SECRET']],
    ['key revoke', ['NATS_URL'], ['JWT_SECRET']],
    ['token create', ['JWT_SECRET'], ['ERASURE_SECRET', 'DELIVERIES_SECRET']],
    ['token', ['JWT_SECRET'], ['ERASURE_SECRET']],
    ['webhook create', ['DELIVERIES_SECRET'], ['DELIVERIES_PROXY_URL', 'DELIVER_PORT']],
    ['webhook', ['DELIVERIES_SECRET', 'DELIVERIES_PREVIOUS_SECRET'], ['JWT_SECRET']],
    ['deliver', ['DELIVERIES_PROXY_URL', 'DELIVER_PORT'], ['JWT_SECRET']],
  ])('names with leads %s --help only the settings that the command reads', async (command, read, others) => {
    const { stdout } = await runLeads([...command.split(' '), '--help']);
    const [, environment = ''] = stdout.split('Environment:');
    for (const name of read) expect(environment).toMatch(new RegExp(`\\b${name}\\b`));
    for (const name of others) expect(environment).not.toMatch(new RegExp(`\\b${name}\\b`));
  });

  test('names every setting with leads --help', async () => {
    const { stdout } = await runLeads(['--help']);
    for (const name of Object.keys(CommandLineSettings.properties))
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  test('lists the commands with --help, prints the version with --version, and exits with 2 for an unknown command', async () => {
    const [help, version, unknown] = await Promise.all([
      spawnLeads(['--help'], {}),
      runLeads(['--version']),
      spawnLeads(['kye'], {}),
    ]);
    for (const word of ['migrate', 'user', 'campaign', 'landing-page', 'key', 'token']) {
      expect(help.stdout).toMatch(new RegExp(`^  ${word} `, 'm'));
    }
    expect(help.code).toBe(0);
    expect(version).toEqual({ code: 0, stdout: '1.0.0\n', stderr: '' });
    expect({ ...unknown, stderr: '' }).toEqual({ code: 2, stdout: '', stderr: '' });
  });

  test.each([
    ['an unknown command', ['kye', 'list'], 'Did you mean key?'],
    ['an unknown subcommand', ['key', 'lst'], 'Did you mean list?'],
    ['no command', [], 'Usage: leads'],
    ['no subcommand', ['key'], 'Usage: leads key'],
    ['an unknown option', ['key', 'list', '--wrkspace', 'acme'], 'Did you mean --workspace?'],
    ['a missing option', ['key', 'create', '--name', 'x'], "required option '--user <email>'"],
    ['a missing argument', ['key', 'revoke'], "missing required argument 'id-or-prefix'"],
    ['an argument too many', ['key', 'list', 'all'], 'too many arguments'],
    [
      'a report on stdout',
      ['import', 'a.csv', '--user', 'a@b.io', '--rejected', '-'],
      'stdout has the result',
    ],
    ['an erasure log on stdout', ['erase', '--again', '--log', '-'], 'stdout has the result'],
    [
      'an unknown role',
      ['user', 'create', '--email', 'a@b.io', '--name', 'A', '--role', 'x'],
      'Allowed choices',
    ],
    ['an update without changes', ['campaign', 'update', 'SPRING'], 'no change given'],
    [
      'a duplicate window that is too long',
      ['campaign', 'update', 'SPRING', '--duplicate-window', '3651d'],
      'at most 3650d, or off',
    ],
    ['a mapping without a campaign', ['landing-page', 'map', 'spring-offer'], '--campaign <code> or --none'],
    [
      'an invalid email address',
      ['user', 'create', '--email', 'a.b.c', '--name', 'A'],
      'not an email address',
    ],
    [
      'an email address that cannot sign in',
      ['user', 'create', '--email', 'admin@localhost', '--name', 'A'],
      'such as ada@example.com',
    ],
    [
      'a password link for an email address that cannot sign in',
      ['user', 'password-link', '--email', 'admin@localhost'],
      'such as ada@example.com',
    ],
    [
      'a token lifetime that is too long',
      ['token', 'create', '--user', 'a@b.io', '--name', 'A', '--lifetime', '366d'],
      '1h to 365d',
    ],
  ])('rejects %s with exit code 2 before it opens the database', async (_, args, hint) => {
    const { code, stdout, stderr } = await runLeads(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(hint);
    expect(stderr).not.toMatch(/^ +at .+:\d+:\d+\)?$/m);
  });
});

describe('the program', () => {
  const tokenCreate = ['token', 'create', '--user', 'a@b.io', '--name', 'A'];
  const unreachableUrl = 'postgresql://leads:hidden-word@127.0.0.1:1/leads';

  test.each([
    ['a missing DATABASE_URL', ['key', 'list'], {}, /^error: DATABASE_URL is required .*\n$/],
    ['a missing DATABASE_URL', ['migrate'], {}, /^error: DATABASE_URL is required .*\n$/],
    [
      'a DATABASE_URL of another database system',
      ['key', 'list'],
      { DATABASE_URL: 'mysql://a:hidden-word@b/c' },
      /^error: DATABASE_URL .*\n$/,
    ],
    [
      'a DATABASE_URL that is not a URL',
      ['key', 'list'],
      { DATABASE_URL: 'postgresql://a:hidden-word#@b/c' },
      /^error: DATABASE_URL cannot be parsed.*\n$/,
    ],
    [
      'a missing JWT_SECRET',
      tokenCreate,
      { DATABASE_URL: unreachableUrl },
      /^error: JWT_SECRET is required .*\n$/,
    ],
    [
      'a short JWT_SECRET',
      tokenCreate,
      { DATABASE_URL: unreachableUrl, JWT_SECRET: 'hidden-word' },
      /^error: JWT_SECRET .*32.*\n$/,
    ],
  ])('reports %s in one line, without secrets', async (_, args, env, expected) => {
    const { code, stdout, stderr } = await runLeads(args, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(expected);
    expect(stderr).not.toContain('hidden-word');
  });

  test('reads secrets from files', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'leads-secrets-'));
    try {
      const [databaseFile, secretFile] = [join(directory, 'database'), join(directory, 'secret')];
      writeFileSync(databaseFile, `${unreachableUrl}\n`);
      const env = { DATABASE_URL_FILE: databaseFile, JWT_SECRET_FILE: secretFile };
      const absent = await runLeads(tokenCreate, env);
      expect(absent.code).toBe(2);
      expect(absent.stderr).toMatch(/^error: JWT_SECRET_FILE cannot be read: no such file .*\n$/);

      writeFileSync(secretFile, jwtSecret);
      const { code, stderr } = await runLeads(tokenCreate, env);
      expect(code).toBe(3);
      expect(stderr).toMatch(/^error: The database at 127\.0\.0\.1:1 cannot be reached.*\n$/);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  test('does not read JWT_SECRET for commands that sign nothing', async () => {
    const { code } = await runLeads(['token', 'list'], { DATABASE_URL: unreachableUrl, JWT_SECRET: 'short' });
    expect(code).toBe(3);
  });

  describe('with an unreachable database', () => {
    let silent: Server;
    let silentPort: number;
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createTestDatabase();
      silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      silentPort = (silent.address() as { port: number }).port;
    });
    afterAll(async () => {
      silent.close();
      await database[Symbol.asyncDispose]();
    });

    const databaseCommands = [
      ['migrate'],
      ['migrate', '--check'],
      ['user', 'create', '--email', 'a@b.io', '--name', 'A'],
      ['key', 'revoke', 'lk_00000000'],
      tokenCreate,
    ];
    test.each(databaseCommands.map((args) => [args.join(' '), args] as const))(
      'exits with 3 for leads %s',
      async (_, args) => {
        const { code, stdout, stderr } = await runLeads(args, {
          DATABASE_URL: unreachableUrl,
          JWT_SECRET: jwtSecret,
        });
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
        expect(stderr).toBe('error: The database at 127.0.0.1:1 cannot be reached: connection refused\n');
      },
    );

    test('reports a silent server, a rejected password and a missing database in one line', async () => {
      const { host, username, password } = new URL(database.url);
      const cases = [
        [
          `postgresql://leads:hidden-word@127.0.0.1:${silentPort}/leads`,
          `127.0.0.1:${silentPort} cannot be reached: it did not answer in time, closed the connection`,
          500,
        ],
        [
          `postgresql://${username}:hidden-word@${host}/leads`,
          `${host} cannot be reached: it rejects the user`,
          30_000,
        ],
        [`postgresql://${username}@${host}/leads`, `${host} cannot be reached: it rejects the user`, 30_000],
        [
          `postgresql://${username}:${password}@${host}/absent`,
          `${host} cannot be reached: the database does not exist`,
          30_000,
        ],
        [
          `postgresql://${username}:${password}@${host}/leads?sslmode=require`,
          `${host} cannot be reached: TLS failed`,
          30_000,
        ],
      ] as const;
      for (const [url, expected, timeoutMs] of cases) {
        const { code, stdout, stderr } = await runLeads(['key', 'list'], {
          DATABASE_URL: url,
          DATABASE_CONNECT_TIMEOUT_MS: `${timeoutMs}`,
        });
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
        expect(stderr).toContain(expected);
        expect(stderr.trim()).not.toContain('\n');
        expect(stderr).not.toContain('hidden-word');
        expect(stderr).not.toContain(password);
      }
      const withoutPassword = { DATABASE_URL: `postgresql://${username}@${host}/leads` };
      expect(await runLeads(['migrate', '--check'], withoutPassword)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('client password must be a string'),
      });
    });

    test('names the reason if the database answers but executes no statement', async () => {
      const unavailable = async (args: readonly string[], url = database.url) => {
        const { code, stdout, stderr } = await runLeads(args, { DATABASE_URL: url });
        expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
        return stderr;
      };
      const is = (reason: string) =>
        `error: The database at ${new URL(database.url).host} is unavailable: ${reason}\n`;

      await using db = open(database.url);
      await using blocker = open(database.url);
      const role = `full_${randomUUID().slice(0, 8)}`;
      await db.prisma.$executeRawUnsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'x' CONNECTION LIMIT 0`);
      const full = new URL(database.url);
      [full.username, full.password] = [role, 'x'];
      expect(await unavailable(['key', 'list'], full.href)).toBe(is('it has no free connection'));
      await db.prisma.$executeRawUnsafe(`DROP ROLE ${role}`);

      for (const [end, reason] of [
        ['pg_cancel_backend', 'a statement took longer than its timeout, or was canceled'],
        ['pg_terminate_backend', 'it is starting or stopping, or has ended the session'],
      ] as const) {
        await blocker.prisma.$transaction(
          async (tx) => {
            await tx.$executeRaw`LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE`;
            const running = unavailable(['campaign', 'list']);
            await expect
              .poll(
                () =>
                  db.prisma.$queryRawUnsafe(
                    `SELECT ${end}(pid) AS done FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name = 'leads-cli'
                       AND wait_event_type = 'Lock'`,
                  ),
                { timeout: 30_000 },
              )
              .toEqual([{ done: true }]);
            expect(await running).toBe(is(reason));
          },
          { timeout: 60_000 },
        );
      }

      const { pathname } = new URL(database.url);
      await db.prisma.$executeRawUnsafe(
        `ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`,
      );
      const create = ['user', 'create', '--email', 'a@b.io', '--name', 'A'];
      expect(await unavailable(create)).toBe(is('it is read-only'));
    });

    test('prints the stack without the password if LEADS_DEBUG is 1', async () => {
      for (const args of [['key', 'list'], ['migrate']]) {
        const { code, stderr } = await runLeads(args, { DATABASE_URL: unreachableUrl, LEADS_DEBUG: '1' });
        expect(code).toBe(3);
        expect(stderr).toMatch(/^ +at /m);
        expect(stderr).not.toContain('hidden-word');
      }
    });
  });
});

describe('leads migrate', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'leads-migrations-'));
    writeFileSync(join(directory, 'migration_lock.toml'), 'provider = "postgresql"\n');
    addMigration('20260101000000_slow', 'SELECT pg_advisory_xact_lock(42); CREATE TABLE slow (id int);');
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  function addMigration(name: string, sql: string): void {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  }

  test('applies all migrations to an empty database, and none in a second run', async () => {
    await using database = await createEmptyDatabase();
    const { leads, json, failureLine } = commandLine(() => database.url);

    expect(await failureLine('key list')).toContain('run `leads migrate`');
    expect(await failureLine('hold run')).toContain('run `leads migrate`');
    const pending = await leads('migrate --check --json');
    expect(pending.code).toBe(1);
    const names = (JSON.parse(pending.stdout) as { pending: string[] }).pending;
    expect(names).toContain('20261121000000_init');
    expect(pending.stderr).toBe(`error: The database lacks ${names.join(', ')}: run \`leads migrate\`\n`);
    expect((await leads('migrate --check')).code).toBe(1);

    const applied = await leads('migrate --json');
    expect({ code: applied.code, ...JSON.parse(applied.stdout) }).toEqual({ code: 0, applied: names });

    expect(await json('migrate')).toEqual({ applied: [] });
    expect(await json('migrate --check')).toEqual({ pending: [], ahead: [] });
    const text = { code: 0, stdout: 'The database is up to date.\n', stderr: '' };
    expect(await leads('migrate')).toEqual(text);
    expect(await leads('migrate --check')).toEqual(text);
  });

  test('prints the warning of Postgres that text is sorted by another version of the locale than in the indexes', async () => {
    await using database = await createEmptyDatabase();
    // What Postgres finds after a restore or an upgrade of the operating system.
    await database.query(`UPDATE pg_database SET datcollversion = '0' WHERE datname = '${database.name}'`);
    const { leads } = commandLine(() => database.url);
    const warning = expect.stringMatching(
      /^Postgres warns: database "\w+" has a collation version mismatch .*version 0.* REFRESH COLLATION VERSION/m,
    );
    expect(await leads('migrate')).toMatchObject({ code: 0, stderr: warning });
    expect(await leads('migrate --check')).toMatchObject({ code: 0, stderr: warning });
  });

  test('prints one line for each migration', async () => {
    await using database = await createEmptyDatabase();
    const { code, stdout } = await commandLine(() => database.url).leads('migrate');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^(Applied \S+\n)+The database is up to date\.\n$/);
  });

  test('applies the migrations once and exits with 0 in each of 3 concurrent runs', async () => {
    await using database = await createEmptyDatabase();
    const env = { DATABASE_URL: database.url };
    const runs = await Promise.all([1, 2, 3].map(() => runLeads(['migrate', '--json'], env)));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    const applied = runs.map(({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied);
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
  });

  test('waits for a migration that is already running', async () => {
    await using database = await createEmptyDatabase();
    // A pool would close its idle connection after 10 s, and with it the lock.
    await using holder = await openAdminClient(database.url);
    await holder.query('SELECT pg_advisory_lock(42)');
    const env = { DATABASE_URL: database.url, LEADS_MIGRATIONS_DIR: directory };
    const first = startLeads(['migrate', '--json'], env);
    await vi.waitFor(() => expect(first.stderr()).toContain('Applying'), 30_000);
    const second = startLeads(['migrate', '--json'], env);
    await vi.waitFor(
      () => expect(second.stderr()).toMatch(/Another migration is running: waiting for it/),
      30_000,
    );

    await holder.query('SELECT pg_advisory_unlock(42)');
    expect(await first.ended).toMatchObject({ code: 0, stdout: '{"applied":["20260101000000_slow"]}\n' });
    expect(await second.ended).toMatchObject({ code: 0, stdout: '{"applied":[]}\n' });
  });

  test('names the migration that fails, and leaves the database unchanged', async () => {
    await using database = await createEmptyDatabase();
    addMigration('20260102000000_broken', 'CREATE TABLE fine (id int);\nCREATE TABLE broken (id nonsense);');
    const env = { DATABASE_URL: database.url, LEADS_MIGRATIONS_DIR: directory };
    const failed = await runLeads(['migrate', '--json'], env);
    expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 1, stdout: '' });
    const errors = failed.stderr.split('\n').filter((line) => line.startsWith('error: '));
    expect(errors).toEqual([expect.stringMatching(/20260102000000_broken failed: .*nonsense/)]);
    expect(failed.stderr).not.toMatch(/^ +at /m);

    const check = await runLeads(['migrate', '--check', '--json'], env);
    expect(JSON.parse(check.stdout)).toEqual({
      pending: ['20260101000000_slow', '20260102000000_broken'],
      ahead: [],
    });
  });

  test('rejects a LEADS_MIGRATIONS_DIR without migrations', async () => {
    const { code, stderr } = await runLeads(['migrate'], {
      DATABASE_URL: 'postgresql://127.0.0.1:1/leads',
      LEADS_MIGRATIONS_DIR: join(directory, 'absent'),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: \S+absent contains no migrations: set LEADS_MIGRATIONS_DIR\n$/);
  });
});

describe('leads db grant', () => {
  const suffix = randomUUID().slice(0, 8);
  const names = [`crm_${suffix}`, `intake_${suffix}`] as const;
  const grantArgs = ['db', 'grant', '--crm-role', names[0], '--intake-role', names[1]];

  test('creates the roles of the services, with a password from a file or a random one that is printed once', async () => {
    await using database = await createTestDatabase();
    const directory = mkdtempSync(join(tmpdir(), 'leads-grant-'));
    const file = join(directory, 'password');
    const env = { DATABASE_URL: database.url };
    try {
      writeFileSync(file, 'of-a-file\n');
      const first = await spawnLeads([...grantArgs, '--json'], { ...env, LEADS_CRM_PASSWORD_FILE: file });
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(first.stdout)).toEqual({
        roles: [
          { service: 'crm', name: names[0], created: true },
          {
            service: 'intake',
            name: names[1],
            created: true,
            password: expect.stringMatching(/^[\w-]{32}$/),
          },
        ],
      });
      const again = await runLeads(grantArgs, env);
      expect(again.stdout).toBe(
        `Updated the privileges of role ${names[0]}.\nUpdated the privileges of role ${names[1]}.\n`,
      );
      const url = new URL(database.url);
      [url.username, url.password] = [names[0], 'of-a-file'];
      const refused = await runLeads(grantArgs, { DATABASE_URL: url.href });
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^error: [^\n]*owns? the tables/),
      });
      // Other commands need the owner, too.
      for (const command of [
        ['quarantine', 'list'],
        ['retention', 'run'],
      ]) {
        expect(
          await runLeads(command, { DATABASE_URL: url.href, ERASURE_SECRET: 'x'.repeat(32) }),
        ).toMatchObject({
          code: 1,
          stderr: 'error: The role of DATABASE_URL lacks a right: use the role that owns the tables\n',
        });
      }
    } finally {
      rmSync(directory, { recursive: true });
      await runAs(database.url, `DROP OWNED BY ${names.join(', ')}; DROP ROLE ${names.join(', ')}`);
    }
  });

  test('exits with 1 and names the settings of the passwords, if these cannot be printed', async () => {
    await using database = await createTestDatabase();
    const roles = [`crm_lost_${suffix}`, `intake_lost_${suffix}`] as const;
    const args = ['db', 'grant', '--crm-role', roles[0], '--intake-role', roles[1]];
    const { child, ended } = startLeads(args, { DATABASE_URL: database.url });
    child.stdout?.destroy();
    try {
      expect(await ended).toMatchObject({
        code: 1,
        stderr:
          'error: The secret is lost: set LEADS_CRM_PASSWORD and LEADS_INTAKE_PASSWORD, and run the command again\n',
      });
    } finally {
      await runAs(database.url, `DROP OWNED BY ${roles.join(', ')}; DROP ROLE ${roles.join(', ')}`);
    }
  });

  test('reports that the database is not migrated', async () => {
    await using database = await createEmptyDatabase();
    const { code, stderr } = await runLeads(grantArgs, { DATABASE_URL: database.url });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('run `leads migrate` first'),
    });
  });
});

describe('leads user and leads campaign', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());
  const { leads, json, failureLine } = commandLine(() => database.url);

  test('create a user with a new workspace and a default campaign', async () => {
    expect(await failureLine('campaign list')).toContain('There is no workspace yet');
    const created = await json('user create --email Ada.Lovelace@Example.com --name Ada');
    expect(created).toEqual({
      user: { id: uuid, email: 'ada.lovelace@example.com', name: 'Ada' },
      workspace: { id: uuid, slug: 'ada-lovelace', name: 'ada-lovelace' },
      role: 'owner',
      workspaceCreated: true,
    });
    expect(await json('campaign list')).toEqual([
      {
        id: uuid,
        code: 'default',
        name: expect.any(String),
        status: 'active',
        isDefault: true,
        createdAt: isoDate,
      },
    ]);
  });

  test('create a workspace with the given name, and a slug made of the name', async () => {
    const bob = await json<{ workspace: unknown }>(
      'user create --email bob@example.com --name Bob --workspace-name',
      'Café Zürich!',
    );
    expect(bob.workspace).toEqual({ id: uuid, slug: 'cafe-zurich', name: 'Café Zürich!' });
    const { stdout } = await leads('user create --email eve@example.com --name Eve --workspace acme');
    expect(stdout).toBe('eve@example.com is owner of the new workspace acme.\n');
  });

  test('reject an existing workspace without --workspace and --role', async () => {
    const mallory = 'user create --email acme@elsewhere.example --name Mallory';
    expect(await failureLine(mallory)).toContain('--workspace acme');
    expect(await failureLine(`${mallory} --role owner`)).toContain('--workspace acme');
    expect(await failureLine(`${mallory} --workspace acme`)).toContain('--role owner|manager|publisher');
    expect(await failureLine(`${mallory} --workspace acme --role manager --workspace-name X`)).toContain(
      '--workspace-name is for a new one',
    );
    await using db = open(database.url);
    expect(await createWorkspaceStore(db).findUser('acme@elsewhere.example')).toBeUndefined();
  });

  test('add a user to a workspace once, in the given role', async () => {
    const joining = 'user create --email bob@example.com --name Bob --workspace acme --role publisher';
    expect(await json(joining)).toMatchObject({
      role: 'publisher',
      workspace: { slug: 'acme' },
      workspaceCreated: false,
    });
    expect(await failureLine(joining)).toContain('bob@example.com is already a member of acme');
  });

  test('keep the name of an existing user, and report it', async () => {
    const { code, stdout, stderr } = await leads(
      'user create --email BOB@example.com --name Robert --workspace third --json',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ user: { name: 'Bob' }, workspaceCreated: true });
    expect(stderr).toBe('User bob@example.com already exists as Bob; the name is unchanged\n');
  });

  test('remove the second factor of a user, its trusted browsers and its sessions, and nothing of a user without one', async () => {
    const { user } = await json<{ user: { id: string; email: string } }>(
      'user create --email factor@example.com --name Factor --workspace acme --role manager',
    );
    const reset = 'user reset-second-factor --email';
    expect(await failureLine(`${reset} absent@example.com`)).toContain(
      'User absent@example.com does not exist',
    );
    await using db = open(database.url);
    const row = { id: randomUUID(), userId: user.id, expiresAt: new Date(Date.now() + 60_000) };
    await db.prisma.twoFactor.create({
      data: { id: row.id, userId: user.id, secret: 'x', backupCodes: 'x' },
    });
    await db.prisma.session.create({ data: { ...row, token: row.id } });
    const { id, expiresAt } = row;
    await db.prisma.verification.create({
      data: { id, expiresAt, value: user.id, identifier: 'trust-device-x' },
    });
    // The user has begun to set up a second factor, and does not have one yet.
    expect(await failureLine(`${reset} ${user.email}`)).toContain('factor@example.com has no second factor');
    expect(
      await db.prisma.user.findUnique({
        where: { id: user.id },
        select: { twoFactors: { select: { id: true } }, sessions: { select: { id: true } } },
      }),
    ).toEqual({ twoFactors: [{ id }], sessions: [{ id }] });
    await db.prisma.user.update({ where: { id: user.id }, data: { twoFactorEnabled: true } });

    expect(await json(`${reset} FACTOR@example.com`)).toEqual({ user });
    expect(
      await db.prisma.user.findUnique({
        where: { id: user.id },
        select: { twoFactorEnabled: true, twoFactors: true, sessions: true },
      }),
    ).toEqual({ twoFactorEnabled: false, twoFactors: [], sessions: [] });
    expect(await db.prisma.verification.findMany({ where: { value: user.id } })).toEqual([]);
    expect(
      await db.prisma.auditEntry.findMany({
        where: { targetId: user.id, action: 'two_factor.disabled' },
        select: { source: true, details: true },
      }),
    ).toEqual([{ source: 'cli', details: { email: user.email, revokeOtherSessions: true } }]);
    expect((await leads(`${reset} ${user.email}`)).code).toBe(1);
  });

  test('create and list the campaigns of a workspace', async () => {
    const acme = '--workspace acme';
    expect(await json(`campaign create ${acme} --code SPRING --name`, 'Spring offer')).toEqual({
      id: uuid,
      code: 'SPRING',
      name: 'Spring offer',
      status: 'active',
      isDefault: false,
      createdAt: isoDate,
    });
    expect(await failureLine(`campaign create ${acme} --code SPRING --name x`)).toContain(
      'A campaign with this code already exists',
    );
    const list = await json<Campaign[]>(`campaign list ${acme}`);
    expect(list.map(({ code }) => code)).toEqual(['default', 'SPRING']);
    expect(await json('campaign list --workspace third')).toHaveLength(1);
    expect(await failureLine('campaign list --workspace absent')).toContain(
      'Workspace absent does not exist',
    );
    expect(await failureLine('campaign list')).toContain(
      '--workspace: acme, ada-lovelace, cafe-zurich, third',
    );
  });

  test('change campaigns, and reject a default campaign that is not active', async () => {
    const update = 'campaign update SPRING --workspace acme';
    const payout = { amount: '12.5', currency: 'EUR' };
    expect(await json(`${update} --payout`, '12.50 EUR')).toMatchObject({ payout });
    expect((await leads('campaign list --workspace acme')).stdout).toContain('12.5 EUR');
    expect(await json(`${update} --payout off`)).not.toHaveProperty('payout');
    expect(await json(`${update} --duplicate-window 30d --status paused --name`, 'New name')).toEqual({
      id: uuid,
      code: 'SPRING',
      name: 'New name',
      status: 'paused',
      isDefault: false,
      duplicateWindowSeconds: 2_592_000,
      createdAt: isoDate,
    });
    expect(await failureLine(`${update} --default`)).toContain('Only an active campaign can be the default');
    const { stdout } = await leads(`${update} --default --status active --duplicate-window off`);
    expect(stdout).toBe('Campaign SPRING (New name) is active, the default of workspace acme.\n');
    expect(await failureLine(`${update} --status archived`)).toContain('make another one the default first');
    expect(await failureLine('campaign update ABSENT --workspace acme --default')).toContain(
      'no campaign ABSENT',
    );
    expect(await json(`campaign update default --workspace acme --default`)).toMatchObject({
      isDefault: true,
    });
    expect(await json('campaign list --workspace acme')).toMatchObject([
      { code: 'default', isDefault: true },
      { code: 'SPRING', isDefault: false, status: 'active' },
    ]);
  });

  test('map, unmap and list landing pages', async () => {
    const acme = '--workspace acme';
    const offer = { id: uuid, name: 'spring offer', createdAt: isoDate };
    expect(await json(`landing-page map ${acme} --campaign SPRING`, 'spring offer')).toEqual({
      ...offer,
      campaignCode: 'SPRING',
    });
    expect(await json(`landing-page map ${acme} --none other`)).toMatchObject({ name: 'other' });
    expect(await json(`landing-page list ${acme} --mapped`)).toEqual([{ ...offer, campaignCode: 'SPRING' }]);
    expect(await json(`landing-page list ${acme} --unmapped`)).toMatchObject([{ name: 'other' }]);
    const { stdout } = await leads(`landing-page map ${acme} --none`, 'spring offer');
    expect(stdout).toBe('Landing page spring offer is mapped to no campaign.\n');
    expect(await failureLine(`landing-page map ${acme} other --campaign ABSENT`)).toContain(
      'no campaign ABSENT',
    );
    const list = await leads(`landing-page list ${acme}`);
    expect(list.stdout).toMatch(/^NAME +CAMPAIGN\nother\n {2}\S+, registered \S+ \S+\nspring offer\n/);
  });

  test('replace the default campaign, also in 2 concurrent commands', async () => {
    const create = (code: string) =>
      runLeads(
        ['campaign', 'create', '--workspace', 'third', '--code', code, '--name', code, '--default', '--json'],
        { DATABASE_URL: database.url },
      );
    expect(JSON.parse((await create('A')).stdout)).toMatchObject({ code: 'A', isDefault: true });
    const both = await whileDefaultIsLocked(() => [create('B'), create('C')]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const list = await json<Campaign[]>('campaign list --workspace third');
    expect(list).toHaveLength(4);
    const defaults = list.filter(({ isDefault }) => isDefault).map(({ code }) => code);
    expect([['B'], ['C']]).toContainEqual(defaults);

    expect(await failureLine('campaign create --workspace third --code A --name A --default')).toContain(
      'exists',
    );
    expect(await json('campaign list --workspace third')).toEqual(list);
  });

  /** Starts commands that change the default campaign, and releases the lock once all of them wait for it. */
  async function whileDefaultIsLocked<Result>(begin: () => Promise<Result>[]): Promise<Result[]> {
    await using holder = open(database.url);
    await using observer = open(database.url);
    const begun = await holder.prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT id FROM campaign WHERE is_default FOR UPDATE`;
        const running = begin();
        for (let waiting = 0; waiting < running.length; ) {
          await sleep(50);
          const [found] = await observer.prisma.$queryRaw<{ waiting: number }[]>`
            SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`;
          waiting = found?.waiting ?? 0;
        }
        return { running };
      },
      { timeout: 60_000 },
    );
    return await Promise.all(begun.running);
  }

  test('print tables of at most 100 columns, also for long names and control characters', async () => {
    const name = `${'long '.repeat(40)}\u202etext`;
    await json('campaign create --workspace third --code', 'L'.repeat(255), '--name', name);
    const { stdout } = await leads('campaign list --workspace third');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(1 + 2 * 5);
    for (const line of lines) {
      expect(line.length).toBeLessThanOrEqual(100);
      expect(line).not.toContain('\u202e');
    }
  });
});

describe('leads key and leads token', () => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = open(database.url);
    await json('user create --email ada@example.com --name Ada --workspace acme');
    const bob = 'user create --email bob@example.com --name Bob';
    await json(`${bob} --workspace acme --role publisher`);
    await json(`${bob} --workspace beta`);
  });
  afterAll(async () => {
    await db[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const { leads, json, failureLine } = commandLine(() => database.url);

  /** Verifies an API key with an empty cache, like a service that has just started. */
  const verify = (apiKey: string) => new CredentialVerifier(createCredentialStore(db)).verifyApiKey(apiKey);
  const verifyToken = async (token: string, principal: Principal) =>
    new CredentialVerifier(createCredentialStore(db)).verifyAccessToken(
      await createAccessTokenCodec(jwtSecret),
      token,
      principal,
    );

  test('create an API key that is valid, and store only its hash', async () => {
    const key = await json<Key>('key create --user ADA@example.com --name Production');
    expect(key).toEqual({
      id: uuid,
      name: 'Production',
      prefix: key.apiKey.slice(0, 11),
      scope: 'full',
      allowedNetworks: [],
      createdAt: isoDate,
      apiKey: expect.stringMatching(/^lk_[0-9A-Za-z]{49}$/),
    });
    expect(await verify(key.apiKey)).toMatchObject({ apiKeyId: key.id, role: 'owner', scope: 'full' });

    const stored = await dump(db);
    expect(stored).toContain(key.id);
    expectNoTrace(stored, key.apiKey);
  });

  test('create an API key with the given expiry, campaign and scope', async () => {
    await json('campaign create --workspace acme --code PAGES --name Pages');
    const key = await json<Key>(
      'key create --user bob@example.com --workspace acme --name Pages --intake-only --default-campaign PAGES --expires-in 90d',
    );
    expect(key).toMatchObject({ scope: 'intake', defaultCampaign: 'PAGES', expiresAt: isoDate });
    expect(Date.parse(key.expiresAt) - Date.parse(key.createdAt)).toBeGreaterThan(90 * 86_400_000 - 1_000);
    expect(Date.parse(key.expiresAt) - Date.parse(key.createdAt)).toBeLessThanOrEqual(90 * 86_400_000);
    const principal = await verify(key.apiKey);
    expect(principal).toMatchObject({ scope: 'intake', role: 'publisher' });
    expect(principal?.defaultCampaignId).toBeDefined();

    expect(await failureLine('key create --user ada@example.com --name x --default-campaign NONE')).toContain(
      'Workspace acme has no campaign NONE',
    );
  });

  test('create an API key with single scopes and networks, and list them', async () => {
    const create = 'key create --user ada@example.com --name Reports';
    const key = await json<Key>(
      `${create} --scope events leads:read --scope events --allow-from 203.0.113.9/24 ::ffff:198.51.100.7 --allow-from 203.0.113.0/24`,
    );
    const limits = {
      scope: ['leads:read', 'events'],
      allowedNetworks: ['203.0.113.0/24', '198.51.100.7'],
    };
    expect(key).toMatchObject(limits);
    expect(await verify(key.apiKey)).toMatchObject({ scope: limits.scope, networks: expect.anything() });
    expect(await json('key list --user ada@example.com')).toContainEqual(
      expect.objectContaining({ id: key.id, ...limits }),
    );
    const { stdout } = await leads('key list --user ada@example.com');
    expect(stdout).toMatch(
      /Reports .*single.*\n.*\n  scope leads:read, events\n  from 203.0.113.0\/24\n  from 198.51.100.7\n/,
    );
    const audit = await dump(db);
    expect(audit).toContain('leads:read, events');

    expect(await json(`${create} --scope full`)).toMatchObject({ scope: 'full' });
    expect(await json(`${create} --scope intake`)).toMatchObject({ scope: 'intake' });
    const rejected: [options: string, message: string][] = [
      ['--scope full events', 'use the scope full without other scopes'],
      ['--scope leads', "'leads' is invalid. Allowed choices are full, intake, leads:read"],
      ['--scope events --intake-only', 'cannot be used with'],
      ['--allow-from 203.0.113.0/33', 'Use an IP address, or a network such as 203.0.113.0/24'],
      [
        `--allow-from ${Array.from({ length: 21 }, (_, i) => `10.0.0.${i}`).join(' ')}`,
        'at most 20 networks',
      ],
    ];
    for (const [options, message] of rejected) {
      const { code, stderr } = await leads(`${create} ${options}`);
      expect([options, code, stderr]).toEqual([options, 2, expect.stringContaining(message)]);
    }
  });

  test('print a secret on a separate line, with the hint that it is shown only once', async () => {
    const key = await leads('key create --user ada@example.com --name', 'By hand');
    expect(key.stdout).toMatch(/\n\n  lk_[0-9A-Za-z]{49}\n\nIt is shown only once/);
    expect(key.stdout.match(/lk_/g)).toHaveLength(1);
    const token = await leads('token create --user ada@example.com --name', 'By hand');
    expect(token.stdout).toMatch(/\n\n  eyJ[\w.-]+\n\nIt is shown only once/);
    expect([key.stderr, token.stderr]).toEqual(['', '']);
  });

  test.each(['key', 'token'])(
    'leads %s create exits with 1 and names the command that revokes, if its secret cannot be printed',
    async (kind) => {
      const args = [kind, 'create', '--user', 'ada@example.com', '--name', 'Lost'];
      const { child, ended } = startLeads(args, { DATABASE_URL: database.url, JWT_SECRET: jwtSecret });
      child.stdout?.destroy();
      const { code, stderr } = await ended;
      expect(code).toBe(1);
      const [, revoke = ''] =
        /^error: The secret is lost: run `leads (\w+ revoke \S+ --workspace acme)`\n$/.exec(stderr) ?? [];
      expect(await json(revoke)).toMatchObject({ name: 'Lost', revokedAt: isoDate });
    },
  );

  test('reject an unknown user, an ambiguous workspace and a workspace without the user', async () => {
    for (const kind of ['key', 'token']) {
      const create = (owner: string) => failureLine(`${kind} create --name x ${owner}`);
      expect(await create('--user absent@example.com')).toContain('User absent@example.com does not exist');
      expect(await create('--user bob@example.com')).toContain('--workspace: acme, beta');
      expect(await create('--user ada@example.com --workspace beta')).toContain('not a member of beta');
      expect(await failureLine(`${kind} list`)).toContain('--workspace: acme, beta');
    }
  });

  test('list API keys by workspace and by user, with their state', async () => {
    const beta = '--workspace beta';
    expect(await leads(`key list ${beta}`)).toMatchObject({ code: 0, stdout: 'No API keys.\n' });

    const bob = `--user bob@example.com ${beta}`;
    const live = await json<Key>(`key create ${bob} --name live`);
    const revoked = await json<Key>(`key create ${bob} --name revoked`);
    const expired = await json<Key>(`key create ${bob} --name expired --expires-in 1s`);
    await json(`key revoke ${revoked.id} ${beta}`);
    // The commands may finish before the key expires after 1 s.
    await sleep(Math.max(0, Date.parse(expired.expiresAt) - Date.now()));
    const list = await json(`key list ${beta}`);
    const { apiKey: _, ...shown } = live;
    expect(list).toEqual([
      expect.objectContaining({ id: expired.id, state: 'expired', expiresAt: expired.expiresAt }),
      expect.objectContaining({ id: revoked.id, state: 'revoked', revokedAt: isoDate }),
      { ...shown, user: 'bob@example.com', state: 'active' },
    ]);
    expect(await json('key list --user ada@example.com')).not.toHaveLength(0);
    expect(await json(`key list ${bob}`)).toHaveLength(3);

    const { stdout } = await leads(`key list ${bob}`);
    expect(stdout).toMatch(/^NAME +USER +PREFIX +SCOPE +EXPIRES \(UTC\) +STATE\n/);
    for (const { id, prefix } of [live, revoked, expired]) {
      expect(stdout).toContain(id);
      expect(stdout).toContain(prefix);
    }
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    for (const { apiKey } of [live, revoked, expired]) expect(stdout).not.toContain(apiKey);
  });

  test('revoke an API key permanently, by its id or its prefix', async () => {
    const acme = '--workspace acme';
    const create = () => json<Key>('key create --user ada@example.com --name', 'To revoke');
    const first = await create();
    const revoked = await json<{ revokedAt: string }>(`key revoke ${first.prefix} ${acme}`);
    expect(revoked).toEqual({ id: first.id, name: 'To revoke', prefix: first.prefix, revokedAt: isoDate });
    expect(await verify(first.apiKey)).toBeUndefined();

    expect((await leads(`key revoke ${first.id} ${acme}`)).stdout).toContain(
      `was already revoked at ${revoked.revokedAt}`,
    );
    const second = await create();
    expect((await leads(`key revoke ${second.id} ${acme}`)).stdout).toContain('within 10 seconds');
    expect(await verify(second.apiKey)).toBeUndefined();
  });

  test('reject the revocation of a key of another workspace, and keep the key valid', async () => {
    const key = await json<Key>('key create --user ada@example.com --name Stays');
    for (const [idOrPrefix, workspace] of [
      [key.id, 'beta'],
      [key.prefix, 'beta'],
      ['lk_00000000', 'acme'],
      ['no-uuid', 'acme'],
      [key.apiKey, 'acme'],
      ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f', 'acme'],
    ]) {
      const line = await failureLine(`key revoke ${idOrPrefix} --workspace ${workspace}`);
      expect(line).toContain(`Workspace ${workspace} has no such API key`);
      expect(line).not.toContain(idOrPrefix);
    }
    expect(await verify(key.apiKey)).toBeDefined();
  });

  test('revoke no key if 2 keys have the prefix, and list their ids', async () => {
    const workspaces = createWorkspaceStore(db);
    const ada = await workspaces.findUser('ada@example.com');
    const [member] = await workspaces.listMemberships(ada?.id ?? '');
    if (member === undefined) throw new Error('The member does not exist');
    const store = createCredentialStore(db);
    const ids = ['019c0a3e-0000-7000-8000-000000000001', '019c0a3e-0000-7000-8000-000000000002'];
    const keys = ids.map((id) => ({ id, ...generateApiKey(), prefix: 'lk_SameSame' }));
    for (const { id, hash, prefix } of keys) {
      const { user, workspace } = member;
      await store.createApiKey({
        id,
        hash,
        prefix,
        userId: user.id,
        workspaceId: workspace.id,
        name: 'Twin',
        scope: 'full',
        allowedOrigins: [],
        allowedNetworks: [],
        createdAt: new Date(),
      });
    }
    const line = await failureLine('key revoke lk_SameSame --workspace acme');
    for (const id of ids) expect(line).toContain(id);
    for (const { apiKey } of keys) expect(await verify(apiKey)).toBeDefined();

    await json(`key revoke ${ids[0]} --workspace acme`);
    expect(await verify(keys[0]?.apiKey ?? '')).toBeUndefined();
    expect(await verify(keys[1]?.apiKey ?? '')).toBeDefined();
  });

  test('create an access token that is valid with a key of the same user, and do not store it', async () => {
    const token = await json<Token>('token create --user ada@example.com --name Production');
    expect(token).toEqual({
      id: uuid,
      name: 'Production',
      createdAt: isoDate,
      expiresAt: isoDate,
      accessToken: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(90 * 86_400_000);

    const ada = await json<Key>('key create --user ada@example.com --name x');
    const bob = await json<Key>('key create --user bob@example.com --workspace acme --name x');
    const [adaPrincipal, bobPrincipal] = [await verify(ada.apiKey), await verify(bob.apiKey)];
    if (adaPrincipal === undefined || bobPrincipal === undefined) throw new Error('A new API key is invalid');
    expect(await verifyToken(token.accessToken, adaPrincipal)).toBe(token.id);
    expect(await verifyToken(token.accessToken, bobPrincipal)).toBeUndefined();

    const stored = await dump(db);
    expect(stored).toContain(token.id);
    for (const part of [token.accessToken, ...token.accessToken.split('.').slice(1)])
      expectNoTrace(stored, part);

    await json(`token revoke ${token.id} --workspace acme`);
    expect(await verifyToken(token.accessToken, adaPrincipal)).toBeUndefined();
  });

  test('list and revoke the access tokens of a workspace', async () => {
    const bob = '--user bob@example.com --workspace beta';
    expect(await leads(`token list ${bob}`)).toMatchObject({ code: 0, stdout: 'No access tokens.\n' });
    const token = await json<Token>(`token create ${bob} --name Short --lifetime 1h`);
    const { accessToken: _, ...shown } = token;
    expect(await json('token list --workspace beta')).toEqual([
      { ...shown, user: 'bob@example.com', state: 'active' },
    ]);

    for (const [id, workspace] of [
      [token.id, 'acme'],
      ['no-uuid', 'beta'],
      [token.accessToken, 'beta'],
    ]) {
      const line = await failureLine(`token revoke ${id} --workspace ${workspace}`);
      expect(line).toContain(`Workspace ${workspace} has no such access token`);
      expect(line).not.toContain(id);
    }

    const first = await leads(`token revoke ${token.id} --workspace beta`);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('within 10 seconds') });
    const again = await leads(`token revoke ${token.id} --workspace beta`);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('was already revoked') });
    const { stdout } = await leads(`token list ${bob}`);
    expect(stdout).toMatch(
      /^NAME +USER +EXPIRES \(UTC\) +STATE\nShort .* revoked\n {2}[0-9a-f-]{36}, created /,
    );
    expect(stdout).not.toContain(token.accessToken);
  });
});
