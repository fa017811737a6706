import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { advisoryLocks } from '../db/advisory-locks.ts';
import { openAdminClient } from './admin-client.ts';
import { scramVerifier } from './scram.ts';
import { functionRights, rowRights, type Service, type TableRights, tableRights } from './service-rights.ts';

/** A role cannot be given its rights and no others. Nothing was changed. */
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
}

const lockTimeout = '5s';

const services: readonly Service[] = ['crm', 'intake'];

/**
 * Creates the missing roles of the services, and gives them exactly the rights of `service-rights.ts`: other rights are
 * revoked. If anything fails, nothing changes.
 *
 * @param options.databaseUrl connects as the owner of the tables, who may create missing roles.
 * @param options.statementTimeoutMs the statement timeout of connections that do not set one.
 * @throws GrantError, or the error of node-postgres.
 */
export async function grantRoles(options: {
  databaseUrl: string;
  roles: Readonly<Record<Service, RoleToGrant>>;
  statementTimeoutMs: number;
}): Promise<GrantedRole[]> {
  const { roles, statementTimeoutMs } = options;
  if (roles.crm.name === roles.intake.name) throw new GrantError('Each service has a role of its own');
  await using client = await openAdminClient(options.databaseUrl);
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '${lockTimeout}'`);
    await client.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.grant]);
    const schema = await findSchema(client);
    const granted: GrantedRole[] = [];
    for (const service of services) {
      granted.push(await makeRole(client, service, roles[service]));
      await boundStatements(client, roles[service].name, statementTimeoutMs);
      await grantSchema(client, roles[service].name, schema);
      await grantTables(client, service, roles[service].name);
      await grantRows(client, service, roles[service].name);
      await expectNoMore(client, service, roles[service].name);
    }
    await client.query('COMMIT');
    return granted;
  } catch (error) {
    throw explained(error);
  }
}

/** @throws GrantError where the tables are not those of this release. */
async function findSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ schema: string | null; missing: string[] }>(
    `SELECT current_schema() AS schema, ARRAY(
       SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NULL
     ) AS missing`,
    [Object.keys(tableRights)],
  );
  const { schema = null, missing = [] } = rows[0] ?? {};
  if (schema === null || missing.length > 0) {
    throw new GrantError(`The database lacks ${missing.join(', ')}: run \`leads migrate\` first`);
  }
  return schema;
}

async function makeRole(
  client: pg.Client,
  service: Service,
  { name, password }: RoleToGrant,
): Promise<GrantedRole> {
  const { rows } = await client.query<{ isMighty: boolean; isOwner: boolean }>(
    `SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolreplication AS "isMighty", EXISTS (
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
  if (found.isMighty) {
    throw new GrantError(`${name} is a superuser, passes by row-level security, makes roles or replicates`);
  }
  if (found.isOwner) throw new GrantError(`${name} owns the tables, or is a member of the role that does`);
  if (password !== undefined) await client.query(`ALTER ROLE ${role} ${withPassword(password)}`);
  return { service, name, created: false };
}

/** Connections set the same when they begin, but a pooler may leave that out. */
async function boundStatements(client: pg.Client, name: string, statementTimeoutMs: number): Promise<void> {
  const wanted = {
    statement_timeout: `${statementTimeoutMs}ms`,
    idle_in_transaction_session_timeout: `${statementTimeoutMs}ms`,
  };
  const { rows } = await client.query<{ settings: string[] }>(
    `SELECT setconfig AS settings FROM pg_db_role_setting
     WHERE setrole = (SELECT oid FROM pg_roles WHERE rolname = $1) AND setdatabase = 0`,
    [name],
  );
  const present = rows[0]?.settings ?? [];
  for (const [setting, value] of Object.entries(wanted)) {
    if (present.includes(`${setting}=${value}`)) continue;
    await client.query(`ALTER ROLE ${pg.escapeIdentifier(name)} SET ${setting} = '${value}'`);
  }
}

/** The right to look into the schema, and none to make anything in it. */
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
  // As it is by itself from Postgres 15 on. Who may make functions there can have them called in place of others.
  await client.query(`REVOKE CREATE ON SCHEMA ${inSchema} FROM PUBLIC, ${role}`);
  if ((await may())?.create !== false) {
    throw new GrantError(
      `${name} may make things in the schema ${schema}: have its owner REVOKE CREATE ON SCHEMA ${schema} FROM PUBLIC`,
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
  await client.query(statements.join(';\n'));
}

/**
 * Row-level security, and the policies of a role. Both need the table for themselves for a moment: nothing is done where
 * all is as it should be, which a policy's comment tells.
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

/** What numbers the rows of the tables, as it is named in a statement. */
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

/** What may come from elsewhere, as from PUBLIC or a role that it is a member of. @throws GrantError */
async function expectNoMore(client: pg.Client, service: Service, name: string): Promise<void> {
  const tooMuch = (await effectiveRights(client, name)).filter(({ right, table, column }) => {
    const given = tableRights[table]?.[service] ?? {};
    if (right === 'delete') return given.delete !== true;
    if (right !== 'select' && right !== 'insert' && right !== 'update') return true;
    return given[right] !== 'all' && given[right]?.includes(column ?? '') !== true;
  });
  if (tooMuch.length === 0) return;
  const named = new Set(tooMuch.map(({ right, table }) => `${right} ${table}`));
  throw new GrantError(
    `${name} may also ${[...named].slice(0, 10).join(', ')}: PUBLIC, a role that it is a member of or another grantor gives it that`,
  );
}

interface Right {
  readonly right: string;
  readonly table: string;
  /** Of rights that a column may have of its own. */
  readonly column: string | null;
}

/**
 * What a role may do with the tables of this release and their sequences, from wherever it has the right.
 *
 * @param client connected to the database.
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
  if (!(error instanceof pg.DatabaseError)) return error;
  if (error.code === '55P03') return new GrantError('The tables are in use by others: try again');
  if (error.code !== '42501') return error;
  return new GrantError(
    `${error.message}: the role of DATABASE_URL has to own the tables, and to have made the roles or have the right to`,
  );
}
