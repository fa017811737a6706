import type { LocalPostgres } from '@leads/local-stack/processes/postgres';
import type { LoadFigures, LoadOptions, LoadProcess } from '../load/load-process.ts';
import { submitPath } from '../load/requests.ts';
import { createOwner } from '../stack/credentials.ts';
import { removeLeads } from '../stack/database.ts';
import { type Program, startProgram } from '../stack/programs.ts';
import { median } from '../statistics.ts';

/** The shared resources of all steps of this bench. */
export interface Bench {
  readonly postgres: LocalPostgres;
  /** Creates an empty database with every migration applied, and returns its connection string. */
  readonly createDatabase: (name: string) => Promise<string>;
  readonly load: LoadProcess;
  /** Sends as many requests as a target answers: {@link load}, or wrk. */
  readonly peakLoad: Pick<LoadProcess, 'send'>;
  /** A temporary directory. */
  readonly directory: string;
  readonly connections: readonly number[];
  readonly rounds: number;
  /** The duration of one measurement. */
  readonly durationMs: number;
  /** The duration of the soak. */
  readonly minutes: number;
  readonly workers: number;
  readonly onProgress: (line: string) => void;
}

/** The intake with a database of its own. */
export interface MeasuredIntake extends AsyncDisposable {
  readonly service: Program;
  readonly databaseUrl: string;
  readonly target: Pick<LoadOptions, 'port' | 'path' | 'headers'>;
}

/**
 * Starts the intake on a new database.
 *
 * @param name of the database.
 * @param preload a module that Node loads before the intake.
 */
export async function openIntake(bench: Bench, name: string, preload?: URL): Promise<MeasuredIntake> {
  const databaseUrl = await bench.createDatabase(name);
  const { API_KEY } = await createOwner(databaseUrl);
  const env = { INTAKE_WORKERS: String(bench.workers) };
  const service = await startProgram('intake', { databaseUrl, env, preload });
  return {
    service,
    databaseUrl,
    target: { port: service.port, path: submitPath, headers: { API_KEY } },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** The number of connections in the requirements. */
export const usualConnections = 64;

/**
 * Returns the maximum rate of the intake in leads per second: the median of three rounds after a warm-up
 * round.
 */
export async function measureMaxRate(
  { load, durationMs }: Bench,
  { target, databaseUrl }: MeasuredIntake,
): Promise<number> {
  const rounds: LoadFigures[] = [];
  for (let round = 0; round < 4; round++) {
    rounds.push(await load.send({ ...target, connections: usualConnections, durationMs }));
  }
  await removeLeads(databaseUrl);
  return median(rounds.slice(1).map(({ requestsPerSecond }) => requestsPerSecond));
}
