import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import type { StoredLead } from '../src/lead/lead.ts';
import type { LeadChange, LeadSelection } from '../src/lead/lead-store.ts';
import { newId } from '../src/uuid.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The Postgres of this test run: the superuser's connection string, and the migrated database to clone. */
    postgres: { adminUrl: string; templateDatabase: string };
  }
}

const prismaDir = resolve(import.meta.dirname, '../../../prisma');
export const schemaPath = resolve(prismaDir, 'schema.prisma');
export const migrationsDir = resolve(prismaDir, 'migrations');
/** Every migration of this release, oldest first. */
export const migrations = readdirSync(migrationsDir, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

export function migrationSql(migration: string): string {
  return readFileSync(resolve(migrationsDir, migration, 'migration.sql'), 'utf8');
}

/** A database of its own, and a connection to look into it with. Dropped when disposed. */
export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly client: pg.Client;
  /** Any number of statements; the rows of the last. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
}

/** With every migration applied. */
export const createMigratedDatabase = () => create(inject('postgres').templateDatabase);

/** With nothing in it. */
export const createEmptyDatabase = () => create('template0');

async function create(template: string): Promise<TestDatabase> {
  const name = `core_${randomUUID().replaceAll('-', '')}`;
  for (let attempt = 1; ; attempt++) {
    try {
      await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      break;
    } catch (error) {
      // Autovacuum may be at work in the template.
      if ((error as pg.DatabaseError).code !== '55006' || attempt === 20) throw error;
      await sleep(100);
    }
  }
  const url = databaseUrl(name);
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return {
    name,
    url,
    client,
    query: async <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) => {
      const result: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(sql, values);
      return (Array.isArray(result) ? (result.at(-1) as pg.QueryResult<Row>) : result).rows;
    },
    async [Symbol.asyncDispose]() {
      await client.end();
      await asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** The connection string of another database or user on the same server. */
export function databaseUrl(name: string, user?: { name: string; password: string }): string {
  const url = new URL(inject('postgres').adminUrl);
  url.pathname = name;
  if (user !== undefined) {
    url.username = user.name;
    url.password = user.password;
  }
  return url.href;
}

export async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgres').adminUrl });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A workspace with one owner, its default campaign `default` and another, `extra`. */
export interface Tenant {
  readonly workspaceId: string;
  readonly userId: string;
  readonly campaignId: string;
  readonly otherCampaignId: string;
}

export async function addTenant(database: TestDatabase, slug: string): Promise<Tenant> {
  const [workspaceId, userId, campaignId, otherCampaignId] = [newId(), newId(), newId(), newId()];
  await database.query(`
    INSERT INTO workspace (id, name, slug) VALUES ('${workspaceId}', '${slug}', '${slug}');
    INSERT INTO "user" (id, name, email, updated_at) VALUES ('${userId}', '${slug}', '${slug}@example.io', now());
    INSERT INTO member (id, workspace_id, user_id, role) VALUES ('${newId()}', '${workspaceId}', '${userId}', 'owner');
    INSERT INTO campaign (id, workspace_id, code, name, is_default, updated_at) VALUES
      ('${campaignId}', '${workspaceId}', 'default', 'Default', true, now()),
      ('${otherCampaignId}', '${workspaceId}', 'extra', 'Extra', false, now());`);
  return { workspaceId, userId, campaignId, otherCampaignId };
}

/** A lead with no optional field. */
export function leadOf(tenant: Tenant, fields: Partial<StoredLead> = {}): StoredLead {
  const now = new Date();
  return {
    id: newId(),
    workspaceId: tenant.workspaceId,
    userId: tenant.userId,
    campaignId: tenant.campaignId,
    source: 'crm',
    status: 'OnHold',
    version: 1,
    name: 'Ada Lovelace',
    phone: '+44 20 7946 0958',
    createdAt: now,
    updatedAt: now,
    ...fields,
  };
}

/** A lead of a version above, and the entry of its history. */
export function changeOf(
  lead: StoredLead,
  { lead: changed, change }: { lead?: Partial<StoredLead>; change?: Partial<LeadChange> } = {},
): { lead: StoredLead; change: LeadChange } {
  const version = lead.version + 1;
  const status = { from: 'OnHold', to: 'Approved' } as const;
  return {
    lead: { ...lead, status: status.to, version, ...changed },
    change: { version, userId: lead.userId, status, createdAt: new Date(), ...change },
  };
}

/** All leads of a tenant, newest first. */
export function selection(tenant: Tenant, changes: Partial<LeadSelection> = {}): LeadSelection {
  return {
    scope: { workspaceId: tenant.workspaceId },
    filter: {},
    order: { by: 'createdAt', direction: 'descending' },
    ...changes,
  };
}

/** Settings that give up early enough for a test. */
export function databaseOptions(url: string) {
  return {
    url,
    poolSize: 4,
    connectTimeoutMs: 1_000,
    statementTimeoutMs: 2_000,
    applicationName: 'leads-test',
  };
}
