import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '@leads/core/errors';
import closeWithGrace from 'close-with-grace';
import type { Server } from '../server/create-server.ts';
import type { Logger } from './log.ts';
import { LogLevel, logLevelSignal } from './log-level.ts';
import { addUpReports, formatReports, type MetricReport, type Metrics } from './metrics.ts';
import { shutdown } from './shutdown.ts';

/** What the primary tells a worker. */
type Order =
  /** Every worker listens: the service can take requests. */
  | { readonly kind: 'begin' }
  /** Drain and end. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'report' }
  /** Is anybody there? */
  | { readonly kind: 'ping' }
  | { readonly kind: 'metrics'; readonly text: string }
  | { readonly kind: 'logLevel'; readonly level: string };

/** What a worker tells the primary. */
type Answer =
  | { readonly kind: 'report'; readonly report: MetricReport[] }
  | { readonly kind: 'pong' }
  /** Somebody wants to know the metrics of all. */
  | { readonly kind: 'metrics' };

/** How long to wait before a worker that has ended is started anew, by how often it has within a minute. */
const restartDelaysMs = [0, 250, 1_000, 2_500];
const crashLoopMs = 60_000;
/** A worker that answers none of so many pings, one every so often, hangs: where all stand still at once, none does. */
const pingEveryMs = 5_000;
const maxUnanswered = 2;
/** A worker that has not reported by then is taken as it was last; the one that asks waits for longer than that. */
const reportTimeoutMs = 1_000;
const metricsTimeoutMs = 3_000;

/**
 * Runs a service as several processes that share its port, the primary of which this is: it starts them anew when
 * they end, and stops them as one. Workers are started from the same file, and end when the primary does.
 *
 * @param options.metrics of the primary: what it has of its own is added to that of the workers.
 * @returns when all listen.
 * @throws Error when one of them does not start.
 */
