import type { CacheUse } from '@leads/core/credential';
import { type Aggregator, AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';

type Labels = Readonly<Record<string, string | number>>;

/** The current value of a metric: one number, or one for each set of labels. An empty array means unknown. */
type Reading = number | readonly (readonly [Labels, number])[];

interface MetricDescription {
  /** By Prometheus's conventions: base units, `_total` for counters. */
  readonly name: string;
  readonly help: string;
}

/** The current state of a metric of one process, ready to be aggregated with the reports of other processes. */
export interface MetricReport extends MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** How the values of several processes are aggregated. */
  readonly aggregator: Aggregator;
  readonly values: readonly {
    readonly metricName?: string;
    readonly labels: Labels;
    readonly value: number;
  }[];
}

/**
 * Node's own metrics that are removed. The first 3 are gauges with names of counters, and their parts by type remain.
 * The last one reports that the event loop was blocked for 292 years if 2 scrapes arrive at once.
 */
const withoutUse = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_lag_min_seconds',
];

/** The bucket bounds of request durations in seconds: from the duration of a batch to the request timeout. */
const requestBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The metrics of a service: Node's own, those of requests, and those that other parts register. The parts store their
 * values, and a scrape reads them. Counting here costs a request about 50 ns. The labeled metrics of prom-client
 * serialize the labels on each call, which costs 1.5 us.
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
    this.gauge(
      { name: 'leads_build_info', help: 'The running version, in labels. Always 1.' },
      () => [[info, 1]],
      'first',
    );
    this.counter({ name: 'http_requests_total', help: 'Answered requests.' }, () =>
      this.#perRequestKind().map(([labels, { count }]) => [labels, count]),
    );
    this.#add(
      {
        name: 'http_request_duration_seconds',
        help: 'Time from the headers of a request to the end of its response.',
      },
      'histogram',
      () => this.#perRequestKind().flatMap(([labels, durations]) => durations.values(labels)),
    );
    this.counter(
      {
        name: 'http_malformed_requests_total',
        help: 'Requests rejected before they were received completely: malformed, too large or too slow.',
      },
      () => [...this.#malformed].map(([status, count]) => [{ status }, count]),
    );
  }

  /** Registers a counter. `read` returns its value at each scrape. */
  counter(description: MetricDescription, read: () => Reading): void {
    this.#add(description, 'counter', () => valuesOf(read()));
  }

  /**
   * Registers a gauge. `read` returns its value at each scrape, and the scrape waits for it.
   *
   * @param aggregator how the values of a service's processes are aggregated.
   */
  gauge(
    description: MetricDescription,
    read: () => Reading | Promise<Reading>,
    aggregator: Aggregator = 'sum',
  ): void {
    this.#add(description, 'gauge', async () => valuesOf(await read()), aggregator);
  }

  /**
   * Registers a histogram.
   *
   * @param bounds the upper bounds of the buckets, ascending.
   * @returns the histogram that observes the values.
   */
  histogram(description: MetricDescription, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(description.name, bounds);
    this.#add(description, 'histogram', () => histogram.values({}));
    return histogram;
  }

  /** @param route the route's pattern, never a URL; `undefined` for a path that does not exist. */
  countRequest(method: string, route: string | undefined, status: number, seconds: number): void {
    const methods = getOrMake(this.#requests, route ?? 'unmatched', () => new Map<string, never>());
    const statuses = getOrMake(methods, method, () => new Map<number, never>());
    getOrMake(statuses, status, () => new Histogram('http_request_duration_seconds', requestBounds)).observe(
      seconds,
    );
  }

  /** Counts a request that was rejected before it was received completely. */
  countMalformed(status: number): void {
    this.#malformed.set(status, (this.#malformed.get(status) ?? 0) + 1);
  }

  /** Returns the current state of every metric. */
  async report(): Promise<MetricReport[]> {
    const ofProcess = (await this.#process.getMetricsAsJSON()) as unknown as MetricReport[];
    return [...ofProcess, ...(await Promise.all([...this.#reports.values()].map((report) => report())))];
  }

  /** Returns every metric in Prometheus's text format. In a worker, it aggregates the metrics of all workers. */
  text = async (): Promise<string> => formatReports([await this.report()]);

  #add(
    description: MetricDescription,
    type: MetricReport['type'],
    read: () => MetricReport['values'] | Promise<MetricReport['values']>,
    aggregator: Aggregator = 'sum',
  ): void {
    if (this.#reports.has(description.name))
      throw new TypeError(`The metric ${description.name} is already registered`);
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

/** A distribution of values in buckets. */
export class Histogram {
  readonly #name: string;
  readonly #bounds: readonly number[];
  /** The number of values in each bucket. The last bucket counts the values above every bound. */
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
 * Replacements of prom-client's aggregators. The start time of a service is that of its first process; prom-client
 * omits it. The maximum of all processes replaces the average, which hides a single stuck process.
 */
const aggregators: Partial<Record<Aggregator, Aggregator>> = { omit: 'min', average: 'max' };

/** Aggregates the reports of a service's processes, in Prometheus's text format. */
export function formatReports(reports: readonly MetricReport[][]): Promise<string> {
  return AggregatorRegistry.aggregate(reports.map((report) => report.map(adjust))).metrics();
}

/** Aggregates the reports of several processes into one report. */
export async function addUpReports(reports: readonly MetricReport[][]): Promise<MetricReport[]> {
  const sum = AggregatorRegistry.aggregate([...reports]);
  return (await sum.getMetricsAsJSON()) as unknown as MetricReport[];
}

function adjust(metric: MetricReport): MetricReport {
  return {
    ...metric,
    aggregator: aggregators[metric.aggregator] ?? metric.aggregator,
    // The mean of zero values is NaN.
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
    { name: 'db_client_connections_max', help: 'Maximum number of connections to Postgres.' },
    () => read().max,
  );
  metrics.gauge(
    {
      name: 'db_client_connections_pending_requests',
      help: 'Queries that wait for a connection to Postgres.',
    },
    () => read().waiting,
  );
}

/** Registers the hits and misses of caches. */
export function registerCacheMetrics(metrics: Metrics, read: () => Readonly<Record<string, CacheUse>>): void {
  metrics.counter({ name: 'cache_lookups_total', help: 'Cache lookups.' }, () =>
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
