import { Invalidations, NatsSnapshotShelf } from '@leads/core/broker';
import { IntakeRoutes, LandingPageRegistrar } from '@leads/core/campaign';
import { CredentialUse, CredentialVerifier, StoreWatch } from '@leads/core/credential';
import {
  createCampaignStore,
  createCredentialStore,
  createLeadQuarantine,
  createLeadStore,
  createSnapshotSource,
  openDatabase,
} from '@leads/core/db';
import { IntakeMemory, SnapshotKeeper } from '@leads/core/snapshot';
import { openBroker } from '@leads/http/broker';
import type { Logger } from '@leads/http/log';
import { Metrics, watchCaches, watchPool } from '@leads/http/metrics';
import { createRateLimit, type RateLimits } from '@leads/http/rate-limit';
import { watchSchema } from '@leads/http/schema';
import { traceInserts } from '@leads/http/trace-leads';
import type { Tracing } from '@leads/http/tracing';
import packageJson from '../package.json' with { type: 'json' };
import { LeadBatcher } from './batch/lead-batcher.ts';
import { observeBatches, watchBatches } from './batch/watch-batches.ts';
import { openBuffer } from './buffer/open-buffer.ts';
import type { IntakeConfig } from './config.ts';

/** Leads that wait for a batch: as many make the buffer's wait. */
const longQueue = 500;

/** Everything the intake needs, built once. Disposing it writes what is still to be written and hangs up. */
export interface IntakeContext extends AsyncDisposable {
  readonly credentials: CredentialVerifier;
  readonly credentialUse: CredentialUse;
  readonly leads: LeadBatcher;
  readonly routes: IntakeRoutes;
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
  const schema = watchSchema(database, log);
  const campaigns = createCampaignStore(database);
  const landingPages = new LandingPageRegistrar(campaigns, (err) => {
    log.warn({ err }, 'Landing pages were not registered; they will be with their next lead');
  });
  const credentialStore = createCredentialStore(database);
  const broker = openBroker(config, { name: 'leads-intake', replicas: config.INTAKE_BUFFER_REPLICAS }, log);
  const shelf =
    broker &&
    new NatsSnapshotShelf(broker, {
      replicas: config.INTAKE_BUFFER_REPLICAS,
      onError: (err) =>
        log.warn({ err }, 'The snapshot for new instances has not as many replicas as it should'),
    });
  const memory =
    shelf && new IntakeMemory(shelf, (err) => log.warn({ err }, 'The snapshot could not be read'));
  const stale = { store: new StoreWatch(), memory };
  const credentials = new CredentialVerifier(credentialStore, stale);
  const credentialUse = new CredentialUse(credentialStore, (err) => {
    log.warn({ err }, 'When credentials were used last could not be written: it is tried again');
  });
  const routes = new IntakeRoutes(campaigns, landingPages, stale);
  const snapshots =
    shelf &&
    new SnapshotKeeper(createSnapshotSource(database), shelf, (err) => {
      log.warn({ err }, 'The snapshot for new instances could not be renewed: it is tried again');
    });
  const changes = broker && new Invalidations(broker, (err) => log.warn({ err }, 'Changes cannot be heard'));
  changes?.hear((change) => {
    for (const cache of [memory, credentials, routes]) cache?.forget(change);
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
        onAway: () => stale.store.noteAway(),
      },
      metrics,
      log,
    );
  const leads = new LeadBatcher(buffer?.leads ?? leadStore, { observer: observeBatches(metrics) });
  buffer?.drain(() => leads.load.waiting >= longQueue);
  watchBatches(metrics, leads);
  watchPool(metrics, database.poolUse);
  watchCaches(metrics, () => ({ ...credentials.cacheUse(), intake_route: routes.cacheUse }));
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
