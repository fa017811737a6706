import { type Database, createWebhookStore } from '@leads/core/db';
import {
  createDestinationGuard,
  createSecretBox,
  createWebhook,
  type NewWebhook,
  type WebhookSettings,
} from '@leads/core/delivery';
import { openForBench } from './database.ts';

/** The settings of processes that send webhooks to receivers of this machine. */
export const deliverySettings = {
  DELIVERIES_SECRET: 'a secret of the benchmarks, of 32 characters or more',
  DELIVERIES_ALLOW_HTTP: 'true',
  DELIVERIES_ALLOW_NETWORKS: '127.0.0.1',
} as const;

const webhookSettings: WebhookSettings = {
  secrets: createSecretBox({ current: deliverySettings.DELIVERIES_SECRET, previous: [] }),
  destinations: createDestinationGuard({ allowHttp: true, allowNetworks: ['127.0.0.1/32'] }),
};

const allEvents = ['lead.created', 'lead.updated', 'lead.status_changed'] as const;

/** A webhook to create. It gets all events by default. */
export type BenchWebhook = Pick<NewWebhook, 'url'> & Partial<NewWebhook>;

/** Creates webhooks of a workspace. */
export async function addWebhooks(
  databaseUrl: string,
  workspaceId: string,
  webhooks: readonly BenchWebhook[],
): Promise<void> {
  await using database = openForBench(databaseUrl);
  await storeWebhooks(database, workspaceId, webhooks);
}

/** Creates webhooks of a workspace on open connections. */
export async function storeWebhooks(
  database: Database,
  workspaceId: string,
  webhooks: readonly BenchWebhook[],
): Promise<void> {
  const store = createWebhookStore(database);
  for (const webhook of webhooks) {
    await createWebhook(store, webhookSettings, { workspaceId }, { events: [...allEvents], ...webhook });
  }
}
