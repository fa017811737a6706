import type { MigratedDatabase } from '@leads/core/schema-check';
import { createServer, registerRoutes, type Server } from '@leads/http/server/create-server';
import { healthRoutes } from '@leads/http/server/health';
import { metricsRoutes } from '@leads/http/server/metrics-route';
import { createLogger, type Logger } from '@leads/http/service/log';
import { Metrics, type PoolUsage, registerPoolMetrics } from '@leads/http/service/metrics';
import { createSchemaCheck } from '@leads/http/service/schema-check';
import packageJson from '../../package.json' with { type: 'json' };
import { registerAttemptDurations, registerDeliveryMetrics } from './delivery-metrics.ts';
import type { OpenDeliverer } from './open-deliverer.ts';

/** What the server shows of the database. */
interface WatchedDatabase extends MigratedDatabase {
  /** @throws LeadsError `unavailable` if Postgres does not answer. */
  readonly ping: () => Promise<void>;
  readonly poolUsage: () => PoolUsage;
}

/** The server of `leads deliver`: `/health/live`, `/health/ready` and `/metrics`, as the services have them. */
export class DeliverServer implements AsyncDisposable {
  readonly #metrics = new Metrics({ service: 'deliver', version: packageJson.version });
  readonly #log: Logger;
  readonly #app: Server;
  readonly #database: WatchedDatabase;
  /** Observes the duration of an attempt, in milliseconds. */
  readonly observeAttempt = registerAttemptDurations(this.#metrics);

  /** @param stderr receives the log. */
  constructor(database: WatchedDatabase, stderr: { write(line: string): unknown }) {
    this.#database = database;
    this.#log = createLogger({
      service: 'deliver',
      level: 'warn',
      destination: { write: (line) => void stderr.write(line) },
    });
    this.#app = createServer({ log: this.#log, trustProxy: '', metrics: this.#metrics });
  }

  /**
   * @param listen.metricsToken as METRICS_TOKEN of the services.
   * @throws Error if the port is in use.
   */
  async listen(
    deliverer: OpenDeliverer,
    listen: { host: string; port: number; metricsToken: string | undefined },
  ): Promise<void> {
    const { host, port, metricsToken } = listen;
    registerPoolMetrics(this.#metrics, this.#database.poolUsage);
    registerDeliveryMetrics(this.#metrics, deliverer);
    const schema = createSchemaCheck(this.#database, this.#log);
    await registerRoutes(this.#app, async (routes) => {
      const checks = { database: () => this.#database.ping() };
      await healthRoutes(routes, checks, { needed: 'all', checkSchema: () => schema.check() });
      await metricsRoutes(routes, this.#metrics, metricsToken);
    });
    await this.#app.listen({ host, port });
  }

  /** From now on, `/health/ready` answers 503. */
  drain(): void {
    this.#app.lifecycle.draining = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close();
  }
}
