import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { advisoryLocks } from '../db/advisory-locks.ts';
import { openAdminClient } from './admin-client.ts';
import { defaultLockRetryPolicy, isLockConflict, type LockRetryPolicy } from './lock-retry.ts';
import { scramVerifier } from './scram.ts';
import {
  functionRights,
  rowRights,
  type Service,
  sharedFunctions,
  type TableRights,
  tableRights,
} from './service-rights.ts';

/** The error of a role that cannot have exactly its rights. The database is unchanged. */
export class GrantError extends Error {
  override readonly name = 'GrantError';
}

/** The role of a service and its password. */
export interface RoleToGrant {
  readonly name: string;
  /** Printable ASCII. If absent, an existing role keeps its password and a new role gets a random one. */
  readonly password?: string | undefined;
}

/** A role after `leads db grant`. */
export interface GrantedRole {
  readonly service: Service;
  readonly name: string;
  readonly created: boolean;
  /** The random password of a new role. It is not stored. */
  readonly password?: string | undefined;
  /** The statements of settings that the owner of the tables may not give the role. Absent if it has them all. */
  readonly refusedSettings?: readonly string[];
}

interface GrantOptions {
  readonly databaseUrl: string;
  readonly roles: Readonly<Record<Service, RoleToGrant>>;
  readonly statementTimeoutMs: number;
  readonly lockRetry?: LockRetryPolicy;
}

const services: readonly Service[] = ['crm', 'intake'];

/**
 * Creates the missing roles of the services, and gives them exactly the rights of `service-rights.ts`: other rights are
 * revoked. If anything fails, nothing changes. An attempt that cannot lock a table is repeated as a whole, so that the
 * services wait only shortly for the tables that it has locked.
 *
 * @param options.databaseUrl connects as the owner of the tables, which may create the missing roles.
 * @param options.statementTimeoutMs the statement timeout of connections that do not set one.
 * @throws GrantError, or the error of node-postgres.
 */
export async function grantRoles(options: GrantOptions): Promise<GrantedRole[]> {
  const { roles, lockRetry = defaultLockRetryPolicy } = options;
  if (roles.crm.name === roles.intake.name)
    throw new GrantError('The services need different roles: give each its own name');
  await using client = await openAdminClient(options.databaseUrl);
  for (let attempt = 1; ; attempt++) {
    try {
      return await grantInTransaction(client, options, lockRetry.timeoutMs);
    } catch (error) {
      if (!isLockConflict(error) || attempt >= lockRetry.maxAttempts) throw explained(error);
      await sleep(lockRetry.pauseMs);
    }
  }
}

async function grantInTransaction(
  client: pg.Client,
  { roles, statementTimeoutMs }: GrantOptions,
  lockTimeoutMs: number,
): Promise<GrantedRole[]> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.grant]);
    const schema = await findSchema(client);
    const granted: GrantedRole[] = [];
    for (const service of services) {
      const role = await ensureRole(client, service, roles[service]);
      const refusedSettings = await setSettings(client, role.name, statementTimeoutMs);
      granted.push(refusedSettings.length === 0 ? role : { ...role, refusedSettings });
      await grantSchema(client, roles[service].name, schema);
      await grantTables(client, service, roles[service].name);
      await grantRows(client, service, roles[service].name);
      await rejectExcessRights(client, service, roles[service].name);
    }
    await client.query('COMMIT');
    return granted;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Returns the name of the current schema.
 *
 * @throws GrantError if the schema lacks tables of this release.
 */
async function findSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ schema: string | null; missing: string[] }>(
    `SELECT current_schema() AS schema, ARRAY(
       SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NULL
     ) AS missing`,
    [Object.keys(tableRights)],
  );
  const { schema = null, missing = [] } = rows[0] ?? {};
  if (schema === null || missing.length > 0) {
    throw new GrantError(`The database lacks the tables ${missing.join(', ')}: run \`leads migrate\` first`);
  }
  return schema;
}

async function ensureRole(
  client: pg.Client,
  service: Service,
  { name, password }: RoleToGrant,
): Promise<GrantedRole> {
  const { rows } = await client.query<{ isPrivileged: boolean; isOwner: boolean }>(
    `SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolreplication AS "isPrivileged", EXISTS (
       SELECT FROM pg_class WHERE oid = to_regclass('lead') AND pg_has_role($1, relowner, 'MEMBER')
     ) AS "isOwner"
     FROM pg_roles WHERE rolname = $1`,
    [name],
  );
  const [found] = rows;
  const role = pg.escapeIdentifier(name);
  const withPassword = (text: string) => `LOGIN PASSWORD ${pg.escapeLiteral(scramVerifier(text))}`;
  if (found === undefined) {
    const random = password === undefined ? randomBytes(24).toString('base64url') : undefined;
    await client.query(`CREATE ROLE ${role} ${withPassword(password ?? random ?? '')}`);
    return { service, name, created: true, password: random };
  }
  if (found.isPrivileged) {
    throw new GrantError(
      `${name} must not be a superuser, bypass row-level security, create roles or replicate`,
    );
  }
  if (found.isOwner) throw new GrantError(`${name} must not own the tables or be a member of their owner`);
  if (password !== undefined) await client.query(`ALTER ROLE ${role} ${withPassword(password)}`);
  return { service, name, created: false };
}

