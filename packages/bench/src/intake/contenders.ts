import { setTimeout as sleep } from 'node:timers/promises';
import { peakMemory, processorTimeUs, resetPeakMemory } from '../process-tree.ts';
import type { Cluster, LeadDatabase } from './database.ts';
import { leadPath } from './lead-requests.ts';
import { countOthers, type LoadProcess } from './load.ts';
import { hasPgbench, runPgbench } from './pgbench.ts';
import { createKey, type LeadService, startIntake, startReference } from './service.ts';

/** What is compared, in the order of the table. */
const contenders = {
  intake: 'this intake',
  fastify: 'Fastify, no database',
  prisma: 'prisma.lead.create',
  pg: 'pg, one insert',
  pgbench: 'pgbench',
} as const;
export type ContenderName = keyof typeof contenders;

/** How a contender is called in tables. */
export function titleOf(name: ContenderName): string {
  return contenders[name];
}

/** One measurement; NaN is what cannot be known. */
export interface Measurement {
  readonly leadsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Processor time of the service and of Postgres, of each for one lead, in microseconds. */
  readonly serviceUs: number;
  readonly postgresUs: number;
  /** The service's resident memory at its highest, in bytes. */
  readonly peakMemory: number;
  /** Answers other than 200. */
  readonly others: number;
}

export interface Contender extends AsyncDisposable {
  readonly name: ContenderName;
  measure(connections: number, seconds: number): Promise<Measurement>;
}

/** Before a measurement of HTTP: connections are made anew after a pause, and caches filled. */
const warmUpMs = 300;
const backendsEndMs = 200;

/** Starts everything that is compared; pgbench where it is installed. Nothing of it does anything until measured. */
export async function startContenders(
  cluster: Cluster,
  load: LoadProcess,
  workers: number,
): Promise<Contender[]> {
  const started: Contender[] = [];
  try {
    const intake = await cluster.createDatabase('intake');
    const headers = await createKey(intake.url);
    const service = await startIntake({ databaseUrl: intake.url, workers });
    started.push(overHttp('intake', { service, headers, database: intake, cluster, load }));
    for (const name of ['fastify', 'prisma', 'pg'] as const) {
      const database = name === 'fastify' ? undefined : await cluster.createDatabase(name);
      await database?.simplify();
      const reference = await startReference(name, database?.url ?? '');
      started.push(overHttp(name, { service: reference, headers: {}, database, cluster, load }));
    }
    if (hasPgbench()) {
      const database = await cluster.createDatabase('pgbench');
      await database.simplify();
      started.push(byPgbench(database, cluster));
    }
    return started;
  } catch (error) {
    for (const contender of started) await contender[Symbol.asyncDispose]();
    throw error;
  }
}

function overHttp(
  name: ContenderName,
  parts: {
    service: LeadService;
    headers: Readonly<Record<string, string>>;
    database: LeadDatabase | undefined;
    cluster: Cluster;
    load: LoadProcess;
  },
): Contender {
  const { service, headers, database, cluster, load } = parts;
  return {
    name,
    async measure(connections, seconds) {
      const leads = { port: service.port, path: leadPath, headers, connections };
      await cluster.checkpoint();
      const warmUp = await load.send({ ...leads, durationMs: warmUpMs });
      resetPeakMemory(service.pid);
      const before = [processorTimeUs(service.pid), processorTimeUs(cluster.pid)] as const;
      const sent = await load.send({ ...leads, durationMs: seconds * 1000 });
      const after = [processorTimeUs(service.pid), processorTimeUs(cluster.pid)] as const;
      const answered = sent.statuses['200'] ?? 0;
      await expectStored(name, database, answered + (warmUp.statuses['200'] ?? 0));
      await database?.empty();
      return {
        leadsPerSecond: sent.requestsPerSecond,
        p50Ms: sent.p50Ms,
        p99Ms: sent.p99Ms,
        p999Ms: sent.p999Ms,
        serviceUs: (after[0] - before[0]) / answered,
        postgresUs: database === undefined ? Number.NaN : (after[1] - before[1]) / answered,
        peakMemory: peakMemory(service.pid),
        others: countOthers(sent),
      };
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await database?.[Symbol.asyncDispose]();
    },
  };
}

/** An answer without a row behind it would be cheap. */
async function expectStored(name: ContenderName, database: LeadDatabase | undefined, answered: number) {
  if (database === undefined) return;
  const stored = await database.count();
  if (stored !== answered)
    throw new Error(`${titleOf(name)} acknowledged ${answered} leads and stored ${stored}`);
}

function byPgbench(database: LeadDatabase, cluster: Cluster): Contender {
  const { directory } = cluster;
  return {
    name: 'pgbench',
    async measure(connections, seconds) {
      const run = async (extent: { seconds: number } | { leadsEach: number }) => {
        const before = processorTimeUs(cluster.pid);
        const figures = await runPgbench({ databaseUrl: database.url, connections, extent, directory });
        // Its backends end after it, and only then is their time known to the microsecond.
        await sleep(backendsEndMs);
        return { ...figures, postgresUs: processorTimeUs(cluster.pid) - before };
      };
      await cluster.checkpoint();
      // Its connections are made within its time. What they cost Postgres is taken off.
      const connecting = await run({ leadsEach: 1 });
      const inserting = await run({ seconds: seconds + connecting.connectSeconds });
      await expectStored('pgbench', database, connecting.inserted + inserting.inserted);
      await database.empty();
      return {
        leadsPerSecond: inserting.insertsPerSecond,
        p50Ms: inserting.p50Ms,
        p99Ms: inserting.p99Ms,
        p999Ms: inserting.p999Ms,
        serviceUs: Number.NaN,
        postgresUs:
          (inserting.postgresUs - connecting.postgresUs) / (inserting.inserted - connecting.inserted),
        peakMemory: Number.NaN,
        others: 0,
      };
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
