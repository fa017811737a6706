import type { Accounts, AccountStore, PasswordHash } from '@leads/core/account';
import { type AuditStore, createRecordAction, type RecordAction } from '@leads/core/audit';
import { LeadBatcher } from '@leads/core/background/lead-batcher';
import { batchLeadChanges } from '@leads/core/background/lead-change-batcher';
import {
  broadcastRouteChanges,
  CampaignCodes,
  type CampaignStore,
  type IntegrationPageStore,
  type LandingPageStore,
} from '@leads/core/campaign';
import {
  type AccessTokenCodec,
  broadcastRevocations,
  type CredentialStore,
  CredentialUse,
  CredentialVerifier,
} from '@leads/core/credential';
import {
  createAccountStore,
  createAssigneeStore,
  createAttentionStore,
  createAuditStore,
  createCampaignStore,
  createCredentialStore,
  createDeliveryNotices,
  createDeliveryQueue,
  createEventLog,
  createEventOutbox,
  createHoldTimerStore,
  createIntegrationPageStore,
  createLandingPageStore,
  createLeadNoteStore,
  createLeadJobStore,
  createLeadStore,
  createLeadViewerStore,
  createOverviewStore,
  createDeliveryStore,
  createPaymentStore,
  createPayoutStore,
  createPostbackStore,
  createRequestLogStore,
  createSavedViewStore,
  createStatusAliasStore,
  createWebhookStore,
  createWorkspaceStore,
  type Database,
  openDatabase,
} from '@leads/core/db';
import {
  type DeliveryStore,
  NoticeMailer,
  type PostbackStore,
  type WebhookSettings,
  type WebhookStore,
} from '@leads/core/delivery';
import { DisposeStack } from '@leads/core/dispose-stack';
import type { EventReader } from '@leads/core/event';
import type { BroadcastInvalidation } from '@leads/core/invalidation';
import {
  AssigneeRemover,
  HoldTimers,
  LeadJobRunner,
  type LeadJobStore,
  type LeadNoteStore,
  type LeadStore,
  type LeadViewerStore,
  type SavedViewStore,
  type StatusAliasStore,
} from '@leads/core/lead';
import {
  createRateLimit,
  type ExportReads,
  FairQueue,
  fairEventLog,
  fairExportReads,
  fairLeadReads,
  fairOverview,
  fairPayments,
  fairPayouts,
  RecentTenants,
} from '@leads/core/limits';
import { Invalidations } from '@leads/core/nats';
import { type AttentionStore, LeadCountAggregator, type OverviewStore } from '@leads/core/overview';
import { PaymentRunner, type PaymentStore, type PayoutStore } from '@leads/core/payout';
import { type RequestLog, RequestLogRetention, type RequestLogStore } from '@leads/core/request-log';
import type { WorkspaceStore } from '@leads/core/workspace';
import type { RateLimits } from '@leads/http/server/rate-limit';
import { observeBatches, registerBatchMetrics } from '@leads/http/service/batch-metrics';
import { openBroker } from '@leads/http/service/broker';
import { databaseOptions } from '@leads/http/service/database-options';
import { type Logger, warnOnError } from '@leads/http/service/log';
import { Metrics, registerCacheMetrics, registerPoolMetrics } from '@leads/http/service/metrics';
import { openRequestLog } from '@leads/http/service/request-log';
import { createSchemaCheck } from '@leads/http/service/schema-check';
import { traceInserts } from '@leads/http/service/trace-leads';
import { openTracing, type Tracing } from '@leads/http/service/tracing';
import packageJson from '../package.json' with { type: 'json' };
import { createAccessTokenCodec } from './access-token-codec.ts';
import { registerHoldMetrics, registerPaymentMetrics } from './background-metrics.ts';
import type { CrmConfig } from './config.ts';
import { createCrmAccounts } from './create-crm-accounts.ts';
import { registerAttemptDurations, registerDeliveryMetrics } from './deliveries/delivery-metrics.ts';
import { openDeliverer } from './deliveries/open-deliverer.ts';
import { webhookSettingsOf } from './deliveries/webhook-settings.ts';
import { createMailer } from './mailer.ts';
import { openEvents } from './open-events.ts';
import { openReplica } from './open-replica.ts';
import { publicUrlOf } from './public-url.ts';
import {
  registerCostlyReadMetrics,
  registerEventReadMetrics,
  registerReplicaMetrics,
} from './read-metrics.ts';
import { createTransferLimits, type TransferLimits } from './transfer-limits.ts';

