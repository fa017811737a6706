import { DisposeStack } from '@leads/core/dispose-stack';
import { assertAll200, type LoadFigures, ratesOf, summarizeLoads } from '../load/load-process.ts';
import { maxMemoryMb, withProcessorTime } from '../process-tree.ts';
import { startProgram, startReference } from '../stack/programs.ts';
import { measureInTurn, median, medianRatio, scaled } from '../statistics.ts';
import { issueOwnerCredentials, type ListBench, measurementMs, newestLists } from './bench.ts';
import { filled } from './fill.ts';

/**
 * The module and the arguments of each reference. The last one is a route that a developer writes by hand with Fastify
 * and node-postgres. It has no guard and no log.
 */
const references: Readonly<Record<string, readonly [file: string, ...args: string[]]>> = {
  'prisma findMany': ['list/reference-server.js', 'prisma'],
  'prisma findMany, same columns': ['list/reference-server.js', 'prisma', 'select'],
  'pg by hand': ['list/reference-server.js', 'pg'],
  'plain Fastify, pg by hand': ['intake/reference-server.js', 'pg', filled.large],
};
const usualRounds = 20;

/** Lists the newest 100 leads over HTTP, alternating between the service and its references. */
export async function measureRates(bench: ListBench) {
  const figures = [];
  for (const leads of bench.rateSizes) figures.push(await measureSize(bench, leads));
  return figures.flat();
}

type Round = LoadFigures & { readonly serviceUs: number; readonly postgresUs: number };

async function measureSize(bench: ListBench, leads: number) {
  const { databases, peakLoad, effort, onProgress } = bench;
  const { postgres } = databases;
  const databaseUrl = await databases.open(leads);
  const headers = await issueOwnerCredentials(databaseUrl);
  await using resources = new DisposeStack();
  const servers = [{ server: 'service', program: resources.use(await startProgram('crm', { databaseUrl })) }];
  for (const [server, [file, ...args]] of Object.entries(references)) {
    const program = await startReference(file, args, databaseUrl);
    servers.push({ server, program: resources.use(program) });
  }
  const durationMs = measurementMs(bench);
  const measured = await measureInTurn(servers, scaled(usualRounds, effort), async ({ server, program }) => {
    const { result: figures, processorUs } = await withProcessorTime({ service: program, postgres }, () =>
      peakLoad.send({ ...newestLists, port: program.port, headers, durationMs }),
    );
    onProgress(`  ${server}, ${leads} leads: ${figures.requestsPerSecond.toFixed(0)} requests/s`);
    const count = assertAll200(figures).statuses['200'] ?? 0;
    return {
      ...figures,
      serviceUs: processorUs.service / count,
      postgresUs: processorUs.postgres / count,
    };
  });
  const figuresOf = (server: string, rounds: readonly Round[]) => ({
    server,
    leads,
    ...summarizeLoads(rounds),
    /** Processor time for one list. */
    serviceUsPerList: median(rounds.map(({ serviceUs }) => serviceUs)),
    postgresUsPerList: median(rounds.map(({ postgresUs }) => postgresUs)),
    maxMemoryMb: maxMemoryMb(servers.find((each) => each.server === server)?.program.pid ?? 0),
    /** The service's rate as a multiple of this server's. */
    ratioOfService: medianRatio(ratesOf(measured[0] ?? []), ratesOf(rounds)),
  });
  return servers.map(({ server }, at) => figuresOf(server, measured[at] ?? []));
}
