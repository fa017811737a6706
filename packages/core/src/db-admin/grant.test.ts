import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addTenant,
  asAdmin,
  createEmptyDatabase,
  createTestDatabase,
  databaseUrl,
  migrationsDir,
  type TestDatabase,
} from '../../test/database.ts';
import { newId } from '../uuid.ts';
import { effectiveRights, GrantError, grantRoles } from './grant.ts';
import type { LockRetryPolicy } from './lock-retry.ts';
import { migrate } from './migrate.ts';
import {
  functionRights,
  type Service,
  sharedFunctions,
  type TableRights,
  tableRights,
} from './service-rights.ts';

/** Makes role names unique, because all databases of a server share its roles. */
const suffix = newId().replaceAll('-', '').slice(-20);
const names = { crm: `crm_${suffix}`, intake: `intake_${suffix}` };
const services = ['crm', 'intake'] as const;

let database: TestDatabase;

const grant = (
  passwords: Partial<Record<Service, string>> = {},
  url = database.url,
  roles: Record<Service, string> = names,
  lockRetry?: LockRetryPolicy,
) =>
  grantRoles({
    databaseUrl: url,
    ...(lockRetry !== undefined && { lockRetry }),
    statementTimeoutMs: 60_000,
    roles: {
      crm: { name: roles.crm, password: passwords.crm },
      intake: { name: roles.intake, password: passwords.intake },
    },
  });

