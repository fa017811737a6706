import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import type { StoredLead } from '../src/lead/lead.ts';
import type { Lead } from '../src/lead/lead.schema.ts';
import type { LeadChange, LeadPage, LeadSelection, LeadStore } from '../src/lead/lead-store.ts';
import { newId } from '../src/uuid.ts';

/** The Postgres server of a test run. Vitest's global setup starts it. */
export interface TestPostgres {
  /** The superuser's connection string. */
  readonly adminUrl: string;
  /** A database with every migration applied, to clone. */
  readonly templateDatabase: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: TestPostgres;
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

/** A database for one test or one test file. Disposing drops it, even if clients are connected. */
export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** Returns the connection that `query` uses. */
  connect(): Promise<pg.Client>;
  /** Runs any number of statements and returns the rows of the last. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>;
}

/** Creates a database with every migration applied. */
export const createTestDatabase = (postgres = inject('postgres')) =>
  create(postgres, postgres.templateDatabase);

/** Creates an empty database, to test the migrations themselves. */
export const createEmptyDatabase = () => create(inject('postgres'), 'template0');

const objectInUse = '55006';

async function create({ adminUrl }: TestPostgres, template: string): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  for (let attempt = 1; ; attempt++) {
    try {
      await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`, adminUrl);
      break;
    } catch (error) {
      // Autovacuum may be at work in the template.
      if (!(error instanceof pg.DatabaseError) || error.code !== objectInUse || attempt === 20) throw error;
      await sleep(100);
    }
  }
  const url = databaseUrl(name, undefined, adminUrl);
  let connection: Promise<pg.Client> | undefined;
  const connect = () => (connection ??= open(url));
  return {
    name,
    url,
    connect,
    query: async <Row extends pg.QueryResultRow>(sql: string, values?: unknown[]) => {
      const client = await connect();
      const result: pg.QueryResult<Row> | pg.QueryResult<Row>[] = await client.query<Row>(sql, values);
      return (Array.isArray(result) ? (result.at(-1) as pg.QueryResult<Row>) : result).rows;
    },
    async [Symbol.asyncDispose]() {
      await (await connection)?.end();
      await asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, adminUrl);
    },
  };
}

async function open(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Returns the connection string of another database or user on the same server. */
export function databaseUrl(
  name: string,
  user?: { name: string; password: string },
  adminUrl = inject('postgres').adminUrl,
): string {
  const url = new URL(adminUrl);
  url.pathname = name;
  if (user !== undefined) {
    url.username = user.name;
    url.password = user.password;
  }
  return url.href;
}

/** Runs statements as the superuser of the test run's Postgres. */
export async function asAdmin(sql: string, adminUrl = inject('postgres').adminUrl): Promise<void> {
  const client = await open(adminUrl);
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A workspace with one owner, the default campaign `default` and a second campaign `extra`. */
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

/** Creates a lead without optional fields. */
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

/** Creates the next version of a lead, and the entry of its history. */
export function changeOf(
  lead: StoredLead,
  { lead: changed, change }: { lead?: Partial<StoredLead>; change?: Partial<LeadChange> } = {},
): { lead: StoredLead; change: LeadChange } {
  const version = lead.version + 1;
  const status = { from: 'OnHold', to: 'Approved' } as const;
  const fields = changed && Object.fromEntries(Object.keys(changed).map((field) => [field, {}]));
  return {
    lead: { ...lead, status: status.to, version, ...changed },
    change: { version, userId: lead.userId, status, fields, createdAt: new Date(), ...change },
  };
}

/** The description in each version of a lead of {@link storeEdits}, of 60,000 characters. */
export const longDescription = (version: number): string => String(version).padEnd(60_000, 'x');

/** Stores edits of a lead up to a version. Each changes its {@link longDescription}. */
export async function storeEdits(store: LeadStore, lead: StoredLead, lastVersion: number): Promise<void> {
  let current = lead;
  while (current.version < lastVersion) {
    const to = longDescription(current.version + 1);
    const change = changeOf(current, {
      lead: { status: 'OnHold', description: to },
      change: { status: undefined, fields: { description: { from: current.description, to } } },
    });
    await store.change(lead.workspaceId, [change]);
    current = change.lead;
  }
}

/** Selects all leads of a tenant, newest first. */
export function selection(tenant: Tenant, changes: Partial<LeadSelection> = {}): LeadSelection {
  return {
    scope: { workspaceId: tenant.workspaceId },
    filter: {},
    order: { by: 'createdAt', direction: 'descending' },
    ...changes,
  };
}

/** Returns the leads of a page. */
export function leadsOf({ json }: LeadPage): Lead[] {
  return JSON.parse(json.toString()) as Lead[];
}

/** Returns options with timeouts that a busy machine does not reach. */
export function databaseOptions(url: string) {
  return {
    url,
    poolSize: 4,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 60_000,
    applicationName: 'leads-test',
  };
}
