import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReplica } from '@leads/local-stack/processes/postgres-replica';
import { type Service, startService } from '@leads/local-stack/processes/services';
import { loadGet } from '../load.ts';
import { processorTimeUs } from '../process-tree.ts';
import { median, percentile } from '../statistics.ts';
import { issueCredentials, jwtSecret } from './crm-process.ts';
import { openDatabases } from './databases.ts';
import { createLead, createSteadily } from './steady-creates.ts';

/** How lists are read from the primary alone, or from a streaming replica, while leads come by another process. */
export interface ReplicaFigures {
  readonly leads: number;
  readonly readsFrom: 'primary' | 'replica';
  /** Lists of the newest 100 a second, the median of the rounds. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of each Postgres, of one list. */
  readonly primaryUs: number;
  readonly replicaUs: number;
  /** p99 of a create meanwhile. */
  readonly createMs: number;
  /** Of leads that were created by the same process, how many its next list had. */
  readonly ownSeen: number;
  readonly own: number;
  /** How long after its answer a lead of another process was first in a list; the slowest. */
  readonly othersSeenMs: number;
}

const connections = 64;
const usual = { rounds: 10, roundMs: 1_000, created: 100 };
const path = '/api/v1/order/leads';
const patienceMs = 60_000;

/** Lists and creates side by side, on a Postgres of its own, since the replica is a copy of all that is in one. */
export async function measureReplica(
  leads: number,
  effort: number,
  onProgress: (line: string) => void,
): Promise<ReplicaFigures[]> {
  await using databases = await openDatabases(undefined, onProgress);
  const databaseUrl = await databases.filled(leads);
  onProgress('Starting a streaming replica');
  const { dataDir, pid: primaryPid } = databases.postgres;
  const replica = await startReplica({ primaryUrl: databaseUrl, dataDir, synchronous: false });
  const services: Service[] = [];
  try {
    const replicaUrl = new URL(replica.url(new URL(databaseUrl).pathname.slice(1)));
    const start = async (settings: Record<string, string> = {}) => {
      const env = { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret, ...settings };
      const service = await startService('crm', { env });
      services.push(service);
      return service;
    };
    const writer = await start();
    const onPrimary = await start();
    const onReplica = await start({ DATABASE_REPLICA_URL: replicaUrl.href });
    await isLevel(onReplica);
    const headers = await issueCredentials(databaseUrl);
    const measured = [
      { readsFrom: 'primary' as const, service: onPrimary, ...noRounds() },
      { readsFrom: 'replica' as const, service: onReplica, ...noRounds() },
    ];
    const agent = new Agent({ keepAlive: true });
    const rounds = Math.max(1, Math.round(usual.rounds * effort));
    // The first round warms up and counts for nothing.
    for (let round = -1; round < rounds; round++) {
      for (const each of round % 2 === 0 ? measured : measured.toReversed()) {
        const over = new AbortController();
        const creating = createSteadily(portOf(writer), headers, agent, over.signal);
        const before = [processorTimeUs(primaryPid), processorTimeUs(replica.pid)];
        const load = await loadGet({
          port: portOf(each.service),
          path,
          headers,
          connections,
          durationMs: usual.roundMs,
        });
        const after = [processorTimeUs(primaryPid), processorTimeUs(replica.pid)];
        over.abort();
        const createsMs = await creating;
        if (round < 0) continue;
        const spent = after.map((us, at) => (us - (before[at] ?? Number.NaN)) / load.latenciesMs.length);
        each.rates.push(load.requestsPerSecond);
        each.latenciesMs.push(...load.latenciesMs);
        each.primaryUs.push(spent[0] ?? Number.NaN);
        each.replicaUs.push(spent[1] ?? Number.NaN);
        each.createsMs.push(...createsMs);
      }
      if (round >= 0) onProgress(`  round ${round + 1} of ${rounds}`);
    }
    const created = Math.max(3, Math.round(usual.created * effort));
    const figures: ReplicaFigures[] = [];
    for (const { readsFrom, service, rates, latenciesMs, primaryUs, replicaUs, createsMs } of measured) {
      onProgress(`  whether lists from the ${readsFrom} have what was written`);
      const own: boolean[] = [];
      const othersMs: number[] = [];
      // Others' first: after a write of its own the replica's reader goes to the primary for a while.
      for (let at = 0; at < created; at++) {
        const id = await createLead(portOf(writer), headers, agent);
        othersMs.push(await untilListed(service, headers, id));
      }
      for (let at = 0; at < created; at++) {
        const id = await createLead(portOf(service), headers, agent);
        own.push(await isListed(service, headers, id));
      }
      figures.push({
        leads,
        readsFrom,
        rate: median(rates),
        p50Ms: median(latenciesMs),
        p99Ms: percentile(latenciesMs, 0.99),
        primaryUs: median(primaryUs),
        replicaUs: median(replicaUs),
        createMs: percentile(createsMs, 0.99),
        ownSeen: own.filter(Boolean).length,
        own: own.length,
        othersSeenMs: Math.max(...othersMs),
      });
    }
    agent.destroy();
    return figures;
  } finally {
    for (const service of services) await service[Symbol.asyncDispose]();
    await replica.stop();
  }
}

const noRounds = () => ({
  rates: [] as number[],
  latenciesMs: [] as number[],
  primaryUs: [] as number[],
  replicaUs: [] as number[],
  createsMs: [] as number[],
});

const portOf = ({ url }: Service) => Number(new URL(url).port);

async function isLevel(service: Service): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!service.output().includes('The replica is level')) {
    if (performance.now() > deadline) throw new Error('The replica does not become level');
    await sleep(50);
  }
}

async function isListed(service: Service, headers: Record<string, string>, id: string): Promise<boolean> {
  const answer = await fetch(`${service.url}${path}`, { headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`A list is answered with ${answer.status}`);
  return text.includes(id);
}

async function untilListed(service: Service, headers: Record<string, string>, id: string): Promise<number> {
  const start = performance.now();
  while (!(await isListed(service, headers, id))) {
    if (performance.now() - start > patienceMs) throw new Error('A lead is not listed');
  }
  return performance.now() - start;
}