async function connectAs(name: string, password: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl(database.name, { name, password }) });
  client.on('error', () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

beforeAll(async () => {
  database = await createTestDatabase();
  await grant({ crm: 'crm-secret', intake: 'intake-secret' });
});

afterAll(async () => {
  // The permissions of the roles go with the database.
  await database[Symbol.asyncDispose]();
  await asAdmin(`DROP ROLE ${names.crm}, ${names.intake}`);
});

test('service-rights.ts has an entry for every table and every SECURITY DEFINER function', async () => {
  const tables = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
  );
  expect(Object.keys(tableRights).toSorted()).toEqual(tables.map(({ name }) => name).toSorted());

  const functions = await database.query<{
    name: string;
    isTrigger: boolean;
    settings: string[] | null;
    isPublic: boolean;
  }>(
    `SELECT proname AS name, prorettype = 'trigger'::regtype AS "isTrigger", proconfig AS settings,
       EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0) AS "isPublic"
     FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
  );
  const called = functions.filter(({ isTrigger }) => !isTrigger).map(({ name }) => name);
  expect(Object.keys(functionRights).toSorted()).toEqual(called.toSorted());
  for (const { name, settings, isPublic } of functions) {
    // Without a fixed search path, a caller could make the function use other tables.
    expect([name, settings]).toEqual([name, expect.arrayContaining(['search_path=public, pg_temp'])]);
    expect([name, isPublic]).toEqual([name, false]);
  }
});

/** A trigger that writes to another table needs rights that the acting role may lack. */
test('every trigger function that uses tables is SECURITY DEFINER', async () => {
  const others = await database.query<{ name: string }>(
    `SELECT DISTINCT proname AS name FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE NOT tgisinternal AND NOT prosecdef AND prosrc ~* '(from|into|update|perform)\\s'`,
  );
  // These functions must see the role that deletes rows. A SECURITY DEFINER function would see its owner instead.
  expect(others).toEqual([{ name: 'refuse_change_of_audit_log' }, { name: 'refuse_change_of_history' }]);
});

test.each(services)('the role of %s has exactly the rights of service-rights.ts', async (service) => {
  const columns = await database.query<{ table: string; column: string }>(
    `SELECT relname AS table, attname AS column FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relname = ANY($1) AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped`,
    [Object.keys(tableRights)],
  );
  const expected = Object.entries(tableRights).flatMap(([table, of]) => {
    const rights: TableRights = of[service] ?? {};
    const all = columns.filter((each) => each.table === table).map(({ column }) => column);
    const each = (['select', 'insert', 'update'] as const).flatMap((right) => {
      const given = rights[right] ?? [];
      return (given === 'all' ? all : given).map((column) => `${right} ${table}.${column}`);
    });
    if (rights.delete === true) each.push(`delete ${table}`);
    return each;
  });
  const found = (await effectiveRights(await database.connect(), names[service])).map(
    ({ right, table, column }) => `${right} ${table}${column === null ? '' : `.${column}`}`,
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
  for (const [name, callers] of Object.entries(functionRights)) {
    const [row] = await database.query<{ may: boolean }>(
      'SELECT has_function_privilege($1, oid, $2) AS may FROM pg_proc WHERE proname = $3',
      [names[service], 'EXECUTE', name],
    );
    expect([name, row?.may]).toEqual([name, callers.includes(service)]);
  }
});

test('grantRoles revokes other rights of a role, and restores revoked ones', async () => {
  await using intake = await connectAs(names.intake, 'intake-secret');
  const mayRead = () =>
    intake.query('SELECT name FROM lead').then(
      () => true,
      () => false,
    );
  await database.query(`
    GRANT ALL ON ALL TABLES IN SCHEMA public TO ${names.intake};
    GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${names.intake};
    GRANT SELECT (name), UPDATE (name) ON lead TO ${names.intake};
    GRANT CREATE ON SCHEMA public TO PUBLIC;
    REVOKE ALL ON campaign FROM ${names.intake}`);
  expect(await mayRead()).toBe(true);
  expect(await grant()).toEqual([
    { service: 'crm', name: names.crm, created: false },
    { service: 'intake', name: names.intake, created: false },
  ]);
  expect(await mayRead()).toBe(false);
  await intake.query('SELECT id, status FROM campaign');
  await expect(intake.query('CREATE TABLE mine ()')).rejects.toMatchObject({ code: '42501' });
});

test.each([
  [
    'a right that PUBLIC has',
    `GRANT SELECT ON session TO PUBLIC`,
    `REVOKE SELECT ON session FROM PUBLIC`,
    /select session/,
  ],
  [
    'a role that is a member of the owner of the tables',
    `GRANT $owner TO $role`,
    `REVOKE $owner FROM $role`,
    /must not own the tables/,
  ],
  [
    'a role that bypasses row-level security',
    `ALTER ROLE $role BYPASSRLS`,
    `ALTER ROLE $role NOBYPASSRLS`,
    /row-level security/,
  ],
  [
    'a right on a sequence',
    `GRANT USAGE ON lead_outbox_id_seq TO PUBLIC`,
    `REVOKE ALL ON lead_outbox_id_seq FROM PUBLIC`,
    /sequence lead_outbox/,
  ],
])('grantRoles rejects %s, and changes nothing', async (_, grantSql, revokeSql, message) => {
  const owner = new URL(database.url).username;
  const of = (sql: string) => sql.replace('$role', names.intake).replace('$owner', owner);
  await database.query(`${of(grantSql)}; REVOKE SELECT ON session FROM ${names.crm}`);
  try {
    await expect(grant()).rejects.toThrow(GrantError);
    await expect(grant()).rejects.toThrow(message);
    const [row] = await database.query(`SELECT has_table_privilege($1, 'session', 'DELETE') AS may`, [
      names.crm,
    ]);
    expect(row).toEqual({ may: true });
  } finally {
    await database.query(of(revokeSql));
    await grant();
  }
});

test('the roles may run every function of their statements, also if the database excludes PUBLIC from new functions by default', async () => {
  await using own = await createTestDatabase();
  // Default privileges that exclude PUBLIC have the same effect. The template of the tests was migrated without them.
  await own.query('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC');
  await grant({}, own.url);
  // Functions of extensions serve indexes, and Postgres checks no right on those and on functions of triggers.
  const functions = await own.query<{ name: string; callers: string[] }>(
    `SELECT proname AS name, ARRAY(
       SELECT role FROM unnest($1::text[]) AS role WHERE has_function_privilege(role, pg_proc.oid, 'EXECUTE')
     ) AS callers
     FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND NOT prosecdef AND prorettype <> 'trigger'::regtype
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
     ORDER BY name`,
    [services.map((service) => names[service])],
  );
  expect(functions).toContainEqual({ name: 'erase_leads', callers: [] });
  expect(functions.filter(({ name }) => name !== 'erase_leads')).toEqual(
    sharedFunctions.map((name) => ({ name, callers: services.map((service) => names[service]) })),
  );
});

test('grantRoles gives the roles the isolation that the services need, whatever the database has by default', async () => {
  await database.query(`ALTER DATABASE ${database.name} SET default_transaction_isolation = 'serializable'`);
  try {
    await grant({ crm: 'crm-secret' });
    await using crm = await connectAs(names.crm, 'crm-secret');
    const { rows } = await crm.query('SHOW default_transaction_isolation');
    expect(rows).toEqual([{ default_transaction_isolation: 'read committed' }]);
  } finally {
    await database.query(`ALTER DATABASE ${database.name} RESET default_transaction_isolation`);
  }
});

test('grantRoles returns the random password of a new role once, and a given password replaces it', async () => {
  const roles = { crm: `new_${names.crm}`, intake: `new_${names.intake}` };
  try {
    const [crm, intake] = await grant({ intake: 'given' }, database.url, roles);
    expect(crm).toMatchObject({ service: 'crm', name: roles.crm, created: true });
    expect(intake).toEqual({ service: 'intake', name: roles.intake, created: true, password: undefined });
    await (await connectAs(roles.crm, crm?.password ?? ''))[Symbol.asyncDispose]();
    await (await connectAs(roles.intake, 'given'))[Symbol.asyncDispose]();
    await grant({ crm: 'another' }, database.url, roles);
    await expect(connectAs(roles.crm, crm?.password ?? '')).rejects.toMatchObject({ code: '28P01' });
    await using again = await connectAs(roles.crm, 'another');
    const { rows } = await again.query(`SELECT current_setting('statement_timeout') AS bound`);
    expect(rows).toEqual([{ bound: '1min' }]);
  } finally {
    await database.query(
      `DROP OWNED BY ${roles.crm}, ${roles.intake}; DROP ROLE ${roles.crm}, ${roles.intake}`,
    );
  }
});

test('grantRoles gives up the wait for a table that a session reads, so that others can read it, and tries again', async () => {
  const roles = { crm: `wait_${names.crm}`, intake: `wait_${names.intake}` };
  const reader = await database.connect();
  await reader.query('BEGIN; SELECT FROM lead LIMIT 1');
  await using other = await connectAs(names.crm, 'crm-secret');
  try {
    const once = { timeoutMs: 100, pauseMs: 0, maxAttempts: 1 };
    await expect(grant({}, database.url, roles, once)).rejects.toThrow(/locked the tables: try again later/);
    const granting = grant({}, database.url, roles, { timeoutMs: 100, pauseMs: 100, maxAttempts: 10_000 });
    // Without a handler, an early failure would be an unhandled rejection.
    granting.catch(() => undefined);
    await expect
      .poll(
        () =>
          database.query(
            `SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database
             WHERE datname = current_database() AND relation = 'lead'::regclass AND NOT granted`,
          ),
        { interval: 10, timeout: 60_000 },
      )
      .toHaveLength(1);
    await other.query('SELECT FROM lead LIMIT 1');
    await reader.query('COMMIT');
    expect(await granting).toMatchObject([{ created: true }, { created: true }]);
  } finally {
    await reader.query('ROLLBACK');
  }
  await database.query(
    `DROP OWNED BY ${roles.crm}, ${roles.intake}; DROP ROLE ${roles.crm}, ${roles.intake}`,
  );
});

test('grantRoles runs as the owner of the tables, and its error names a missing migration or right', async () => {
  const owner = `owner_${suffix}`;
  const roles = { crm: `own_${names.crm}`, intake: `own_${names.intake}` };
  await asAdmin(`CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'secret'`);
  try {
    await using own = await createEmptyDatabase();
    const url = databaseUrl(own.name, { name: owner, password: 'secret' });
    await expect(grant({}, url, roles)).rejects.toThrow(/leads migrate/);
    await asAdmin(`ALTER DATABASE ${own.name} OWNER TO ${owner}`);
    await migrate({ databaseUrl: url, migrationsDir });
    await grant({}, url, roles);
    await grant({}, url, roles);
    await asAdmin(`ALTER ROLE ${owner} NOCREATEROLE`);
    await grant({}, url, roles);
    await expect(grant({}, url, { ...roles, crm: `more_${suffix}` })).rejects.toThrow(/DATABASE_URL/);
    await addTenant(own, 'rows');
  } finally {
    await asAdmin(`DROP ROLE IF EXISTS ${roles.crm}, ${roles.intake}, ${owner}`);
  }
});

test('grantRoles grants roles that an administrator created, and returns the settings that only the administrator can set', async () => {
  const owner = `plain_${suffix}`;
  const roles = { crm: `given_${names.crm}`, intake: `given_${names.intake}` };
  await asAdmin(
    `CREATE ROLE ${owner} LOGIN PASSWORD 'secret'; CREATE ROLE ${roles.crm} LOGIN; CREATE ROLE ${roles.intake} LOGIN`,
  );
  try {
    await using own = await createEmptyDatabase();
    await asAdmin(`ALTER DATABASE ${own.name} OWNER TO ${owner}`);
    const url = databaseUrl(own.name, { name: owner, password: 'secret' });
    await migrate({ databaseUrl: url, migrationsDir });
    const granted = await grant({}, url, roles);
    expect(granted).toMatchObject(services.map((service) => ({ service, created: false })));
    const found = await effectiveRights(await own.connect(), roles.intake);
    expect(found).toContainEqual({ right: 'insert', table: 'lead', column: 'name' });
    const refused = granted.flatMap(({ refusedSettings = [] }) => refusedSettings);
    expect(refused).toContain(`ALTER ROLE "${roles.crm}" SET statement_timeout = '60000ms'`);
    await asAdmin(refused.join(';'));
    expect((await grant({}, url, roles)).map(({ refusedSettings }) => refusedSettings)).toEqual([
      undefined,
      undefined,
    ]);
  } finally {
    await asAdmin(`DROP ROLE IF EXISTS ${roles.crm}, ${roles.intake}, ${owner}`);
  }
});