/** The dependencies of the CRM service, built once. Disposing it closes them in reverse order. */
export interface CrmContext extends AsyncDisposable {
  readonly accessTokens: AccessTokenCodec;
  readonly accounts: Accounts;
  readonly accountStore: AccountStore;
  readonly auditStore: AuditStore;
  readonly campaigns: CampaignStore;
  readonly campaignCodes: CampaignCodes;
  readonly credentials: CredentialVerifier;
  readonly credentialStore: CredentialStore;
  readonly credentialUse: CredentialUse;
  readonly events: EventReader;
  readonly exportReads: ExportReads;
  readonly integrationPages: IntegrationPageStore;
  readonly landingPages: LandingPageStore;
  readonly leads: LeadStore;
  /** The same leads without the replica, for work that changes the leads that it finds. */
  readonly currentLeads: LeadStore;
  /** Stores the leads of create requests. */
  readonly leadBatcher: LeadBatcher;
  readonly metrics: Metrics;
  readonly notes: LeadNoteStore;
  readonly overview: OverviewStore;
  readonly attention: AttentionStore;
  /** Records an action in the audit log. */
  readonly recordAction: RecordAction;
  readonly rateLimits: RateLimits;
  readonly requestLog: RequestLog;
  readonly requestLogStore: RequestLogStore;
  /** Absent without a trace exporter. */
  readonly tracing: Tracing | undefined;
  readonly transfers: TransferLimits;
  readonly deliveries: DeliveryStore;
  /** The users who have a lead open in the website. */
  readonly viewers: LeadViewerStore;
  readonly payouts: PayoutStore;
  readonly payments: PaymentStore;
  readonly paymentRunner: PaymentRunner;
  readonly postbacks: PostbackStore;
  readonly leadJobs: LeadJobStore;
  readonly leadJobRunner: LeadJobRunner;
  readonly savedViews: SavedViewStore;
  readonly statusAliases: StatusAliasStore;
  readonly webhooks: WebhookStore;
  readonly webhookSettings: WebhookSettings;
  readonly workspaces: WorkspaceStore;
  /** @throws LeadsError `unavailable` if the database does not answer. */
  readonly pingDatabase: () => Promise<void>;
  /** @throws LeadsError `unavailable` if the database lacks a migration of this release. */
  readonly checkSchema: () => Promise<void>;
}

/** The foundations of the context. Tests may replace them. The context disposes replacements like its own. */
interface CrmFoundations {
  readonly tracing: Tracing | undefined;
  readonly metrics: Metrics;
  readonly database: Database;
  readonly passwordHash: PasswordHash;
}

