import { LeadBatcher } from '@leads/core/background/lead-batcher';
import { CampaignRouter, LandingPageRegistrar } from '@leads/core/campaign';
import { CredentialUse, CredentialVerifier } from '@leads/core/credential';
import { DatabaseHealth } from '@leads/core/database-health';
import {
  createCampaignStore,
  createCredentialStore,
  createLeadQuarantine,
  createLeadStore,
  createSnapshotSource,
  openDatabase,
} from '@leads/core/db';
import { Invalidations, NatsSnapshotStore } from '@leads/core/nats';
import { SnapshotCache, SnapshotRefresher } from '@leads/core/snapshot';
import { createRateLimit, type RateLimits } from '@leads/http/server/rate-limit';
import { openBroker } from '@leads/http/service/broker';
import type { Logger } from '@leads/http/service/log';
import { Metrics, registerCacheMetrics, registerPoolMetrics } from '@leads/http/service/metrics';
import { createSchemaCheck } from '@leads/http/service/schema-check';
import { traceInserts } from '@leads/http/service/trace-leads';
import type { Tracing } from '@leads/http/service/tracing';
import packageJson from '../package.json' with { type: 'json' };
import { observeBatches, registerBatchMetrics } from './batch-metrics.ts';
import { openBuffer } from './buffer/open-buffer.ts';
import type { IntakeConfig } from './config.ts';

/** Leads that wait for a batch: as many make the buffer's wait. */
const longQueue = 500;

/** Everything the intake needs, built once. Disposing it writes what is still to be written and hangs up. */
export interface IntakeContext extends AsyncDisposable {
  readonly credentials: CredentialVerifier;
  readonly credentialUse: CredentialUse;
  readonly leads: LeadBatcher;
  readonly routes: CampaignRouter;
  readonly rateLimits: RateLimits;
  readonly metrics: Metrics;
  /** None where nothing is traced. */
  readonly tracing: Tracing | undefined;
  /** @throws LeadsError `unavailable` when the database does not answer. */
  readonly pingDatabase: () => Promise<void>;
  /** @throws LeadsError `unavailable` when the database lacks a migration of this release. */
  readonly checkSchema: () => Promise<void>;
  /** Where there is a buffer: @throws LeadsError `unavailable` when it takes no leads. */
  readonly checkBuffer: (() => Promise<void>) | undefined;
}

export function createContext(config: IntakeConfig, log: Logger, tracing?: Tracing): IntakeContext {
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    applicationName: 'leads-intake',
  });
  const schema = createSchemaCheck(database, log);
  const campaigns = createCampaignStore(database);
  const landingPages = new LandingPageRegistrar(campaigns, (err) => {
    log.warn({ err }, 'Landing pages were not registered; they will be with their next lead');
  });
  const credentialStore = createCredentialStore(database);
  const broker = openBroker(config, { name: 'leads-intake', replicas: config.INTAKE_BUFFER_REPLICAS }, log);
  const shelf =
    broker &&
    new NatsSnapshotStore(broker, {
      replicas: config.INTAKE_BUFFER_REPLICAS,
      onError: (err) =>
        log.warn({ err }, 'The snapshot for new instances has not as many replicas as it should'),
    });
  const memory =
    shelf && new SnapshotCache(shelf, (err) => log.warn({ err }, 'The snapshot could not be read'));
  const stale = { database: new DatabaseHealth(), snapshot: memory };
  const credentials = new CredentialVerifier(credentialStore, stale);
  const credentialUse = new CredentialUse(credentialStore, (err) => {
    log.warn({ err }, 'When credentials were used last could not be written: it is tried again');
  });
  const routes = new CampaignRouter(campaigns, landingPages, stale);
  const snapshots =
    shelf &&
    new SnapshotRefresher(createSnapshotSource(database), shelf, (err) => {
      log.warn({ err }, 'The snapshot for new instances could not be renewed: it is tried again');
    });
  const changes = broker && new Invalidations(broker, (err) => log.warn({ err }, 'Changes cannot be heard'));
  changes?.subscribe((change) => {
    for (const cache of [memory, credentials, routes]) cache?.invalidate(change);
    snapshots?.noteChange();
  });
  const metrics = new Metrics({ service: 'intake', version: packageJson.version });
  const leadStore = traceInserts(createLeadStore(database), tracing);
  const buffer =
    broker &&
    openBuffer(
      {
        broker,
        maxBytes: config.INTAKE_BUFFER_MEGABYTES * 1024 * 1024,
        replicas: config.INTAKE_BUFFER_REPLICAS,
        leads: leadStore,
        quarantine: createLeadQuarantine(database),
        // So that nobody waits to find out the same about keys and campaigns.
        onUnavailable: () => stale.database.markUnavailable(),
      },
      metrics,
      log,
    );
  const leads = new LeadBatcher(buffer?.leads ?? leadStore, { observer: observeBatches(metrics) });
  buffer?.drain(() => leads.load.waiting >= longQueue);
  registerBatchMetrics(metrics, leads);
  registerPoolMetrics(metrics, database.poolUsage);
  registerCacheMetrics(metrics, () => ({ ...credentials.cacheUse(), intake_route: routes.cacheUse }));
  return {
    credentials,
    credentialUse,
    leads,
    metrics,
    routes,
    tracing,
    rateLimits: {
      browserKeys: createRateLimit(config.INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE),
      secretKeys: createRateLimit(config.INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE),
    },
    pingDatabase: () => database.ping(),
    checkSchema: () => schema.check(),
    checkBuffer: buffer && (() => buffer.checkRoom()),
    async [Symbol.asyncDispose]() {
      await leads[Symbol.asyncDispose]();
      await buffer?.[Symbol.asyncDispose]();
      await snapshots?.[Symbol.asyncDispose]();
      await broker?.[Symbol.asyncDispose]();
      await landingPages[Symbol.asyncDispose]();
      await credentialUse[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await tracing?.[Symbol.asyncDispose]();
    },
  };
}
