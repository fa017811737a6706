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

/** A message from the primary to a worker. */
type Order =
  /** Every worker listens, so the service is ready. */
  | { readonly kind: 'begin' }
  /** Drain and exit. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'report' }
  /** Liveness check: a worker answers with `pong`. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'metrics'; readonly text: string }
  | { readonly kind: 'logLevel'; readonly level: string };

/** A message from a worker to the primary. */
type Answer =
  | { readonly kind: 'report'; readonly report: MetricReport[] }
  | { readonly kind: 'pong' }
  /** A request for `/metrics` reached this worker, which needs the metrics of all workers. */
  | { readonly kind: 'metrics' };

/** Delays before a worker is restarted, by the number of its exits within {@link crashLoopMs}. */
const restartDelaysMs = [0, 250, 1_000, 2_500];
const crashLoopMs = 60_000;
/** A worker that leaves {@link maxUnanswered} pings in a row unanswered is considered hung. */
const pingEveryMs = 5_000;
const maxUnanswered = 2;
/** After this time the primary uses a worker's previous report. The asking worker waits longer than that. */
const reportTimeoutMs = 1_000;
const metricsTimeoutMs = 3_000;

/**
 * Runs a service as several worker processes that share its port. This process is the primary: it restarts workers
 * that exit, and stops all of them together. Workers run the same file and exit when the primary does.
 *
 * @param options.metrics the primary's own metrics, which are added to those of the workers.
 * @returns when all workers listen.
 * @throws Error when a worker does not start.
 */
export async function runWorkers(
  count: number,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Promise<void> {
  const workers = new Set<Worker>();
  const lastReports = new Map<Worker, MetricReport[]>();
  /** Unanswered pings of each worker that listens. */
  const unanswered = new Map<Worker, number>();
  /** The final counters of exited workers. Without them, sums would fall when a worker exits. */
  let ended: Promise<MetricReport[]> = Promise.resolve([]);
  const logLevel = new LogLevel(log);
  let restarts = 0;
  let hasBegun = false;
  let isStopping = false;
  metrics.gauge({ name: 'leads_workers', help: 'Running worker processes.' }, () => workers.size);
  metrics.counter({ name: 'leads_worker_restarts_total', help: 'Restarts of workers.' }, () => restarts);

  /** @throws Error when the worker exits before it listens. */
  const startWorker = async (ends: readonly number[]): Promise<void> => {
    const worker = cluster.fork();
    workers.add(worker);
    log.info({ worker: worker.id, pid: worker.process.pid }, 'Worker started');
    worker.on('message', (answer: Answer) => {
      if (answer.kind === 'pong' && unanswered.has(worker)) unanswered.set(worker, 0);
      if (answer.kind === 'report') lastReports.set(worker, answer.report);
      if (answer.kind === 'metrics') {
        sendMetrics(worker).catch((err: unknown) => log.error({ err }, 'Metrics could not be collected'));
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
    if (!isListening && !hasBegun && !isStopping) throw new Error('a worker exited before it listened');
    if (isListening) {
      order(worker, { kind: 'logLevel', level: logLevel.current });
      unanswered.set(worker, 0);
    }
    if (isListening && hasBegun) order(worker, { kind: 'begin' });
    void exit.then((how) => replace(worker, how, ends));
  };

  /** @param before the times at which its predecessors exited, within {@link crashLoopMs}. */
  const replace = async (
    { id: worker }: Worker,
    how: { code: number | null; signal: string | null },
    before: readonly number[],
  ): Promise<void> => {
    if (isStopping) return;
    const ends = [...before, Date.now()].filter((at) => at > Date.now() - crashLoopMs);
    const delayMs = restartDelaysMs[ends.length - 1];
    if (delayMs === undefined) {
      log.fatal({ worker, ...how, ends: ends.length }, 'Workers keep exiting; the service stops');
      close();
      return;
    }
    log.error({ worker, ...how, delayMs }, 'A worker exited unexpectedly; restarting it');
    await sleep(delayMs);
    if (isStopping) return;
    restarts++;
    await startWorker(ends);
  };

  /** Kills hung workers. A hung worker would still accept connections and answer none. */
  const watch = () => {
    for (const [worker, pings] of unanswered) {
      if (pings < maxUnanswered) {
        unanswered.set(worker, pings + 1);
        order(worker, { kind: 'ping' });
        continue;
      }
      log.error({ worker: worker.id, pid: worker.process.pid }, 'A worker hangs; killing it');
      worker.process.kill('SIGKILL');
    }
  };
  setInterval(watch, pingEveryMs).unref();

  const sendMetrics = async (asking: Worker): Promise<void> => {
    await Promise.all([...workers].map((worker) => askForReport(worker)));
    // Read both at the same time, so that a worker that exits meanwhile is counted once.
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
    if (err !== undefined) log.fatal({ err }, 'Stopping after an uncaught error');
    isStopping = true;
    const exits = [...workers].map(async (worker) => {
      order(worker, { kind: 'stop' });
      const [code] = await once(worker, 'exit');
      return code === 0;
    });
    const areClean = (await Promise.all(exits)).every(Boolean);
    log.info('Stopped');
    if (manual === true || !areClean) throw new Error('A worker did not stop cleanly');
  });

  // The first worker shows whether the service can start at all.
  await startWorker([]);
  if (isStopping) return;
  await Promise.all(Array.from({ length: count - 1 }, () => startWorker([])));
  hasBegun = true;
  for (const worker of workers) order(worker, { kind: 'begin' });
  log.info({ workers: count }, 'All workers listen');
}

/**
 * Makes this process a worker. It stops with the others, is ready when all are ready, logs at their level, and answers
 * `/metrics` for all of them.
 *
 * @param own.stop drains and ends this process.
 */
export function joinWorkers(
  { lifecycle, log }: Pick<Server, 'lifecycle' | 'log'>,
  { metrics, logLevel, stop }: { metrics: Metrics; logLevel: LogLevel; stop: () => void },
): void {
  lifecycle.starting = true;
  // The primary receives the signal as well if the whole process group does, and forwards it.
  process.on(logLevelSignal, () => undefined);
  process.on('message', (order: Order) => {
    if (order.kind === 'logLevel') logLevel.current = order.level;
    if (order.kind === 'begin') lifecycle.starting = false;
    if (order.kind === 'ping') answer({ kind: 'pong' });
    // A terminal's Ctrl-C has already reached every process.
    if (order.kind === 'stop' && !lifecycle.draining) stop();
    if (order.kind === 'report') {
      metrics.report().then(
        (report) => answer({ kind: 'report', report }),
        (err: unknown) => log.error({ err }, 'Metrics could not be collected'),
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

/** Waits until a worker has reported, or until {@link reportTimeoutMs} has passed. */
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

// Sending to an exited worker is not an error.
const order = (worker: Worker, message: Order) => worker.send(message, () => undefined);
const answer = (message: Answer) => process.send?.(message, undefined, undefined, () => undefined);
