import { setTimeout as sleep } from 'node:timers/promises';
import type { DisposeStack } from '@leads/core/dispose-stack';
import { countNot200 } from '../load/load-process.ts';
import { submitPath } from '../load/requests.ts';
import { maxMemoryMb, resetMaxMemory, withProcessorTime } from '../process-tree.ts';
import { checkpoint, countLeads, query, removeLeads } from '../stack/database.ts';
import { type Program, startReference } from '../stack/programs.ts';
import { type Bench, openIntake } from './bench.ts';
import { isPgbenchInstalled, runPgbench } from './pgbench.ts';

/** The compared targets, in the order of the table. */
export const targetTitles = {
  intake: 'this intake',
  fastify: 'Fastify, no database',
  prisma: 'prisma.lead.create',
  pg: 'pg, one insert',
  pgOneIndex: 'pg, one insert, one index',
  pgbench: 'pgbench',
  pgbenchOneIndex: 'pgbench, one index',
} as const;
export type TargetName = keyof typeof targetTitles;

/** One measurement. Values that cannot be measured are NaN. */
export type TargetFigures = {
  readonly leadsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Processor time of the service and of Postgres for each lead, in microseconds. */
  readonly serviceUsPerLead: number;
  readonly postgresUsPerLead: number;
  /** The maximum resident memory of the service. */
  readonly maxMemoryMb: number;
  /** The number of responses other than 200. */
  readonly not200: number;
};

export interface Target {
  readonly name: TargetName;
  measure(connections: number): Promise<TargetFigures>;
}

/** The time to open connections and fill caches before each measurement over HTTP, at most that of the measurement. */
export const warmUpMs = ({ durationMs }: Bench) => Math.min(300, durationMs);
const backendExitMs = 200;

/** Starts the intake and its references; pgbench only if it is installed. */
export async function startTargets(bench: Bench, resources: DisposeStack): Promise<Target[]> {
  const { service, databaseUrl, target } = resources.use(await openIntake(bench, 'intake'));
  const targets = [httpTarget('intake', bench, { service, databaseUrl, headers: target.headers })];
  for (const name of ['fastify', 'prisma', 'pg'] as const) {
    const reference = resources.use(await startIntakeReference(bench, name));
    targets.push(httpTarget(name, bench, { ...reference, headers: {} }));
  }
  const options = { databaseName: 'pg_one_index', indexes: 'one' } as const;
  const reference = resources.use(await startIntakeReference(bench, 'pg', options));
  targets.push(httpTarget('pgOneIndex', bench, { ...reference, headers: {} }));
  if (isPgbenchInstalled()) {
    targets.push(await pgbenchTarget('pgbench', bench), await pgbenchTarget('pgbenchOneIndex', bench, 'one'));
  }
  return targets;
}

/**
 * Starts a reference server for the intake's route (reference-server.ts) with a new database.
 *
 * @param options.databaseName default: the reference's name.
 * @param options.indexes `one`: the table has a primary key and one index. Default: those of the service.
 */
