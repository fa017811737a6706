import type { CacheUse } from '@leads/core/credential';
import { type Aggregator, AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';

type Labels = Readonly<Record<string, string | number>>;

/** What a metric stands at: one number, or one for each set of labels; an empty list where nobody can tell. */
type Reading = number | readonly (readonly [Labels, number])[];

interface MetricDescription {
  /** By Prometheus's conventions: base units, `_total` for counters. */
  readonly name: string;
  readonly help: string;
}

/** A metric of one process as it stands, ready to be added up with those of others. */
export interface MetricReport extends MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How it is added up. */
  readonly aggregator: Aggregator;
  readonly values: readonly {
    readonly metricName?: string;
    readonly labels: Labels;
    readonly value: number;
  }[];
}

/**
 * Of Node's own metrics: gauges that are named as counters are, whose parts are there by type, and one that tells of
 * two scrapes at once that the event loop stood still for 292 years.
 */
const withoutUse = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_min_seconds',
];

/** In seconds: what a batch takes, up to where requests are cut. */
const requestBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * A service's metrics: Node's own, those of its requests, and whatever its parts add. Numbers are kept by who has
 * them and read when they are asked for; what is counted here costs a request some 50 ns, where prom-client's
 * labelled metrics, which write the labels into a string each time, cost 1.5 us.
 */
export class Metrics {
  readonly #process = new Registry();
  readonly #reports = new Map<string, () => Promise<MetricReport>>();
  /** By route, method and status. */
  readonly #requests = new Map<string, Map<string, Map<number, Histogram>>>();
  readonly #malformed = new Map<number, number>();

