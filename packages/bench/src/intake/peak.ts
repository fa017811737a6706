import { median } from '../statistics.ts';
import type { LeadDatabase } from './database.ts';
import { leadPath } from './lead-requests.ts';
import type { LoadProcess } from './load.ts';
import type { Bench } from './measure.ts';
import { createKey, type IntakeService, startIntake } from './service.ts';

/** An intake with a database of its own, and leads for it. */
export interface BenchedIntake extends AsyncDisposable {
  readonly service: IntakeService;
  readonly database: LeadDatabase;
  /** Where leads go: what a load needs beside its connections, its rate and its duration. */
  readonly target: { readonly port: number; readonly path: string; readonly headers: Record<string, string> };
}

/**
 * @param name of the database.
 * @param preload a module that Node loads before the intake.
 */
export async function openIntake(
  { cluster, options }: Bench,
  name: string,
  preload?: string,
): Promise<BenchedIntake> {
  const database = await cluster.createDatabase(name);
  const headers = await createKey(database.url);
  const service = await startIntake({ databaseUrl: database.url, workers: options.workers, preload });
  return {
    service,
    database,
    target: { port: service.port, path: leadPath, headers },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** What the requirements are said of. */
export const usualConnections = 64;

/** The most leads a second that an intake answers, the median of some rounds after one that warms up. */
export async function measurePeak(
  load: LoadProcess,
  { target, database }: BenchedIntake,
  durationMs: number,
): Promise<number> {
  const rates: number[] = [];
  for (let round = -1; round < 3; round++) {
    const { requestsPerSecond } = await load.send({ ...target, connections: usualConnections, durationMs });
    if (round >= 0) rates.push(requestsPerSecond);
  }
  await database.empty();
  return median(rates);
}