export async function startIntakeReference(
  bench: Bench,
  name: 'fastify' | 'prisma' | 'pg',
  { databaseName = name, indexes }: { databaseName?: string; indexes?: 'one' } = {},
): Promise<AsyncDisposable & { service: Program; databaseUrl: string | undefined }> {
  const databaseUrl =
    name === 'fastify' ? undefined : await createReferenceDatabase(bench, databaseName, indexes);
  const service = await startReference('intake/reference-server.js', [name], databaseUrl ?? '');
  return { service, databaseUrl, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/**
 * Creates a database whose table `lead` has the same columns, indexes and checks, but no triggers and foreign keys.
 *
 * @param indexes `one`: the table has a primary key and one index, and no checks.
 */
async function createReferenceDatabase(bench: Bench, name: string, indexes?: 'one'): Promise<string> {
  const databaseUrl = await bench.createDatabase(name);
  await query(
    databaseUrl,
    `ALTER TABLE lead RENAME TO lead_of_service; ${
      indexes === 'one'
        ? `CREATE TABLE lead (LIKE lead_of_service INCLUDING DEFAULTS, PRIMARY KEY (id));
          CREATE INDEX ON lead (workspace_id, created_at, id)`
        : 'CREATE TABLE lead (LIKE lead_of_service INCLUDING ALL)'
    }`,
  );
  return databaseUrl;
}

function httpTarget(
  name: TargetName,
  bench: Bench,
  target: {
    service: Program;
    databaseUrl: string | undefined;
    headers: Readonly<Record<string, string>>;
  },
): Target {
  const { service, databaseUrl, headers } = target;
  const { postgres, load, peakLoad, durationMs } = bench;
  return {
    name,
    async measure(connections) {
      const options = { port: service.port, path: submitPath, headers, connections };
      await checkpoint(postgres);
      const warmUp = await load.send({ ...options, durationMs: warmUpMs(bench) });
      resetMaxMemory(service.pid);
      const { result: sent, processorUs } = await withProcessorTime({ service, postgres }, () =>
        peakLoad.send({ ...options, durationMs }),
      );
      const accepted = sent.statuses['200'] ?? 0;
      if (databaseUrl !== undefined) {
        const acknowledged = accepted + (warmUp.statuses['200'] ?? 0);
        await assertStored(name, databaseUrl, acknowledged, sent.maxUnanswered);
        await removeLeads(databaseUrl);
      }
      return {
        leadsPerSecond: sent.requestsPerSecond,
        p50Ms: sent.p50Ms,
        p99Ms: sent.p99Ms,
        p999Ms: sent.p999Ms,
        serviceUsPerLead: processorUs.service / accepted,
        postgresUsPerLead: databaseUrl === undefined ? Number.NaN : processorUs.postgres / accepted,
        maxMemoryMb: maxMemoryMb(service.pid),
        not200: countNot200(sent),
      };
    },
  };
}

/**
 * Checks the stored leads.
 *
 * @param unanswered the maximum of requests whose answers the load did not wait for.
 * @throws Error if an acknowledged lead is missing, or if there are more leads than requests.
 */
async function assertStored(
  name: TargetName,
  databaseUrl: string,
  acknowledged: number,
  unanswered = 0,
): Promise<void> {
  const stored = await countLeads(databaseUrl);
  if (stored >= acknowledged && stored <= acknowledged + unanswered) return;
  throw new Error(`${targetTitles[name]} acknowledged ${acknowledged} leads and stored ${stored}`);
}

async function pgbenchTarget(
  name: 'pgbench' | 'pgbenchOneIndex',
  bench: Bench,
  indexes?: 'one',
): Promise<Target> {
  const { postgres, directory, durationMs } = bench;
  const databaseUrl = await createReferenceDatabase(bench, name.toLowerCase(), indexes);
  return {
    name,
    async measure(connections) {
      const run = async (extent: { seconds: number } | { leadsEach: number }) => {
        const { result, processorUs } = await withProcessorTime({ postgres }, async () => {
          const figures = await runPgbench({ databaseUrl, connections, extent, directory });
          // The exact processor time of a backend is available after it has ended.
          await sleep(backendExitMs);
          return figures;
        });
        return { ...result, postgresUs: processorUs.postgres };
      };
      await checkpoint(postgres);
      // pgbench connects within its measured time, so the cost of the connections is subtracted.
      const connecting = await run({ leadsEach: 1 });
      const inserting = await run(
        // pgbench takes whole seconds. In a shorter measurement, each connection inserts one lead per millisecond.
        durationMs < 1_000
          ? { leadsEach: Math.ceil(durationMs) }
          : { seconds: durationMs / 1000 + connecting.connectSeconds },
      );
      await assertStored(name, databaseUrl, connecting.inserted + inserting.inserted);
      await removeLeads(databaseUrl);
      const { p50Ms, p99Ms, p999Ms } = inserting;
      return {
        leadsPerSecond: inserting.insertsPerSecond,
        p50Ms,
        p99Ms,
        p999Ms,
        serviceUsPerLead: Number.NaN,
        postgresUsPerLead:
          (inserting.postgresUs - connecting.postgresUs) / (inserting.inserted - connecting.inserted),
        maxMemoryMb: Number.NaN,
        not200: 0,
      };
    },
  };
}