/**
 * Sets the settings of a role. Connections set the same when they start, but a pooler may drop them. So a role that an
 * administrator created, and that the owner of the tables may not change, can also do without.
 *
 * @returns the statements that only an administrator may run.
 */
async function setSettings(client: pg.Client, name: string, statementTimeoutMs: number): Promise<string[]> {
  const wanted = {
    statement_timeout: `${statementTimeoutMs}ms`,
    idle_in_transaction_session_timeout: `${statementTimeoutMs}ms`,
    default_transaction_isolation: 'read committed',
  };
  const { rows } = await client.query<{ settings: string[] }>(
    `SELECT setconfig AS settings FROM pg_db_role_setting
     WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = $1) AND setdatabase = 0`,
    [name],
  );
  const present = rows[0]?.settings ?? [];
  const statements = Object.entries(wanted)
    .filter(([setting, value]) => !present.includes(`${setting}=${value}`))
    .map(([setting, value]) => `ALTER ROLE ${pg.escapeIdentifier(name)} SET ${setting} = '${value}'`);
  if (statements.length === 0) return [];
  await client.query('SAVEPOINT settings');
  try {
    await client.query(statements.join(';'));
    return [];
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT settings');
    return statements;
  }
}

/** Grants the use of the schema, and revokes the right to create objects in it. */
async function grantSchema(client: pg.Client, name: string, schema: string): Promise<void> {
  const [role, inSchema] = [pg.escapeIdentifier(name), pg.escapeIdentifier(schema)];
  const may = async () => {
    const { rows } = await client.query<{
      connect: boolean;
      use: boolean;
      create: boolean;
      database: string;
    }>(
      `SELECT has_database_privilege($1, current_database(), 'CONNECT') AS connect,
         has_schema_privilege($1, $2, 'USAGE') AS use, has_schema_privilege($1, $2, 'CREATE') AS create,
         current_database() AS database`,
      [name, schema],
    );
    return rows[0];
  };
  const before = await may();
  if (before?.connect === false) {
    await client.query(`GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(before.database)} TO ${role}`);
  }
  if (before?.use === false) await client.query(`GRANT USAGE ON SCHEMA ${inSchema} TO ${role}`);
  if (before?.create !== true) return;
  // The default since Postgres 15. A role that can create functions in the schema could replace those of other roles.
  await client.query(`REVOKE CREATE ON SCHEMA ${inSchema} FROM PUBLIC, ${role}`);
  if ((await may())?.create !== false) {
    throw new GrantError(
      `${name} may create objects in the schema ${schema}: its owner must run REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`,
    );
  }
}

async function grantTables(client: pg.Client, service: Service, name: string): Promise<void> {
  const role = pg.escapeIdentifier(name);
  const statements: string[] = [];
  for (const [table, rights] of Object.entries(tableRights)) {
    const quoted = pg.escapeIdentifier(table);
    statements.push(`REVOKE ALL ON TABLE ${quoted} FROM ${role}`);
    const clauses = clausesOf(rights[service] ?? {});
    if (clauses.length > 0) statements.push(`GRANT ${clauses.join(', ')} ON TABLE ${quoted} TO ${role}`);
  }
  for (const sequence of await sequencesOf(client)) {
    statements.push(`REVOKE ALL ON SEQUENCE ${sequence} FROM ${role}`);
  }
  for (const [called, callers] of Object.entries(functionRights)) {
    const quoted = pg.escapeIdentifier(called);
    statements.push(`REVOKE ALL ON FUNCTION ${quoted} FROM ${role}`);
    if (callers.includes(service)) statements.push(`GRANT EXECUTE ON FUNCTION ${quoted} TO ${role}`);
  }
  for (const called of sharedFunctions) {
    statements.push(`GRANT EXECUTE ON FUNCTION ${pg.escapeIdentifier(called)} TO ${role}`);
  }
  await client.query(statements.join(';\n'));
}

/**
 * Enables row-level security and creates the policies of a role. Both lock the table exclusively for a moment, so a policy
 * that exists is left alone. The comment of a policy holds its definition.
 */