  constructor(build: { service: string; version: string }) {
    collectDefaultMetrics({ register: this.#process });
    for (const name of withoutUse) this.#process.removeSingleMetric(name);
    const info: Labels = { ...build, node_version: process.version };
    this.gauge({ name: 'leads_build_info', help: 'What runs: always 1.' }, () => [[info, 1]], 'first');
    this.counter({ name: 'http_requests_total', help: 'Requests answered.' }, () =>
      this.#perRequestKind().map(([labels, { count }]) => [labels, count]),
    );
    this.#add(
      {
        name: 'http_request_duration_seconds',
        help: "From a request's headers to the end of its answer.",
      },
      'histogram',
      () => this.#perRequestKind().flatMap(([labels, durations]) => durations.values(labels)),
    );
    this.counter(
      {
        name: 'http_malformed_requests_total',
        help: 'Requests refused before they were whole: malformed, too large or too slow.',
      },
      () => [...this.#malformed].map(([status, count]) => [{ status }, count]),
    );
  }

  /** Adds a number that only grows. `read` tells it when it is asked for. */
  counter(description: MetricDescription, read: () => Reading): void {
    this.#add(description, 'counter', () => valuesOf(read()));
  }

  /**
   * Adds a number that goes up and down. `read` tells it when it is asked for: whoever scrapes waits for it.
   *
   * @param aggregator how the processes of a service are added up.
   */
  gauge(
    description: MetricDescription,
    read: () => Reading | Promise<Reading>,
    aggregator: Aggregator = 'sum',
  ): void {
    this.#add(description, 'gauge', async () => valuesOf(await read()), aggregator);
  }

  /**
   * Adds a distribution.
   *
   * @param bounds the buckets' upper bounds, ascending.
   * @returns what takes its values.
   */
  histogram(description: MetricDescription, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(description.name, bounds);
    this.#add(description, 'histogram', () => histogram.values({}));
    return histogram;
  }

  /** @param route its pattern, never an address; `undefined` for a path that is not there. */
  countRequest(method: string, route: string | undefined, status: number, seconds: number): void {
    const methods = getOrMake(this.#requests, route ?? 'unmatched', () => new Map<string, never>());
    const statuses = getOrMake(methods, method, () => new Map<number, never>());
    getOrMake(statuses, status, () => new Histogram('http_request_duration_seconds', requestBounds)).observe(
      seconds,
    );
  }

  /** A request that was refused before there was one. */
  countMalformed(status: number): void {
    this.#malformed.set(status, (this.#malformed.get(status) ?? 0) + 1);
  }

  /** Every metric as it stands. */
  async report(): Promise<MetricReport[]> {
    const ofProcess = (await this.#process.getMetricsAsJSON()) as unknown as MetricReport[];
    return [...ofProcess, ...(await Promise.all([...this.#reports.values()].map((report) => report())))];
  }

  /** Every metric in Prometheus's text format. Where this process is one of several, of all of them. */
  text = async (): Promise<string> => formatReports([await this.report()]);

  #add(
    description: MetricDescription,
    type: MetricReport['type'],
    read: () => MetricReport['values'] | Promise<MetricReport['values']>,
    aggregator: Aggregator = 'sum',
  ): void {
    if (this.#reports.has(description.name)) throw new TypeError(`There is a metric ${description.name}`);
    this.#reports.set(description.name, async () => ({
      ...description,
      type,
      aggregator,
      values: await read(),
    }));
  }

  #perRequestKind(): (readonly [Labels, Histogram])[] {
    return [...this.#requests].flatMap(([route, methods]) =>
      [...methods].flatMap(([method, statuses]) =>
        [...statuses].map(([status, durations]) => [{ method, route, status }, durations] as const),
      ),
    );
  }
}

/** A distribution of values, in buckets. */
export class Histogram {
  readonly #name: string;
  readonly #bounds: readonly number[];
  /** How many values are in each bucket; the last one has those beyond every bound. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, bounds: readonly number[]) {
    this.#name = name;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  observe(value: number): void {
    let bucket = 0;
    for (const bound of this.#bounds) {
      if (value <= bound) break;
      bucket++;
    }
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  values(labels: Labels): MetricReport['values'] {
    let atMost = 0;
    const buckets = this.#counts.map((count, bucket) => {
      atMost += count;
      const le = this.#bounds[bucket] ?? '+Inf';
      return { metricName: `${this.#name}_bucket`, labels: { ...labels, le }, value: atMost };
    });
    return [
      ...buckets,
      { metricName: `${this.#name}_sum`, labels, value: this.#sum },
      { metricName: `${this.#name}_count`, labels, value: atMost },
    ];
  }
}

/** The media type of {@link formatReports}. */
export const metricsMediaType: string = Registry.PROMETHEUS_CONTENT_TYPE;

/**
 * What is said of a service instead of what prom-client says: its first start where that says none, and the worst
 * of its processes where that takes the average, which hides the one that is stuck.
 */
const aggregators: Partial<Record<Aggregator, Aggregator>> = { omit: 'min', average: 'max' };

/** The reports of processes that are one service, added up, in Prometheus's text format. */
export function formatReports(reports: readonly MetricReport[][]): Promise<string> {
  return AggregatorRegistry.aggregate(reports.map((report) => report.map(adjust))).metrics();
}

/** The reports of processes as one. */
export async function addUpReports(reports: readonly MetricReport[][]): Promise<MetricReport[]> {
  const sum = AggregatorRegistry.aggregate([...reports]);
  return (await sum.getMetricsAsJSON()) as unknown as MetricReport[];
}

function adjust(metric: MetricReport): MetricReport {
  return {
    ...metric,
    aggregator: aggregators[metric.aggregator] ?? metric.aggregator,
    // A mean of nothing yet is no number.
    values: metric.values.filter(({ value }) => Number.isFinite(value)),
  };
}

/** The connections of a pool. */
export interface PoolUsage {
  /** The maximum number of connections. */
  readonly max: number;
  /** Connections that are open or being opened. */
  readonly total: number;
  /** Open connections that no query uses. */
  readonly idle: number;
  /** Queries that wait for a connection. */
  readonly waiting: number;
}

/** Registers the metrics of the connections to Postgres. */
export function registerPoolMetrics(metrics: Metrics, read: () => PoolUsage): void {
  metrics.gauge({ name: 'db_client_connections', help: 'Connections to Postgres.' }, () => {
    const { total, idle } = read();
    return [
      [{ state: 'idle' }, idle],
      [{ state: 'used' }, total - idle],
    ];
  });
  metrics.gauge(
    { name: 'db_client_connections_max', help: 'Connections to Postgres that may be open at most.' },
    () => read().max,
  );
  metrics.gauge(
    { name: 'db_client_connections_pending_requests', help: 'Who waits for a connection to Postgres.' },
    () => read().waiting,
  );
}

/** Registers the hits and misses of caches. */
export function registerCacheMetrics(metrics: Metrics, read: () => Readonly<Record<string, CacheUse>>): void {
  metrics.counter({ name: 'cache_lookups_total', help: 'What was looked up in caches.' }, () =>
    Object.entries(read()).flatMap(([cache, { hits, misses, stale }]) => [
      [{ cache, result: 'hit' }, hits] as const,
      [{ cache, result: 'miss' }, misses] as const,
      [{ cache, result: 'stale' }, stale] as const,
    ]),
  );
}

function valuesOf(reading: Reading): MetricReport['values'] {
  if (typeof reading === 'number') return [{ labels: {}, value: reading }];
  return reading.map(([labels, value]) => ({ labels, value }));
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
