import dns from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  addTenant,
  asAdmin,
  changeOf,
  createTestDatabase,
  databaseOptions,
  databaseUrl,
  leadOf,
  selection,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import { waitingForLocks } from '../../test/lead-store.ts';
import { startTcpReceiver } from '../../test/receivers.ts';
import { openAdminClient } from '../db-admin/admin-client.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { createCampaignStore } from './campaign-store.prisma.ts';
import { type Database, type DatabaseOptions, openDatabase } from './client.ts';
import { createCredentialStore } from './credential-store.prisma.ts';
import { DatabaseError, isUniqueViolation, translateDatabaseError } from './database-error.ts';
import { Prisma } from './generated/client.ts';
import { createIntakeRouting } from './intake-routing.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';
import { createWorkspaceStore } from './workspace-store.prisma.ts';

let testDatabase: TestDatabase;
let tenant: Tenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  tenant = await addTenant(testDatabase, 'acme');
});
afterAll(() => testDatabase[Symbol.asyncDispose]());

const open = (options: Partial<DatabaseOptions> = {}) =>
  openDatabase({ ...databaseOptions(testDatabase.url), ...options });

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('This should have failed');
    },
    (error: unknown) => error,
  );
}

/** Expects an outage: an error that clients may retry. Its cause is logged, without personal data. */
async function expectUnavailable(work: Promise<unknown>): Promise<DatabaseError> {
  const error = await errorOf(work);
  expect(inspect(error)).toMatch(/unavailable/);
  expect(error).toBeInstanceOf(LeadsError);
  expect((error as LeadsError).code).toBe('unavailable');
  expect((error as LeadsError).message).toBe('Service temporarily unavailable');
  expect((error as LeadsError).cause).toBeInstanceOf(DatabaseError);
  return (error as LeadsError).cause as DatabaseError;
}

async function expectRejected(work: Promise<unknown>, sqlState: string): Promise<DatabaseError> {
  const error = await errorOf(work);
  expect(error).toBeInstanceOf(DatabaseError);
  expect((error as DatabaseError).sqlState).toBe(sqlState);
  expect((error as DatabaseError).message).toContain(sqlState);
  return error as DatabaseError;
}

/** Returns all properties of an error, as the most verbose logger would show them. */
const everything = (error: unknown) => inspect(error, { depth: 20, showHidden: true });

