import { LeadBatcher } from '@leads/core/background/lead-batcher';
import { CampaignRouter, LandingPageRegistrar } from '@leads/core/campaign';
import { CredentialUse, CredentialVerifier } from '@leads/core/credential';
import { DatabaseHealth } from '@leads/core/database-health';
import {
  createCredentialStore,
  createIntakeRouting,
  createLandingPageStore,
  createLeadQuarantine,
  createLeadStore,
  createRequestLogStore,
  createSnapshotSource,
  type Database,
  openDatabase,
} from '@leads/core/db';
import { DisposeStack } from '@leads/core/dispose-stack';
import { createRateLimit } from '@leads/core/limits';
import { Invalidations, NatsSnapshotStore } from '@leads/core/nats';
import type { RequestLog } from '@leads/core/request-log';
import { SnapshotCache, SnapshotRefresher } from '@leads/core/snapshot';
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
import { openBuffer } from './buffer/open-buffer.ts';
import type { IntakeConfig } from './config.ts';

/** Requests have priority over buffered leads while this many of their leads wait for a batch. */
const busyQueueSize = 500;

/** The dependencies of the intake service, built once. Disposing it closes them in reverse order. */
export interface IntakeContext extends AsyncDisposable {
  readonly credentials: CredentialVerifier;
  readonly credentialUse: CredentialUse;
  readonly leads: LeadBatcher;
  readonly routes: CampaignRouter;
  readonly rateLimits: RateLimits;
  readonly requestLog: RequestLog;
  readonly metrics: Metrics;
  /** Absent without a trace exporter. */
  readonly tracing: Tracing | undefined;
  /** @throws LeadsError `unavailable` if the database does not respond, or is read-only. */
  readonly pingDatabase: () => Promise<void>;
  /** @throws LeadsError `unavailable` if the database lacks a migration of this release. */
  readonly checkSchema: () => Promise<void>;
  /** Absent without NATS_URL. @throws LeadsError `unavailable` if the buffer is full or unavailable. */
  readonly checkBuffer: (() => Promise<void>) | undefined;
}

/** The foundations of the context. Tests may pass their own, which the context disposes like its own. */
interface IntakeFoundations {
  readonly tracing: Tracing | undefined;
  readonly metrics: Metrics;
  readonly database: Database;
}

/** Builds the context. If a step fails, it disposes everything that it has opened. */
export async function createContext(
  config: IntakeConfig,
  log: Logger,
  overrides: Partial<IntakeFoundations> = {},
): Promise<IntakeContext> {
  await using resources = new DisposeStack();
  const tracing = resources.use(
    overrides.tracing ??
      (await openTracing(config, { name: 'leads-intake', version: packageJson.version }, log)),
  );
  const metrics = overrides.metrics ?? new Metrics({ service: 'intake', version: packageJson.version });
  const database = resources.use(
    overrides.database ?? openDatabase({ ...databaseOptions(config, 'leads-intake'), rejectsRecovery: true }),
  );
  const schema = createSchemaCheck(database, log);
  const credentialStore = createCredentialStore(database);
  const credentialUse = resources.use(
    new CredentialUse(
      credentialStore,
      warnOnError(log, 'Last uses of credentials were not recorded; retrying'),
    ),
  );
  const requestLog = resources.use(openRequestLog('intake', createRequestLogStore(database), metrics, log));
  const landingPages = resources.use(
    new LandingPageRegistrar(
      createLandingPageStore(database),
      warnOnError(log, 'Landing pages were not registered; they register with their next lead'),
      { capPerKey: config.INTAKE_NEW_LANDING_PAGES_PER_DAY || undefined },
    ),
  );
  const replicas = config.INTAKE_BUFFER_REPLICAS;
  const broker = resources.use(openBroker(config, { name: 'leads-intake', replicas }, log));
  const snapshotStore =
    broker &&
    new NatsSnapshotStore(broker, {
      replicas,
      onError: warnOnError(log, 'The snapshot bucket has fewer replicas than configured'),
    });
  const snapshot =
    snapshotStore &&
    new SnapshotCache(snapshotStore, warnOnError(log, 'The snapshot could not be read; retrying'));
  const health = new DatabaseHealth({ timeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS });
  const stale = { database: health, snapshot };
  const credentials = new CredentialVerifier(
    credentialStore,
    stale,
    createRateLimit(config.UNKNOWN_KEYS_PER_MINUTE),
  );
  const routes = new CampaignRouter(createIntakeRouting(database), landingPages, stale);
  const snapshotRefresher =
    snapshotStore &&
    resources.use(
      new SnapshotRefresher(
        createSnapshotSource(database),
        snapshotStore,
        warnOnError(log, 'The snapshot was not refreshed; retrying'),
      ),
    );
  const invalidations =
    broker && new Invalidations(broker, warnOnError(log, 'An invalidation message could not be parsed'));
  invalidations?.subscribe((change) => {
    for (const cache of [snapshot, credentials, routes]) cache?.invalidate(change);
    snapshotRefresher?.noteChange();
  });
  const leadStore = traceInserts(createLeadStore(database), tracing);
  const buffer =
    broker &&
    resources.use(
      openBuffer(
        {
          broker,
          maxBytes: config.INTAKE_BUFFER_MEGABYTES * 1024 * 1024,
          replicas,
          leads: leadStore,
          quarantine: createLeadQuarantine(database),
          findOnlyWorkspace: async () => snapshot?.findOnlyWorkspace(),
          // Without it, each cache would have to wait for its own timeout.
          onUnavailable: () => stale.database.markUnavailable(),
        },
        metrics,
        log,
      ),
    );
  const leads = resources.use(
    new LeadBatcher(buffer?.leads ?? leadStore, { observer: observeBatches(metrics) }),
  );
  buffer?.drain(() => leads.load.waiting >= busyQueueSize);
  registerBatchMetrics(metrics, leads);
  registerPoolMetrics(metrics, database.poolUsage);
  registerCacheMetrics(metrics, () => ({ ...credentials.cacheUse(), intake_route: routes.cacheUse }));
  const context = {
    credentials,
    credentialUse,
    leads,
    metrics,
    requestLog,
    routes,
    tracing,
    rateLimits: {
      browserKeys: createRateLimit(config.INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE),
      visitors: createRateLimit(config.INTAKE_VISITOR_REQUESTS_PER_MINUTE),
      secretKeys: createRateLimit(config.INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE),
      workspaces: createRateLimit(config.INTAKE_WORKSPACE_REQUESTS_PER_MINUTE),
    },
    pingDatabase: () => database.ping({ isForWrites: true }),
    checkSchema: () => schema.check(),
    checkBuffer: buffer && (() => buffer.checkRoom()),
  };
  const opened = resources.move();
  return { ...context, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}
