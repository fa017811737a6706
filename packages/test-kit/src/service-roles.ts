import { randomBytes } from 'node:crypto';
import { grantRoles } from '@leads/core/db-admin/grant';
import pg from 'pg';

/** A Postgres role for each service, on one database. */
export interface ServiceRoles extends AsyncDisposable {
  /** The connection string of the CRM's role. */
  readonly crm: string;
  readonly intake: string;
  /** The password of both roles. */
  readonly password: string;
}

/**
 * Creates the roles like `leads db grant`. The names are unique, because roles belong to the whole server.
 * Disposing the result drops the roles.
 *
 * @param statementTimeoutMs the statement timeout of connections that do not set one.
 */
export async function createServiceRoles(
  databaseUrl: string,
  statementTimeoutMs = 60_000,
): Promise<ServiceRoles> {
  const suffix = randomBytes(8).toString('hex');
  const password = randomBytes(12).toString('base64url');
  const names = { crm: `test_crm_${suffix}`, intake: `test_intake_${suffix}` };
  await grantRoles({
    databaseUrl,
    statementTimeoutMs,
    roles: { crm: { name: names.crm, password }, intake: { name: names.intake, password } },
  });
  const urlOf = (name: string) => {
    const url = new URL(databaseUrl);
    url.username = name;
    url.password = password;
    return url.href;
  };
  return {
    crm: urlOf(names.crm),
    intake: urlOf(names.intake),
    password,
    async [Symbol.asyncDispose]() {
      const both = `${names.crm}, ${names.intake}`;
      await runAs(databaseUrl, `DROP OWNED BY ${both}; DROP ROLE ${both}`);
    },
  };
}

/** Runs statements on a new connection. @throws the error of node-postgres */
export async function runAs(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}
