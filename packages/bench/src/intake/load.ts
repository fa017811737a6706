import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Load, Statuses } from '../load.ts';
import type { LeadKind } from './lead-requests.ts';

/** What leads are sent, how many at once, and for how long. */
export interface LeadLoad extends LeadKind {
  readonly connections: number;
  readonly durationMs: number;
  /** Leads a second, whether they are answered or not; without it each connection sends once it is answered. */
  readonly rate?: number;
  /** Gets the `order_id` of every answer with 200 at its end, one a line. */
  readonly idsFile?: string;
  /** Gets a line of each answer before it counts, whatever it is (faults/answers.ts reads them). */
  readonly answersFile?: string;
}

/** What came of a load; times are of answers with 200, NaN where there is none. */
export interface LeadLoadFigures extends Omit<Load, 'latenciesMs'> {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

/** Sends leads from a process of its own. */
export interface LoadProcess extends Disposable {
  send(load: LeadLoad): Promise<LeadLoadFigures>;
  /** Ends what is being sent before its time: the figures come once it is answered. */
  end(): void;
}

export function startLoadProcess(): LoadProcess {
  // The other serialization knows no NaN.
  const child = fork(join(import.meta.dirname, 'intake/load-process.js'), {
    execArgv: [],
    serialization: 'advanced',
  });
  const exited = once(child, 'exit');
  return {
    async send(load) {
      const answer = once(child, 'message') as Promise<[LeadLoadFigures]>;
      child.send(load);
      const ended = exited.then(() => {
        throw new Error('What sends the leads has ended');
      });
      const [figures] = await Promise.race([answer, ended]);
      return figures;
    },
    end: () => child.send('end'),
    [Symbol.dispose]: () => child.kill(),
  };
}

/** How many answers were something else than 200; of requests that were not meant to be refused. */
export function countOthers({ statuses }: { statuses: Statuses }): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => (status === '200' ? sum : sum + count), 0);
}
