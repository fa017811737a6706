import type { AccountOptions } from '@leads/core/account';
import { type AuditedAction, createRecordAction } from '@leads/core/audit';
import { broadcastRouteChanges, type CampaignStore, type LandingPageStore } from '@leads/core/campaign';
import { broadcastRevocations, type CredentialStore } from '@leads/core/credential';
import {
  type Archiving,
  checkArchiving,
  createAccountStore,
  createAuditStore,
  createCampaignStore,
  createCredentialStore,
  createErasableLeads,
  createErasableQuarantine,
  createDeliveryStore,
  createErasureTable,
  createHoldTimerStore,
  createLandingPageStore,
  createLeadQuarantine,
  createLeadStore,
  createPaymentStore,
  createPostbackStore,
  createRetentionStore,
  createSealedTextStore,
  createWebhookStore,
  createWorkspaceStore,
  openDatabase,
} from '@leads/core/db';
import type { DeliveryStore, PostbackStore, SealedTextStore, WebhookStore } from '@leads/core/delivery';
import type { ErasableStore, ErasureTable } from '@leads/core/erasure';
import type { BroadcastInvalidation } from '@leads/core/invalidation';
import type { HoldTimerStore, LeadQuarantine, LeadStore } from '@leads/core/lead';
import type { PaymentStore } from '@leads/core/payout';
import type { RetentionStore } from '@leads/core/retention';
import type { WorkspaceStore } from '@leads/core/workspace';
import { openBroker } from './broker.ts';
import { BrokerUnreachable } from './cli-error.ts';
import type { CliIo } from './cli-io.ts';
import { printNotice } from './output.ts';
import { readSettings, StoreSettings } from './settings.ts';

/** The stores that commands read and change. */
export interface Operator extends AsyncDisposable {
  readonly campaigns: CampaignStore;
  readonly credentials: CredentialStore;
  readonly landingPages: LandingPageStore;
  readonly leads: LeadStore;
  readonly quarantine: LeadQuarantine;
  readonly deliveries: DeliveryStore;
  readonly postbacks: PostbackStore;
  readonly sealedTexts: SealedTextStore;
  readonly webhooks: WebhookStore;
  readonly workspaces: WorkspaceStore;
  readonly retention: RetentionStore;
  readonly holdTimers: HoldTimerStore;
  readonly payments: PaymentStore;
  readonly archiving: () => Promise<Archiving>;
  /** Records an action of the command line in the audit log. */
  readonly recordAction: (action: AuditedAction) => Promise<void>;
  /** The stores with leads, in the order of erasure. */
  readonly erasable: readonly ErasableStore[];
  readonly erasures: ErasureTable;
  readonly accounts: Pick<AccountOptions, 'openAdapter' | 'store'>;
}

const statementTimeoutMs = 10_000;
const broadcastTimeoutMs = 2_000;

/**
 * Opens the stores. Sends no query.
 *
 * @throws ConfigError if a setting is missing or invalid.
 */
export function openOperator(io: CliIo): Operator {
  const settings = readSettings(StoreSettings, io.env);
  const database = openDatabase({
    url: settings.DATABASE_URL,
    poolSize: 1,
    connectTimeoutMs: settings.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs,
    applicationName: 'leads-cli',
  });
  const broadcast = broadcastBy(settings.NATS_URL);
  const quarantine = createLeadQuarantine(database);
  const record = createRecordAction(createAuditStore(database), (_error, { action }) =>
    printNotice(io, `The action ${action} was not recorded in the audit log.`),
  );
  return {
    ...broadcastRouteChanges(
      { campaigns: createCampaignStore(database), landingPages: createLandingPageStore(database) },
      broadcast,
    ),
    credentials: broadcastRevocations(createCredentialStore(database), broadcast),
    leads: createLeadStore(database),
    quarantine,
    deliveries: createDeliveryStore(database),
    postbacks: createPostbackStore(database),
    sealedTexts: createSealedTextStore(database),
    webhooks: createWebhookStore(database),
    workspaces: createWorkspaceStore(database),
    retention: createRetentionStore(database),
    holdTimers: createHoldTimerStore(database),
    payments: createPaymentStore(database),
    archiving: () => checkArchiving(database),
    recordAction: (action) => record({ source: 'cli' }, action),
    erasable: [createErasableQuarantine(quarantine), createErasableLeads(database)],
    erasures: createErasureTable(database),
    accounts: {
      openAdapter: async () =>
        (await import('@leads/core/db/account-adapter')).createAccountAdapter(database),
      store: createAccountStore(database),
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/**
 * Returns a function that broadcasts a change. It opens a connection for each change, because few commands make
 * changes. Without a broker, services detect the change by polling.
 */
function broadcastBy(url: string | undefined): BroadcastInvalidation {
  return async (change) => {
    if (url === undefined) return;
    const { Invalidations } = await import('@leads/core/nats');
    await using broker = await openBroker(url, { timeoutMs: broadcastTimeoutMs }).catch((error: unknown) => {
      if (error instanceof BrokerUnreachable) return undefined;
      throw error;
    });
    if (broker !== undefined) await new Invalidations(broker, () => undefined).broadcast(change);
  };
}
