import { DisposeStack } from '@leads/core/dispose-stack';
import { assertAll200, type LoadFigures, ratesOf, summarizeLoads } from '../load/load-process.ts';
import { startProgram, startReference } from '../stack/programs.ts';
import { measureInTurn, medianRatio, scaled } from '../statistics.ts';
import { issueOwnerCredentials, type ListBench, newestLists } from './bench.ts';

/** The arguments of each reference (reference-server.ts). */
const references = {
  'prisma findMany': ['prisma'],
  'prisma findMany, same columns': ['prisma', 'select'],
  'pg by hand': ['pg'],
};
const usual = { rounds: 20, roundMs: 1_000 };

/** Lists the newest 100 leads over HTTP, alternating between the service and its references. */
export async function measureRates(bench: ListBench) {
  const figures = [];
  for (const leads of bench.rateSizes) figures.push(await measureSize(bench, leads));
  return figures.flat();
}

async function measureSize({ databases, load, effort, onProgress }: ListBench, leads: number) {
  const databaseUrl = await databases.open(leads);
  const headers = await issueOwnerCredentials(databaseUrl);
  await using resources = new DisposeStack();
  const servers = [{ server: 'service', program: resources.use(await startProgram('crm', { databaseUrl })) }];
  for (const [server, args] of Object.entries(references)) {
    const program = await startReference('list/reference-server.js', args, databaseUrl);
    servers.push({ server, program: resources.use(program) });
  }
  const durationMs = usual.roundMs * Math.min(1, Math.max(0.2, effort * 2));
  const measured = await measureInTurn(servers, scaled(usual.rounds, effort), async ({ server, program }) => {
    const figures = await load.send({ ...newestLists, port: program.port, headers, durationMs });
    onProgress(`  ${server}, ${leads} leads: ${figures.requestsPerSecond.toFixed(0)} requests/s`);
    return assertAll200(figures);
  });
  const figuresOf = (server: string, rounds: readonly LoadFigures[]) => ({
    server,
    leads,
    ...summarizeLoads(rounds),
    /** The service's rate as a multiple of this server's. */
    ratioOfService: medianRatio(ratesOf(measured[0] ?? []), ratesOf(rounds)),
  });
  return servers.map(({ server }, at) => figuresOf(server, measured[at] ?? []));
}
