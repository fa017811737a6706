import { type AccountStore, type Accounts, createAccounts } from '@leads/core/account';
import { broadcastRouteChanges, type CampaignStore } from '@leads/core/campaign';
import {
  type AccessTokenCodec,
  broadcastRevocations,
  type CredentialStore,
  CredentialUse,
  CredentialVerifier,
} from '@leads/core/credential';
import {
  createAccountStore,
  createCampaignStore,
  createCredentialStore,
  createEventOutbox,
  createLeadStore,
  createOverviewStore,
  createWorkspaceStore,
  openDatabase,
} from '@leads/core/db';
import { EventRelay, OutboxMonitor } from '@leads/core/event';
import type { BroadcastInvalidation } from '@leads/core/invalidation';
import type { LeadStore } from '@leads/core/lead';
import { EventPublisher, EventReader, eventStreamName, Invalidations } from '@leads/core/nats';
import { LeadCountAggregator, type OverviewStore } from '@leads/core/overview';
import type { WorkspaceStore } from '@leads/core/workspace';
import { openBroker } from '@leads/http/service/broker';
import type { Logger } from '@leads/http/service/log';
import { Metrics, registerCacheMetrics, registerPoolMetrics } from '@leads/http/service/metrics';
import { createSchemaCheck } from '@leads/http/service/schema-check';
import { traceInserts } from '@leads/http/service/trace-leads';
import { openTracing, type Tracing } from '@leads/http/service/tracing';
import packageJson from '../package.json' with { type: 'json' };
import { createAccessTokenCodec } from './access-token-codec.ts';
import type { CrmConfig } from './config.ts';
import { registerEventMetrics } from './event-metrics.ts';
import { createMailer } from './mailer.ts';
import { openReplica } from './open-replica.ts';
import { publicUrlOf } from './public-url.ts';
import { tracePublishing } from './trace-events.ts';
import { createTransferLimits, type TransferLimits } from './transfer-limits.ts';

/** Everything the CRM service needs, built once. */
export interface CrmContext extends AsyncDisposable {
  readonly accessTokens: AccessTokenCodec;
  readonly accounts: Accounts;
  readonly accountStore: AccountStore;
  readonly campaigns: CampaignStore;
  readonly credentials: CredentialVerifier;
  readonly credentialStore: CredentialStore;
  readonly credentialUse: CredentialUse;
  /** None where NATS_URL is not set. */
  readonly events: EventReader | undefined;
  readonly leads: LeadStore;
  readonly metrics: Metrics;
  readonly overview: OverviewStore;
  /** None where nothing is traced. */
  readonly tracing: Tracing | undefined;
  readonly transfers: TransferLimits;
  readonly workspaces: WorkspaceStore;
  /** @throws LeadsError `unavailable` when the database does not answer. */
  readonly pingDatabase: () => Promise<void>;
  /** @throws LeadsError `unavailable` when the database lacks a migration of this release. */
  readonly checkSchema: () => Promise<void>;
}