describe('a rejected statement', () => {
  let database: Database;
  beforeAll(() => {
    database = open();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const secrets = { name: 'Secretive Person', phone: '+49 30 123456', address: 'Hidden Lane 7' };

  test('reports 23514 and no value of the row if a check fails', async () => {
    const lead = leadOf(tenant, { ...secrets, email: 'secret@example.com' });
    const error = await expectRejected(createLeadStore(database).insert([lead]), '23514');
    expect(everything(error)).not.toMatch(/Secretive|123456|Hidden|secret@/);
  });

  test('reports 23503 and no value of the row if the campaign does not exist', async () => {
    const lead = leadOf(tenant, { ...secrets, campaignId: lookalikeId });
    const error = await expectRejected(createLeadStore(database).insert([lead]), '23503');
    expect(everything(error)).not.toMatch(/Secretive|123456|Hidden/);
    expect(everything(error)).not.toContain(lookalikeId);
  });

  test('is a unique violation without values of the row if a model query repeats a unique value', async () => {
    const row = { id: lookalikeId, workspaceId: tenant.workspaceId, code: 'default', name: 'Secretive' };
    const error = await expectRejected(database.prisma.campaign.create({ data: row }), '23505');
    expect(isUniqueViolation(error)).toBe(true);
    expect(everything(error)).not.toMatch(/Secretive|default/);
  });

  test('is a unique violation without values of the row if a raw query repeats a unique value', async () => {
    const work = database.prisma.$executeRaw`
      INSERT INTO workspace (id, name, slug) VALUES (${lookalikeId}::uuid, 'Secretive', 'acme')`;
    const error = await expectRejected(work, '23505');
    expect(isUniqueViolation(error)).toBe(true);
    expect(everything(error)).not.toMatch(/Secretive|acme/);
  });

  test('becomes a conflict if it repeats the code of a campaign', async () => {
    const campaigns = createCampaignStore(database);
    const campaign = { workspaceId: tenant.workspaceId, code: 'default', name: 'Again', isDefault: false };
    const error = await errorOf(campaigns.create(campaign));
    expect(error).toMatchObject({ name: 'LeadsError', code: 'conflict' });
  });

  test('reports 22P02 without the text if a text is not a UUID', async () => {
    const error = await expectRejected(
      database.prisma.$queryRaw`SELECT ${'Secretive Person'}::text::uuid`,
      '22P02',
    );
    expect(everything(error)).not.toContain('Secretive');
  });

  test('reports 42601 for a syntax error and 42P01 for a missing table', async () => {
    await expectRejected(database.prisma.$queryRawUnsafe('SELEKT 1'), '42601');
    await expectRejected(database.prisma.$queryRawUnsafe('SELECT * FROM gone'), '42P01');
  });

  test('is not an outage if a column is missing', async () => {
    const own = await createTestDatabase();
    const ownDatabase = openDatabase(databaseOptions(own.url));
    try {
      await own.query(
        'DROP VIEW lead_of_workspace; ALTER TABLE lead DROP COLUMN street; ALTER TABLE api_key RENAME COLUMN hash TO digest',
      );
      const ownTenant = await addTenant(own, 'own');
      const inserting = createLeadStore(ownDatabase).insert([leadOf(ownTenant, secrets)]);
      expect(everything(await expectRejected(inserting, '42703'))).not.toMatch(/Secretive/);
      const error = await errorOf(createCredentialStore(ownDatabase).findApiKey(Buffer.alloc(32)));
      expect(error).toBeInstanceOf(DatabaseError);
    } finally {
      await ownDatabase[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    }
  });

  test('is not an outage and shows no sent value if node-postgres runs it', async () => {
    const secret = 'Secretive Person';
    const bad = await expectRejected(database.select(Prisma.sql`SELECT ${secret}::text::uuid`), '22P02');
    expect(everything(bad)).not.toContain('Secretive');
    await expectRejected(database.select(Prisma.sql`SELEKT 1`), '42601');
    const store = createLeadStore(database);
    const nul = selection(tenant, { filter: { s1: `${secret}\0` } });
    for (const read of [() => store.list(nul, { limit: 1 }), () => store.count(nul)]) {
      expect(everything(await expectRejected(read(), '22021'))).not.toContain('Secretive');
    }
  });

  test('reports 23514 and no value of the row if a change fails a check', async () => {
    const lead = leadOf(tenant);
    const store = createLeadStore(database);
    await store.insert([lead]);
    const work = store.change(tenant.workspaceId, [
      changeOf(lead, { lead: { ...secrets, email: 'secret@example.com' } }),
    ]);
    expect(everything(await expectRejected(work, '23514'))).not.toMatch(/Secretive|123456|Hidden|secret@/);
  });

  test('keeps its connection', async () => {
    const backend = () => database.select<{ pid: number }>(Prisma.sql`SELECT pg_backend_pid() AS pid`);
    const before = await backend();
    await expectRejected(database.select(Prisma.sql`SELECT 1 / 0`), '22012');
    await expectRejected(database.selectTexts(Prisma.sql`SELECT 1 / 0`), '22012');
    expect(await backend()).toEqual(before);
  });

  test('is not an outage if Prisma quotes source code with the words of one', async () => {
    // Prisma quotes the line of the call in its message.
    const update = { where: { id: lookalikeId }, data: { name: 'Connection terminated, Timeout' } };
    const work = database.prisma.campaign.update({ ...update, select: { id: true } }); // Connection terminated, Timeout
    const error = await errorOf(work);
    expect(error).toMatchObject({ name: 'DatabaseError', message: expect.stringContaining('P2025') });
  });

  test('leaves the pool usable', async () => {
    await database.ping();
    expect(await createLeadStore(database).insert([leadOf(tenant)])).toMatchObject([{ result: 'added' }]);
  });
});

const lookalikeId = '01900000-0000-7000-8000-00000000abcd';

describe('an outage is', () => {
  /** Waits until one session of this database waits for a lock. Other databases of the run have the same table ids. */
  const expectLockWait = async (lock: string) => {
    const sql = `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE NOT granted AND datname = current_database() AND ${lock}`;
    await expect.poll(() => testDatabase.query(sql)).toHaveLength(1);
  };

  /** Returns the address of the database, with settings for each session. */
  const withSettings = (settings: Readonly<Record<string, string>>): string => {
    const url = new URL(testDatabase.url);
    const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
    url.searchParams.set('options', options.join(' '));
    return url.href;
  };

  /** Expects that a statement, which changes the tenant's campaign, fails because another session changes it first. */
  const expectSerializationFailure = async (statement: () => Promise<unknown>): Promise<DatabaseError> => {
    await testDatabase.query(`BEGIN; UPDATE campaign SET name = 'other' WHERE id = '${tenant.campaignId}'`);
    const failing = expectUnavailable(statement());
    await expect.poll(() => testDatabase.query(waitingForLocks)).toEqual([{ count: 1 }]);
    await testDatabase.query('COMMIT');
    return failing;
  };

  /** Waits for a response. On a busy machine, one may take longer than the short timeouts of these tests. */
  const expectAvailable = async (database: Database) => {
    await expect.poll(() => database.ping().then(() => 'available', String)).toBe('available');
  };

  test('a statement that takes too long', async () => {
    await using database = open({ statementTimeoutMs: 1_000 });
    const statements = [
      () => database.prisma.$queryRaw`SELECT pg_sleep(60)::text`,
      () => database.select(Prisma.sql`SELECT pg_sleep(60)`),
    ];
    // If Postgres is late by 1 s, the connection is closed before its response.
    for (const run of statements)
      await expect.poll(async () => (await expectUnavailable(run())).sqlState).toBe('57014');
    await expectAvailable(database);
  });

  test('a lock that is not acquired in time, and the lead is not stored', async () => {
    await using database = open({ statementTimeoutMs: 100 });
    const lead = leadOf(tenant, { name: 'Waits' });
    await testDatabase.query('BEGIN; LOCK TABLE lead IN ACCESS EXCLUSIVE MODE');
    try {
      await expectUnavailable(createLeadStore(database).insert([lead]));
    } finally {
      await testDatabase.query('ROLLBACK');
    }
    expect(await testDatabase.query('SELECT id FROM lead WHERE id = $1', [lead.id])).toEqual([]);
  });

  test('a terminated backend, active or idle, and the next query succeeds', async () => {
    await using database = open({ poolSize: 1, applicationName: 'to-be-ended' });
    const outcome = expectUnavailable(database.prisma.$queryRaw`SELECT pg_sleep(60)::text`);
    const end = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
      WHERE application_name = 'to-be-ended' AND query LIKE '%pg_sleep%' AND state = 'active'`;
    await expect.poll(() => testDatabase.query(end)).toEqual([{ ended: true }]);
    await outcome;
    await database.ping();

    const endIdle = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
      WHERE application_name = 'to-be-ended'`;
    expect(await testDatabase.query(endIdle)).toEqual([{ ended: true }]);
    await expectAvailable(database);
  });

  test('a refused connection, in every method of the stores', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const url = new URL(testDatabase.url);
    url.port = String(port);
    await using database = open({ url: url.href });
    await expectUnavailable(database.ping());
    await expectUnavailable(createLeadStore(database).insert([leadOf(tenant)]));
    await expectUnavailable(createLeadStore(database).list(selection(tenant), { limit: 1 }));
    await expectUnavailable(createLeadStore(database).count(selection(tenant)));
    await expectUnavailable(createLeadStore(database).find({ workspaceId: tenant.workspaceId }, [newId()]));
    await expectUnavailable(createLeadStore(database).history(leadOf(tenant), 0, 1));
    await expectUnavailable(createLeadStore(database).change(tenant.workspaceId, [changeOf(leadOf(tenant))]));
    const watched = leadOf(tenant, { phoneE164: '+442079460958' });
    await expectUnavailable(createLeadStore(database).insert([{ ...watched, duplicateWindowSeconds: 60 }]));
    await expectUnavailable(createCredentialStore(database).findApiKey(Buffer.alloc(32)));
    await expectUnavailable(createCampaignStore(database).findByCode(tenant.workspaceId, 'x'));
    const query = { workspaceId: tenant.workspaceId, landingPage: 'x', keyCampaignId: undefined };
    await expectUnavailable(createIntakeRouting(database).findRoutes([query]));
    const { code } = await expectUnavailable(
      createWorkspaceStore(database).addMember({
        email: 'ada@example.io',
        name: 'Ada',
        role: 'owner',
        workspace: { slug: 'acme', name: 'Acme' },
      }),
    );
    expect(code).toBe('ECONNREFUSED');
  });

  test('a refused connection at each address of a host with several', async () => {
    using lookup = vi.spyOn(dns, 'lookup');
    const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
    lookup.mockImplementation(((_host: string, _options: object, done: (...found: unknown[]) => void) =>
      done(null, addresses)) as unknown as typeof dns.lookup);
    await using database = open({ url: 'postgresql://leads:x@two.invalid:1/leads' });
    await expectUnavailable(database.select(Prisma.sql`SELECT 1`));
    await expectUnavailable(database.prisma.$queryRaw`SELECT 1`);
    await expectUnavailable(database.prisma.campaign.count());
    expect(lookup).toHaveBeenCalled();
  });

  test('a missing socket, an unreachable network, and a server without TLS', async () => {
    const { host, username, password } = new URL(testDatabase.url);
    for (const url of [
      `postgresql://leads@/leads?host=${import.meta.dirname}`,
      'postgresql://leads:x@255.255.255.255:5432/leads',
      `postgresql://${username}:${password}@${host}/postgres?sslmode=require`,
    ]) {
      await using database = open({ url });
      await expectUnavailable(database.select(Prisma.sql`SELECT 1`));
      await expectUnavailable(database.prisma.campaign.count());
    }
  });

  test('a URL without the password, and closes the connection, which Postgres would keep for 60 s', async () => {
    const url = new URL(testDatabase.url);
    const { hostname, port } = url;
    await using proxy = await startTcpReceiver((socket) => {
      const upstream = connect(Number(port), hostname).on('error', () => undefined);
      // The end of the connection to Postgres does not end that of the client.
      socket.pipe(upstream).pipe(socket, { end: false });
    });
    Object.assign(url, { host: `127.0.0.1:${proxy.port}`, password: '' });
    await using database = open({ url: url.href });
    expect((await expectUnavailable(database.ping())).sqlState).toBe('28000');
    await expectUnavailable(database.prisma.campaign.count());
    await expect(openAdminClient(url.href)).rejects.toThrow('password');
    expect(proxy.connectionCount()).toBe(3);
    await expect.poll(() => proxy.openCount()).toBe(0);
  });

  test('an unknown host name', async () => {
    await using database = open({ url: 'postgresql://leads:x@does-not-exist.invalid:5432/leads' });
    await expectUnavailable(database.ping());
  });

  test('a database at its connection limit, a read-only database, and a wrong password', async () => {
    const own = await createTestDatabase();
    const role = { name: `role_${own.name.slice(-12)}`, password: 'not-secret' };
    await own.query(`CREATE ROLE ${role.name} LOGIN PASSWORD '${role.password}';
      GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role.name};
      ALTER DATABASE ${own.name} CONNECTION LIMIT 0`);
    const ownTenant = await addTenant(own, 'own');
    const url = databaseUrl(own.name, role);
    try {
      {
        await using database = openDatabase(databaseOptions(url));
        expect((await expectUnavailable(database.ping())).sqlState).toBe('53300');
        await asAdmin(`ALTER DATABASE ${own.name} CONNECTION LIMIT -1`);
        await database.ping();
      }
      await asAdmin(`ALTER DATABASE ${own.name} SET default_transaction_read_only = on`);
      {
        await using database = openDatabase(databaseOptions(url));
        const cause = await expectUnavailable(createLeadStore(database).insert([leadOf(ownTenant)]));
        expect(cause.sqlState).toBe('25006');
      }
      {
        await using database = openDatabase(
          databaseOptions(databaseUrl(own.name, { ...role, password: 'x' })),
        );
        const cause = await expectUnavailable(database.ping());
        expect(everything(cause)).not.toContain(role.password);
      }
    } finally {
      await own[Symbol.asyncDispose]();
      await asAdmin(`DROP ROLE ${role.name}`);
    }
  });

  test('a deadlock, for example with a migration that locks tables in another order', async () => {
    const migration = new pg.Client({ connectionString: testDatabase.url });
    await migration.connect();
    try {
      // With this timeout, Postgres aborts the other session.
      await migration.query("SET deadlock_timeout = '1h'");
      await migration.query('BEGIN');
      await migration.query('LOCK TABLE campaign');
      await using database = open({ statementTimeoutMs: 60_000 });
      const failing = expectUnavailable(createLeadStore(database).insert([leadOf(tenant)]));
      await expectLockWait("relation = 'campaign'::regclass");
      await Promise.all([
        migration.query('LOCK TABLE lead'),
        failing.then(({ sqlState }) => expect(sqlState).toBe('40P01')),
      ]);
    } finally {
      await migration.end();
    }
  });

  test('a serialization failure, as when a replica cancels a statement that conflicts with its log', async () => {
    await using database = open({ poolSize: 1, statementTimeoutMs: 60_000 });
    // The pool replaces its connection after an outage, so the next statement needs the setting again.
    const useSerializable = () =>
      database.select({ text: `SET default_transaction_isolation = 'serializable'`, values: [] });
    const rename = (name: string) =>
      Prisma.sql`UPDATE campaign SET name = ${name} WHERE id = ${tenant.campaignId}::uuid`;
    await useSerializable();
    const byDriver = await expectSerializationFailure(() => database.select(rename('A')));
    await useSerializable();
    const byPrisma = await expectSerializationFailure(() => database.prisma.$executeRaw(rename('B')));
    expect([byDriver.sqlState, byPrisma.sqlState]).toEqual(['40001', '40001']);
  });

  test('a lock or a transaction that takes longer than a timeout of the server', async () => {
    for (const [settings, text, sqlState] of [
      [{ lock_timeout: '100ms' }, 'SELECT pg_advisory_xact_lock(2)::text', '55P03'],
      [{ transaction_timeout: '2s' }, 'SELECT pg_sleep(600)::text', '25P04'],
    ] as const) {
      await using database = open({ url: withSettings(settings), statementTimeoutMs: 60_000 });
      await testDatabase.query('SELECT pg_advisory_lock(2)');
      const byDriver = await expectUnavailable(database.select({ text, values: [] }));
      const byPrisma = await expectUnavailable(database.prisma.$queryRawUnsafe(text));
      await testDatabase.query('SELECT pg_advisory_unlock(2)');
      expect([byDriver.sqlState, byPrisma.sqlState]).toEqual([sqlState, sqlState]);
    }
  });

  test('but not a connection that is idle for longer than the idle timeout of the database', async () => {
    await using database = open({ url: withSettings({ idle_session_timeout: '200ms' }), poolSize: 1 });
    const backend = () => database.select<{ pid: number }>(Prisma.sql`SELECT pg_backend_pid() AS pid`);
    const before = await backend();
    await sleep(1_000);
    expect(await backend()).toEqual(before);
  });

  test('a name server that does not respond', async () => {
    using lookup = vi.spyOn(dns, 'lookup');
    const failure = Object.assign(new Error('getaddrinfo EAI_AGAIN db.invalid'), {
      code: 'EAI_AGAIN',
      errno: -3001,
      syscall: 'getaddrinfo',
    });
    lookup.mockImplementation(((_host: string, _options: object, done: (error: Error) => void) =>
      done(failure)) as unknown as typeof dns.lookup);
    await using database = open({ url: 'postgresql://leads:x@db.invalid:1/leads' });
    await expectUnavailable(database.select(Prisma.sql`SELECT 1`));
    await expectUnavailable(database.prisma.$queryRaw`SELECT 1`);
    await expectUnavailable(database.prisma.campaign.count());
    await expectUnavailable(database.transaction((tx) => tx.campaign.count()));
  });

  test('a pool without a free connection', async () => {
    await using database = open({ poolSize: 1, connectTimeoutMs: 200, statementTimeoutMs: 60_000 });
    await expectAvailable(database);
    await testDatabase.query('SELECT pg_advisory_lock(1)');
    // Prisma's promises are lazy: `then` starts the query.
    const busy = database.prisma.$queryRaw`SELECT pg_advisory_lock(1)::text`.then(() => 'done');
    await expectLockWait("locktype = 'advisory'");
    await expectUnavailable(database.ping());
    await expectUnavailable(database.select(Prisma.sql`SELECT 1`));
    await testDatabase.query('SELECT pg_advisory_unlock(1)');
    expect(await busy).toBe('done');
    await database.ping();
  });

  describe('a network failure', () => {
    let proxy: Server;
    let mode: 'pass' | 'swallow' | 'reset';
    const sockets = new Set<Socket>();

    beforeAll(async () => {
      const { hostname, port } = new URL(testDatabase.url);
      proxy = createServer((inward) => {
        const outward = connect(Number(port), hostname);
        for (const socket of [inward, outward]) {
          sockets.add(socket);
          socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
        }
        inward.on('data', (data) => {
          if (mode === 'pass') outward.write(data);
          if (mode === 'reset') inward.resetAndDestroy();
        });
        outward.on('data', (data) => {
          if (mode === 'pass') inward.write(data);
        });
        inward.on('close', () => outward.destroy());
        outward.on('close', () => inward.destroy());
      }).listen(0, '127.0.0.1');
      await once(proxy, 'listening');
    });
    afterAll(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });
    /**
     * Opens a database behind the proxy. A query without a timeout would wait until the test times out. The timeouts are
     * longer than a query takes on a busy machine.
     */
    const throughProxy = () => {
      const url = new URL(testDatabase.url);
      url.port = String((proxy.address() as AddressInfo).port);
      return open({ url: url.href, poolSize: 2, statementTimeoutMs: 2_000, connectTimeoutMs: 4_000 });
    };

    test('with no response on an open connection, and the next query has a new connection', async () => {
      mode = 'pass';
      await using database = throughProxy();
      await expectAvailable(database);
      mode = 'swallow';
      await expectUnavailable(database.ping());
      await expectUnavailable(database.select(Prisma.sql`SELECT 1`));
      mode = 'pass';
      await expectAvailable(database);
    });

    test('but not a connection that is idle for longer', async () => {
      mode = 'pass';
      await using database = throughProxy();
      const backend = () => database.select<{ pid: number }>(Prisma.sql`SELECT pg_backend_pid() AS pid`);
      await expectAvailable(database);
      const before = await backend();
      await sleep(4_500);
      expect(await backend()).toEqual(before);
    });

    test('with no response to a new connection', async () => {
      mode = 'swallow';
      await using database = throughProxy();
      await expectUnavailable(database.ping());
      mode = 'pass';
      await expectAvailable(database);
    });

    test('that resets the connection', async () => {
      mode = 'pass';
      await using database = throughProxy();
      await expectAvailable(database);
      mode = 'reset';
      await expectUnavailable(database.ping());
      await expectUnavailable(database.select(Prisma.sql`SELECT 1`));
      mode = 'pass';
      await expectAvailable(database);
    });
  });
});

describe('translateDatabaseError', () => {
  test('returns a translated error unchanged', () => {
    const rejection = new DatabaseError('23505', 'P2002');
    const outage = new LeadsError('unavailable');
    expect(translateDatabaseError(rejection)).toBe(rejection);
    expect(translateDatabaseError(outage)).toBe(outage);
  });

  test('converts any other thrown value to a DatabaseError without its content', () => {
    for (const thrown of [new Error('Ada Lovelace'), 'Ada Lovelace', undefined, null, { code: 'X' }]) {
      const error = translateDatabaseError(thrown);
      expect(error).toBeInstanceOf(DatabaseError);
      expect(everything(error)).not.toContain('Ada');
    }
  });
});
