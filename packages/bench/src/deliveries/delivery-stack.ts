import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, createLeadStore, createWorkspaceStore } from '@leads/core/db';
import type { LeadToInsert } from '@leads/core/lead';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { uuidv7 as newId } from 'uuidv7';
import { openForBench, query } from '../stack/database.ts';
import { deliverySettings, storeWebhooks } from '../stack/webhooks.ts';
import { waitUntil } from '../stack/wait-until.ts';

/** The owner and the default campaign of a workspace. */
export type Tenant = Pick<LeadToInsert, 'workspaceId' | 'userId' | 'campaignId'>;

/**
 * Creates a workspace for each list of URLs, with a webhook for each URL, which gets all events. A workspace may have 20.
 *
 * @param name is part of the names of the workspaces.
 */
export async function createTenants(
  databaseUrl: string,
  name: string,
  urls: readonly (readonly string[])[],
): Promise<Tenant[]> {
  await using database = openForBench(databaseUrl);
  const workspaces = createWorkspaceStore(database);
  const tenants: Tenant[] = [];
  for (const [at, urlsOfWorkspace] of urls.entries()) {
    const { user, workspace } = await workspaces.addMember({
      email: `${name}-${at}@example.com`,
      name: 'Benchmark',
      role: 'owner',
      workspace: { slug: `${name}-${at}`, name: 'Benchmark' },
    });
    const [campaign] = await query<{ id: string }>(
      databaseUrl,
      'SELECT id FROM campaign WHERE workspace_id = $1',
      [workspace.id],
    );
    tenants.push({ workspaceId: workspace.id, userId: user.id, campaignId: campaign?.id ?? '' });
    await storeWebhooks(
      database,
      workspace.id,
      urlsOfWorkspace.map((url) => ({ url })),
    );
  }
  return tenants;
}

/** Stores leads of several workspaces. */
export class LeadWriter implements AsyncDisposable {
  readonly #database: Database;
  readonly #tenants: readonly Tenant[];
  #written = 0;

  constructor(databaseUrl: string, tenants: readonly Tenant[]) {
    this.#database = openForBench(databaseUrl);
    this.#tenants = tenants;
  }

  /** Stores leads of the workspaces in turn, in one transaction. */
  async write(count: number): Promise<void> {
    const leads = Array.from({ length: count }, () => this.#nextLead());
    await createLeadStore(this.#database).insert(leads);
  }

  /** Stores leads at a steady rate. They are due at fixed times. */
  async writeSteadily(leadsPerSecond: number, seconds: number): Promise<void> {
    const start = performance.now();
    let written = 0;
    for (;;) {
      const elapsed = Math.min(seconds, (performance.now() - start) / 1000);
      const due = Math.floor(elapsed * leadsPerSecond) - written;
      if (due > 0) await this.write(due);
      written += due;
      if (elapsed === seconds) return;
      await sleep(10);
    }
  }

  #nextLead(): LeadToInsert {
    const tenant = this.#tenants[this.#written++ % this.#tenants.length] as Tenant;
    const now = new Date();
    return {
      ...tenant,
      id: newId(),
      source: 'intake',
      status: 'OnHold',
      version: 1,
      name: 'Grace Hopper',
      phone: '+1 202 555 0143',
      phoneE164: '+12025550143',
      address: '1 Arlington Ridge, Virginia',
      s1: `click-${this.#written}`,
      createdAt: now,
      updatedAt: now,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}

const readyTimeoutMs = 60_000;

/** Starts `leads deliver`, and waits until it runs. */
export async function startDeliverer(
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<SupervisedProcess> {
  const deliverer = startProcess({
    name: 'leads deliver',
    file: process.execPath,
    args: [join(repositoryRoot, 'apps/crm/bin/leads.js'), 'deliver'],
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, ...deliverySettings, ...env },
  });
  await deliverer.waitUntilReady(() => deliverer.output().includes('Sending webhooks'), readyTimeoutMs);
  return deliverer;
}

/**
 * Waits until no event waits for its deliveries, and no delivery for its first attempt.
 *
 * @param options.except the URLs of endpoints that are ignored.
 * @throws Error after the timeout.
 */
export async function waitUntilSent(
  databaseUrl: string,
  { timeoutMs, except = [] }: { timeoutMs: number; except?: readonly string[] },
): Promise<void> {
  const isSent = async () => {
    const [row] = await query<{ isSent: boolean }>(
      databaseUrl,
      `SELECT NOT EXISTS (SELECT FROM delivery_outbox) AND NOT EXISTS (
        SELECT FROM delivery JOIN delivery_endpoint AS endpoint ON endpoint.id = endpoint_id
        WHERE state = 'waiting' AND (attempts = 0 OR lease_id IS NOT NULL) AND url <> ALL ($1)
      ) AS "isSent"`,
      [except],
    );
    return row?.isSent === true;
  };
  if (!(await waitUntil(isSent, timeoutMs, 100)))
    throw new Error('Deliveries still wait for their first attempt');
}

/** Creates the deliveries of all stored events, as the deliverer does, without sending them. */
export async function planAll(databaseUrl: string): Promise<number> {
  await query(databaseUrl, 'SELECT plan_deliveries(1000000)');
  const [row] = await query<{ count: number }>(databaseUrl, 'SELECT count(*)::float8 AS count FROM delivery');
  return row?.count ?? 0;
}