export async function runWorkers(
  count: number,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Promise<void> {
  const workers = new Set<Worker>();
  const lastReports = new Map<Worker, MetricReport[]>();
  /** Of those that listen: how many pings they have not answered. */
  const unanswered = new Map<Worker, number>();
  /** What those counted that have ended: sums must not fall when a worker goes. */
  let ended: Promise<MetricReport[]> = Promise.resolve([]);
  const logLevel = new LogLevel(log);
  let restarts = 0;
  let hasBegun = false;
  let isStopping = false;
  metrics.gauge({ name: 'leads_workers', help: 'Worker processes that are there.' }, () => workers.size);
  metrics.counter(
    { name: 'leads_worker_restarts_total', help: 'Workers started in place of one that had ended.' },
    () => restarts,
  );

  /** @throws Error when it ends before it listens. */
  const startWorker = async (ends: readonly number[]): Promise<void> => {
    const worker = cluster.fork();
    workers.add(worker);
    log.info({ worker: worker.id, pid: worker.process.pid }, 'Worker started');
    worker.on('message', (answer: Answer) => {
      if (answer.kind === 'pong' && unanswered.has(worker)) unanswered.set(worker, 0);
      if (answer.kind === 'report') lastReports.set(worker, answer.report);
      if (answer.kind === 'metrics') {
        tellMetrics(worker).catch((err: unknown) => log.error({ err }, 'Metrics could not be told'));
      }
    });
    const exit = once(worker, 'exit').then(([code, signal]) => {
      workers.delete(worker);
      unanswered.delete(worker);
      const last = lastReports.get(worker) ?? [];
      lastReports.delete(worker);
      ended = ended.then((before) => addUpReports([before, last.filter(isCumulative)]));
      return { code: code as number | null, signal: signal as string | null };
    });
    const isListening = await Promise.race([
      once(worker, 'listening').then(() => true),
      exit.then(() => false),
    ]);
    if (!isListening && !hasBegun && !isStopping) throw new Error('a worker has ended before it listened');
    if (isListening) {
      order(worker, { kind: 'logLevel', level: logLevel.current });
      unanswered.set(worker, 0);
    }
    if (isListening && hasBegun) order(worker, { kind: 'begin' });
    void exit.then((how) => replace(worker, how, ends));
  };

  /** @param ends when those ended that stood in its place before, within a minute. */
  const replace = async (
    { id: worker }: Worker,
    how: { code: number | null; signal: string | null },
    before: readonly number[],
  ): Promise<void> => {
    if (isStopping) return;
    const ends = [...before, Date.now()].filter((at) => at > Date.now() - crashLoopMs);
    const delayMs = restartDelaysMs[ends.length - 1];
    if (delayMs === undefined) {
      log.fatal({ worker, ...how, ends: ends.length }, 'Workers end again and again: the service ends');
      close();
      return;
    }
    log.error({ worker, ...how, delayMs }, 'A worker has ended by itself: another is started');
    await sleep(delayMs);
    if (isStopping) return;
    restarts++;
    await startWorker(ends);
  };

  /** Who hangs takes connections all the same, and answers none. */
  const watch = () => {
    for (const [worker, pings] of unanswered) {
      if (pings < maxUnanswered) {
        unanswered.set(worker, pings + 1);
        order(worker, { kind: 'ping' });
        continue;
      }
      log.error({ worker: worker.id, pid: worker.process.pid }, 'A worker hangs: it is killed');
      worker.process.kill('SIGKILL');
    }
  };
  setInterval(watch, pingEveryMs).unref();

  const tellMetrics = async (asking: Worker): Promise<void> => {
    await Promise.all([...workers].map((worker) => askForReport(worker)));
    // Taken at once: who ends meanwhile is in one of the two.
    const ofEnded = ended;
    const ofWorkers = [...lastReports.values()];
    const text = await formatReports([await metrics.report(), await ofEnded, ...ofWorkers]);
    order(asking, { kind: 'metrics', text });
  };

  process.once('exit', () => {
    for (const worker of workers) worker.process.kill('SIGKILL');
  });
  logLevel.switchBySignal((level) => {
    for (const worker of workers) order(worker, { kind: 'logLevel', level });
  });
  const { close } = closeWithGrace(shutdown, async ({ signal, err, manual }) => {
    if (signal !== undefined) log.info({ signal }, 'Stopping');
    if (err !== undefined) log.fatal({ err }, 'Stopping after an error that nobody caught');
    isStopping = true;
    const exits = [...workers].map(async (worker) => {
      order(worker, { kind: 'stop' });
      const [code] = await once(worker, 'exit');
      return code === 0;
    });
    const areClean = (await Promise.all(exits)).every(Boolean);
    log.info('Stopped');
    if (manual === true || !areClean) throw new Error('Stopped, but not in order');
  });

  // The first one shows whether it can be started at all.
  await startWorker([]);
  if (isStopping) return;
  await Promise.all(Array.from({ length: count - 1 }, () => startWorker([])));
  hasBegun = true;
  for (const worker of workers) order(worker, { kind: 'begin' });
  log.info({ workers: count }, 'All workers listen');
}

/**
 * Makes this process one of several: it stops with all, is ready when all are, logs at the level that all do, and its
 * `/metrics` speaks for all.
 *
 * @param own.stop drains and ends this process.
 */
export function joinWorkers(
  { lifecycle, log }: Pick<Server, 'lifecycle' | 'log'>,
  { metrics, logLevel, stop }: { metrics: Metrics; logLevel: LogLevel; stop: () => void },
): void {
  lifecycle.starting = true;
  // The primary has it as well where the whole group is signalled, and tells.
  process.on(logLevelSignal, () => undefined);
  process.on('message', (order: Order) => {
    if (order.kind === 'logLevel') logLevel.current = order.level;
    if (order.kind === 'begin') lifecycle.starting = false;
    if (order.kind === 'ping') answer({ kind: 'pong' });
    // A terminal's Ctrl-C reaches every process by itself.
    if (order.kind === 'stop' && !lifecycle.draining) stop();
    if (order.kind === 'report') {
      metrics.report().then(
        (report) => answer({ kind: 'report', report }),
        (err: unknown) => log.error({ err }, 'Metrics could not be told'),
      );
    }
  });
  metrics.text = () =>
    new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => {
        clearTimeout(timer);
        process.off('message', listen);
        outcome();
      };
      const listen = (order: Order) => {
        if (order.kind === 'metrics') settle(() => resolve(order.text));
      };
      const timer = setTimeout(() => settle(() => reject(new LeadsError('unavailable'))), metricsTimeoutMs);
      process.on('message', listen);
      answer({ kind: 'metrics' });
    });
}

/** Waits until a worker has reported, or has had its time to. */
async function askForReport(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      worker.off('message', listen);
      resolve();
    };
    const listen = ({ kind }: Answer) => {
      if (kind === 'report') settle();
    };
    const timer = setTimeout(settle, reportTimeoutMs);
    worker.on('message', listen);
    order(worker, { kind: 'report' });
  });
}

const isCumulative = ({ type }: MetricReport) => type === 'counter' || type === 'histogram';

// Who has gone meanwhile hears nothing, which is no error.
const order = (worker: Worker, message: Order) => worker.send(message, () => undefined);
const answer = (message: Answer) => process.send?.(message, undefined, undefined, () => undefined);