/** Builds the context. If a step fails, it disposes everything that it has opened. */
export async function createContext(
  config: CrmConfig,
  log: Logger,
  overrides: Partial<CrmFoundations> = {},
): Promise<CrmContext> {
  await using resources = new DisposeStack();
  const tracing = resources.use(
    overrides.tracing ??
      (await openTracing(config, { name: 'leads-crm', version: packageJson.version }, log)),
  );
  const metrics = overrides.metrics ?? new Metrics({ service: 'crm', version: packageJson.version });
  const database = resources.use(overrides.database ?? openDatabase(databaseOptions(config, 'leads-crm')));
  const reads =
    config.DATABASE_REPLICA_URL === undefined
      ? undefined
      : resources.use(
          openReplica(
            openDatabase({
              ...databaseOptions(config, 'leads-crm-reads'),
              url: config.DATABASE_REPLICA_URL,
            }),
            { primary: database, maxLagMs: config.DATABASE_REPLICA_MAX_LAG_SECONDS * 1_000 },
            log,
          ),
        );
  const schema = createSchemaCheck(database, log);
  const primaryLeads = createLeadStore(database);
  const overview = createOverviewStore(database);
  resources.use(new LeadCountAggregator(overview, warnOnError(log, 'Overview aggregation failed; retrying')));
  resources.use(
    new AssigneeRemover(
      createAssigneeStore(database),
      warnOnError(log, 'Leads of members who left were not unassigned; retrying'),
    ),
  );
  const holdTimers = resources.use(
    new HoldTimers(createHoldTimerStore(database), warnOnError(log, 'Due leads were not approved; retrying')),
  );
  registerHoldMetrics(metrics, holdTimers);
  const recent = new RecentTenants();
  const costlyReads = createReadQueue(config.DATABASE_POOL_SIZE, readShares.costly);
  registerCostlyReadMetrics(metrics, costlyReads);
  const { SMTP_URL, MAIL_FROM = '' } = config;
  const sendMail = SMTP_URL === undefined ? undefined : createMailer(SMTP_URL, MAIL_FROM);
  const accountStore = createAccountStore(database);
  const workspaces = createWorkspaceStore(database);
  const auditStore = createAuditStore(database);
  const recordAction = createRecordAction(auditStore, (err, lost) =>
    log.error({ err, ...lost }, 'An action was not recorded in the audit log'),
  );
  const broker = resources.use(
    openBroker(config, { name: 'leads-crm', replicas: config.EVENTS_STREAM_REPLICAS }, log),
  );
  const invalidations =
    broker &&
    new Invalidations(
      broker,
      warnOnError(log, 'A change was not broadcast; all instances see it within 10 s'),
    );
  const broadcast: BroadcastInvalidation = invalidations?.broadcast ?? (async () => undefined);
  const credentialStore = broadcastRevocations(createCredentialStore(database), broadcast);
  const credentials = new CredentialVerifier(
    credentialStore,
    undefined,
    createRateLimit(config.UNKNOWN_KEYS_PER_MINUTE),
  );
  const campaignStore = createCampaignStore(database);
  const campaignCodes = new CampaignCodes(campaignStore);
  const broadcastRoutes: BroadcastInvalidation = (change) => {
    // Without a broker, and before its message arrives, this instance must not use the outdated campaign.
    campaignCodes.invalidate(change);
    return broadcast(change);
  };
  invalidations?.subscribe((change) => {
    for (const cache of [credentials, campaignCodes]) cache.invalidate(change);
  });
  const credentialUse = resources.use(
    new CredentialUse(
      credentialStore,
      warnOnError(log, 'Last uses of credentials were not recorded; retrying'),
    ),
  );
  const requestLogStore = createRequestLogStore(database);
  const requestLog = resources.use(openRequestLog('crm', requestLogStore, metrics, log));
  resources.use(
    new RequestLogRetention(
      requestLogStore,
      warnOnError(log, 'Expired requests of the request log were not deleted; retrying'),
    ),
  );
  registerPoolMetrics(metrics, database.poolUsage);
  if (reads !== undefined) registerReplicaMetrics(metrics, reads);
  registerCacheMetrics(metrics, () => ({ ...credentials.cacheUse(), campaign: campaignCodes.cacheUse }));
  // Writing a page takes processor time of this process, which delays the requests of other workspaces.
  const isPaced = (workspaceId: string) => recent.hasOther(workspaceId);
  const readQueues = {
    costly: costlyReads,
    pages: createReadQueue(config.DATABASE_POOL_SIZE, readShares.pages, isPaced),
  };
  // In the queue of pages, lists would wait for the reads of all open streams of their workspace.
  const eventReads = createReadQueue(config.DATABASE_POOL_SIZE, readShares.events, isPaced);
  registerEventReadMetrics(metrics, eventReads);
  const eventLog = fairEventLog(createEventLog(database), eventReads);
  const events = openEvents(
    config,
    { outbox: createEventOutbox(database), eventLog, broker, tracing },
    resources,
    metrics,
    log,
  );
  const webhookSettings = webhookSettingsOf(config);
  const deliverer = config.CRM_DELIVERIES
    ? openDeliverer(config, createDeliveryQueue(database), webhookSettings, {
        onError: warnOnError(log, 'Deliveries failed in the database; retrying'),
        onDisabled: (webhookId) =>
          log.warn(
            { webhookId },
            'Disabled a webhook, because its receiver fails or wants no more deliveries',
          ),
        onUnreadable: (webhookId, err) =>
          log.error({ webhookId, err }, 'The secret of a webhook cannot be decrypted; retrying'),
        onAttempt: registerAttemptDurations(metrics),
      })
    : undefined;
  resources.use(deliverer);
  if (deliverer !== undefined) registerDeliveryMetrics(metrics, deliverer);
  if (sendMail !== undefined) {
    resources.use(
      new NoticeMailer({
        notices: createDeliveryNotices(database),
        store: accountStore,
        sendMail,
        publicUrl: publicUrlOf(config),
        onError: warnOnError(log, 'A mail about a failing webhook was not sent; retrying'),
      }),
    );
  }
  const storedLeads = traceInserts(
    fairLeadReads(reads === undefined ? primaryLeads : reads.leads(primaryLeads), readQueues),
    tracing,
  );
  const leads = resources.use(batchLeadChanges(storedLeads));
  const primaryReads = fairLeadReads(primaryLeads, readQueues);
  const currentLeads: LeadStore = {
    ...leads,
    list: (selection, page) => primaryReads.list(selection, page),
    scan: (selection, page) => primaryReads.scan(selection, page),
    count: (selection) => primaryReads.count(selection),
  };
  const leadJobs = createLeadJobStore(database);
  const leadJobRunner = resources.use(
    new LeadJobRunner(
      { jobs: leadJobs, leads: currentLeads, workspaces },
      {
        onError: (err, jobId) => log.warn({ err, jobId }, 'A job for many leads failed; retrying'),
      },
    ),
  );
  const primaryPayments = createPaymentStore(database);
  const payments = reads === undefined ? primaryPayments : reads.payments(primaryPayments);
  const notes = createLeadNoteStore(database);
  const paymentRunner = resources.use(
    new PaymentRunner(payments, (err, paymentId) =>
      log.warn({ err, paymentId }, 'A payment made no progress; retrying'),
    ),
  );
  registerPaymentMetrics(metrics, paymentRunner);
  const leadBatcher = resources.use(new LeadBatcher(storedLeads, { observer: observeBatches(metrics) }));
  registerBatchMetrics(metrics, leadBatcher);
  const context = {
    accessTokens: await createAccessTokenCodec(config.JWT_SECRET),
    accounts: createCrmAccounts(
      config,
      {
        openAdapter: async () =>
          (await import('@leads/core/db/account-adapter')).createAccountAdapter(database),
        store: accountStore,
        credentialStore,
        workspaces,
        passwordHash: overrides.passwordHash,
        sendMail,
        recordAction,
        onMemberChanged: (member) => broadcast({ kind: 'member', ...member }),
      },
      log,
    ),
    accountStore,
    auditStore,
    ...broadcastRouteChanges(
      { campaigns: campaignStore, landingPages: createLandingPageStore(database) },
      broadcastRoutes,
    ),
    campaignCodes,
    credentials,
    credentialStore,
    credentialUse,
    events,
    exportReads: fairExportReads({ auditStore, payments }, costlyReads),
    integrationPages: createIntegrationPageStore(database),
    requestLog,
    requestLogStore,
    leads,
    currentLeads,
    leadBatcher,
    metrics,
    attention: createAttentionStore(database),
    notes: reads === undefined ? notes : reads.notes(notes),
    overview: fairOverview(reads === undefined ? overview : reads.overview(overview), costlyReads),
    rateLimits: {
      secretKeys: createRateLimit(config.CRM_KEY_REQUESTS_PER_MINUTE),
      publishers: createRateLimit(Math.ceil(config.CRM_WORKSPACE_REQUESTS_PER_MINUTE / 2)),
      allPublishers: createRateLimit(Math.ceil((config.CRM_WORKSPACE_REQUESTS_PER_MINUTE * 3) / 4)),
      workspaces: createRateLimit(config.CRM_WORKSPACE_REQUESTS_PER_MINUTE),
      recent,
    },
    recordAction,
    tracing,
    transfers: createTransferLimits(),
    deliveries: createDeliveryStore(database),
    viewers: createLeadViewerStore(database),
    payments: fairPayments(payments, costlyReads),
    paymentRunner,
    payouts: fairPayouts(createPayoutStore(database), costlyReads),
    postbacks: createPostbackStore(database),
    leadJobs,
    leadJobRunner,
    savedViews: createSavedViewStore(database),
    statusAliases: createStatusAliasStore(database),
    webhooks: createWebhookStore(database),
    webhookSettings,
    workspaces,
    pingDatabase: () => database.ping(),
    checkSchema: () => schema.check(),
  };
  const opened = resources.move();
  return { ...context, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/**
 * The shares of the connections to Postgres that serve each kind of read at a time. Writes use all of them. The
 * shares may exceed 1 together, because only many workspaces that read everything at once use all of them.
 */
const readShares = { costly: 0.3, pages: 0.6, events: 0.2 };

function createReadQueue(
  poolSize: number,
  share: number,
  isPaced?: (workspaceId: string) => boolean,
): FairQueue {
  return new FairQueue(Math.max(1, Math.floor(poolSize * share)), isPaced && { isPaced });
}
