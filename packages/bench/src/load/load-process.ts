import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { median } from '../statistics.ts';
import type { RequestTarget } from './requests.ts';
import type { Load, Statuses } from './send-load.ts';

/** A load: its target, its connections and its duration. */
export interface LoadOptions extends RequestTarget {
  readonly connections: number;
  readonly durationMs: number;
  /**
   * Requests per second at fixed times. Without a rate, each connection sends its next request after a
   * response.
   */
  readonly rate?: number;
  /** A file to record each response in, before it is counted (answers.ts). */
  readonly answersFile?: string;
}

/** The result of a load. Latencies are those of responses with 200, NaN without any. */
export interface LoadFigures extends Omit<Load, 'latenciesMs'> {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** The maximum of requests at the end whose answers the load did not wait for. Default: 0. */
  readonly maxUnanswered?: number;
}

/** A process that sends loads, so the load's processor time is not counted for the measured program. */
export interface LoadProcess extends Disposable {
  /** Sends a load. An unhandled rejection is ignored, because the concurrent work has then failed first. */
  send(load: LoadOptions): Promise<LoadFigures>;
  /** Ends the current load early. Its figures follow after all requests are answered. */
  end(): void;
}

export function startLoadProcess(): LoadProcess {
  // JSON, the default serialization, cannot represent NaN.
  const child = fork(join(import.meta.dirname, 'load/load-worker.js'), {
    execArgv: [],
    serialization: 'advanced',
  });
  const exited = once(child, 'exit');
  return {
    send(load) {
      const answer = once(child, 'message') as Promise<[LoadFigures]>;
      child.send(load);
      const ended = exited.then(() => {
        throw new Error('The load process has ended');
      });
      const figures = Promise.race([answer, ended]).then(([sent]) => sent);
      figures.catch(() => undefined);
      return figures;
    },
    end: () => child.send('end'),
    [Symbol.dispose]: () => child.kill(),
  };
}

/** Counts the responses other than 200, including broken connections. Expected rejections are excluded. */
export function countNot200({ statuses }: { statuses: Statuses }): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => (status === '200' ? sum : sum + count), 0);
}

/** Returns the figures unchanged. @throws Error if a response was not 200. */
export function assertAll200(figures: LoadFigures): LoadFigures {
  if (countNot200(figures) === 0) return figures;
  throw new Error(`Not all responses are 200: ${JSON.stringify(figures.statuses)}`);
}

/** Summarizes rounds of a load: medians of rates and latencies, sums of counts. */
export function summarizeLoads(rounds: readonly LoadFigures[]) {
  const medianOf = (pick: (figures: LoadFigures) => number) => median(rounds.map(pick));
  return {
    requestsPerSecond: medianOf(({ requestsPerSecond }) => requestsPerSecond),
    p50Ms: medianOf(({ p50Ms }) => p50Ms),
    p99Ms: medianOf(({ p99Ms }) => p99Ms),
    statuses: sumCounts(rounds.map(({ statuses }) => statuses)),
    unsent: rounds.reduce((sum, { unsent }) => sum + unsent, 0),
  };
}

export const ratesOf = (rounds: readonly LoadFigures[]) =>
  rounds.map(({ requestsPerSecond }) => requestsPerSecond);

/** Sums the counts of responses by status. */
export function sumCounts(all: readonly Statuses[]): Statuses {
  const sum: Record<string, number> = {};
  for (const [status, count] of all.flatMap((statuses) => Object.entries(statuses))) {
    sum[status] = (sum[status] ?? 0) + count;
  }
  return sum;
}