export async function createContext(config: CrmConfig, log: Logger): Promise<CrmContext> {
  const tracing = await openTracing(config, { name: 'leads-crm', version: packageJson.version }, log);
  const connection = {
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
  };
  const database = openDatabase({ ...connection, url: config.DATABASE_URL, applicationName: 'leads-crm' });
  const reads =
    config.DATABASE_REPLICA_URL === undefined
      ? undefined
      : openReplica(
          openDatabase({
            ...connection,
            url: config.DATABASE_REPLICA_URL,
            applicationName: 'leads-crm-reads',
          }),
          { primary: database, maxLagMs: config.DATABASE_REPLICA_MAX_LAG_SECONDS * 1_000 },
          log,
        );
  const schema = createSchemaCheck(database, log);
  const primaryLeads = createLeadStore(database);
  const overview = createOverviewStore(database);
  const leadCountAggregator = new LeadCountAggregator(overview, (err) =>
    log.warn({ err }, 'What was counted lately could not be added up: it is tried again'),
  );
  const { SMTP_URL, MAIL_FROM = '' } = config;
  const accountStore = createAccountStore(database);
  const workspaces = createWorkspaceStore(database);
  const broker = openBroker(config, { name: 'leads-crm', replicas: config.EVENTS_STREAM_REPLICAS }, log);
  const changes =
    broker &&
    new Invalidations(broker, (err) =>
      log.warn({ err }, 'Instances were not told of a change: it is in force everywhere within 10 s'),
    );
  const broadcast: BroadcastInvalidation = changes?.broadcast ?? (async () => undefined);
  const credentialStore = broadcastRevocations(createCredentialStore(database), broadcast);
  const credentials = new CredentialVerifier(credentialStore);
  changes?.subscribe((change) => credentials.invalidate(change));
  const credentialUse = new CredentialUse(credentialStore, (err) =>
    log.warn({ err }, 'When credentials were used last could not be written: it is tried again'),
  );
  const metrics = new Metrics({ service: 'crm', version: packageJson.version });
  registerPoolMetrics(metrics, database.poolUsage);
  if (reads !== undefined) {
    metrics.gauge(
      { name: 'db_replica_lag_seconds', help: 'How far the replica of Postgres is behind at most.' },
      () => reads.replica.lagSeconds ?? [],
      'max',
    );
  }
  registerCacheMetrics(metrics, () => credentials.cacheUse());
  const outbox = createEventOutbox(database);
  const streamMs = config.EVENTS_STREAM_DAYS * 86_400_000;
  const outboxMonitor = new OutboxMonitor(outbox, {
    // Nobody takes them without a broker, and with one they wait for it as long as it takes.
    keepMs: config.NATS_URL === undefined ? streamMs : undefined,
    onDropped: (events) =>
      log.warn({ events }, 'Events that nobody was told are too old to be kept: NATS_URL is not set'),
    onError: (err) => log.warn({ err }, 'The outbox could not be looked after: it is tried again'),
  });
  const relay =
    broker &&
    new EventRelay(
      outbox,
      tracePublishing(
        new EventPublisher(broker, {
          name: eventStreamName,
          maxAgeMs: streamMs,
          maxBytes: config.EVENTS_STREAM_MEGABYTES * 1024 * 1024,
          replicas: config.EVENTS_STREAM_REPLICAS,
        }),
        tracing,
      ),
      (err) => log.warn({ err }, 'Events could not be told: they wait, and it is tried again'),
    );
  registerEventMetrics(metrics, { outboxMonitor, relay });
  return {
    accessTokens: await createAccessTokenCodec(config.JWT_SECRET),
    accounts: createAccounts({
      openAdapter: async () =>
        (await import('@leads/core/db/account-adapter')).createAccountAdapter(database),
      store: accountStore,
      workspaces,
      secret: config.JWT_SECRET,
      publicUrl: publicUrlOf(config),
      signUp: config.ALLOW_SIGN_UP,
      ping: () => database.ping(),
      onMemberChanged: (member) => broadcast({ kind: 'member', ...member }),
      sendMail: SMTP_URL === undefined ? undefined : createMailer(SMTP_URL, MAIL_FROM),
      onError: (err) => log.error({ err }, 'Something about accounts went wrong'),
    }),
    accountStore,
    campaigns: broadcastRouteChanges(createCampaignStore(database), broadcast),
    credentials,
    credentialStore,
    credentialUse,
    events: broker && new EventReader(broker, eventStreamName),
    leads: traceInserts(reads === undefined ? primaryLeads : reads.leads(primaryLeads), tracing),
    metrics,
    overview: reads === undefined ? overview : reads.overview(overview),
    tracing,
    transfers: createTransferLimits(),
    workspaces,
    pingDatabase: () => database.ping(),
    checkSchema: () => schema.check(),
    async [Symbol.asyncDispose]() {
      await relay?.[Symbol.asyncDispose]();
      await outboxMonitor[Symbol.asyncDispose]();
      await broker?.[Symbol.asyncDispose]();
      await leadCountAggregator[Symbol.asyncDispose]();
      await credentialUse[Symbol.asyncDispose]();
      await reads?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await tracing?.[Symbol.asyncDispose]();
    },
  };
}