async function grantRows(client: pg.Client, service: Service, name: string): Promise<void> {
  for (const [table, of] of Object.entries(rowRights)) {
    const quoted = pg.escapeIdentifier(table);
    const { rows } = await client.query<{ isSecured: boolean }>(
      'SELECT relrowsecurity AS "isSecured" FROM pg_class WHERE oid = to_regclass(quote_ident($1))',
      [table],
    );
    if (rows[0]?.isSecured !== true) await client.query(`ALTER TABLE ${quoted} ENABLE ROW LEVEL SECURITY`);

    const wanted = new Map(
      of[service]?.map(({ to, rows: condition }) => [
        `${name}_${to}`,
        `FOR ${to} TO ${pg.escapeIdentifier(name)} ${to === 'insert' ? 'WITH CHECK' : 'USING'} (${condition})`,
      ]),
    );
    const { rows: present } = await client.query<{ policy: string; definition: string | null }>(
      `SELECT polname AS policy, obj_description(oid, 'pg_policy') AS definition FROM pg_policy
       WHERE polrelid = to_regclass(quote_ident($1))
         AND polroles && ARRAY[0, (SELECT oid FROM pg_roles WHERE rolname = $2)]::oid[]`,
      [table, name],
    );
    for (const { policy, definition } of present) {
      if (wanted.get(policy) === definition) wanted.delete(policy);
      else await client.query(`DROP POLICY ${pg.escapeIdentifier(policy)} ON ${quoted}`);
    }
    for (const [policy, definition] of wanted) {
      const named = `POLICY ${pg.escapeIdentifier(policy)} ON ${quoted}`;
      await client.query(
        `CREATE ${named} ${definition}; COMMENT ON ${named} IS ${pg.escapeLiteral(definition)}`,
      );
    }
  }
}

/** Returns the sequences of the tables' ids, as SQL names them. */
async function sequencesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT sequence AS name
     FROM unnest($1::text[]) AS relation
       JOIN pg_attribute ON attrelid = to_regclass(quote_ident(relation)) AND attnum > 0 AND NOT attisdropped,
       pg_get_serial_sequence(quote_ident(relation), attname) AS sequence
     WHERE sequence IS NOT NULL`,
    [Object.keys(tableRights)],
  );
  return rows.map(({ name }) => name);
}

const ofColumns = ['select', 'insert', 'update'] as const;

function clausesOf(rights: TableRights): string[] {
  const clauses: string[] = ofColumns.flatMap((right) => {
    const columns = rights[right];
    if (columns === undefined) return [];
    return columns === 'all'
      ? right
      : `${right} (${columns.map((column) => pg.escapeIdentifier(column)).join(', ')})`;
  });
  return rights.delete === true ? [...clauses, 'delete'] : clauses;
}

/**
 * Checks that the role has no rights from elsewhere, such as PUBLIC or a role that it is a member of.
 *
 * @throws GrantError if it has.
 */
async function rejectExcessRights(client: pg.Client, service: Service, name: string): Promise<void> {
  const excess = (await effectiveRights(client, name)).filter(({ right, table, column }) => {
    const given = tableRights[table]?.[service] ?? {};
    if (right === 'delete') return given.delete !== true;
    if (right !== 'select' && right !== 'insert' && right !== 'update') return true;
    return given[right] !== 'all' && given[right]?.includes(column ?? '') !== true;
  });
  if (excess.length === 0) return;
  const named = new Set(excess.map(({ right, table }) => `${right} ${table}`));
  throw new GrantError(
    `${name} has excess rights (${[...named].slice(0, 10).join(', ')}): revoke them from PUBLIC, from the roles that it is a member of, or as their grantor`,
  );
}

interface Right {
  readonly right: string;
  readonly table: string;
  /** Null for a right on the whole table. */
  readonly column: string | null;
}

/**
 * Returns the rights of a role on the tables of this release and their sequences, including inherited rights.
 *
 * @param client a connection to the database.
 */
export async function effectiveRights(client: pg.Client, role: string): Promise<Right[]> {
  const { rows } = await client.query<Right>(
    `WITH tables AS (
       SELECT oid, relname FROM pg_class WHERE oid IN (SELECT to_regclass(quote_ident(name)) FROM unnest($2::text[]) AS name)
     )
     SELECT lower(privilege) AS right, relname AS table, attname AS column
     FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped,
       unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS privilege
     WHERE has_column_privilege($1, tables.oid, attnum, privilege)
     UNION ALL
     SELECT lower(privilege), relname, NULL
     FROM tables, unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS privilege
     WHERE has_table_privilege($1, tables.oid, privilege)
     UNION ALL
     SELECT 'sequence', relname, attname
     FROM tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped,
       pg_get_serial_sequence(quote_ident(relname), attname) AS sequence
     WHERE has_sequence_privilege($1, sequence, 'USAGE, SELECT, UPDATE')`,
    [role, Object.keys(tableRights)],
  );
  return rows;
}

function explained(error: unknown): unknown {
  if (isLockConflict(error)) return new GrantError('Other sessions have locked the tables: try again later');
  if (!isNotPermitted(error)) return error;
  return new GrantError(
    `${error.message}: the role of DATABASE_URL must own the tables, and must have created the roles or be allowed to`,
  );
}

/** Whether Postgres rejects a statement because the role lacks a right (SQLSTATE 42501). */
function isNotPermitted(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.code === '42501';
}
