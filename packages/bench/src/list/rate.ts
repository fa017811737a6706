import { loadGet } from '../load.ts';
import { median, percentile } from '../statistics.ts';
import { type CrmProcess, issueCredentials, startCrm } from './crm-process.ts';

/** What is asked, by name: the service, and references of the same route, guard and settings (crm.ts). */
const kinds = {
  service: ['service'],
  'prisma findMany': ['prisma'],
  'prisma findMany, same columns': ['prisma', 'select'],
  'pg by hand': ['pg'],
} as const;
type Kind = keyof typeof kinds;

export interface RateFigures {
  readonly leads: number;
  readonly kind: Kind;
  /** Requests a second, the median of the rounds. */
  readonly rate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The service's rate as a multiple of this one: the median of the rounds' own. */
  readonly serviceIs: number;
}

const connections = 64;
const usual = { rounds: 20, roundMs: 1_000 };

/**
 * The newest 100 leads over HTTP at 64 connections, from the service and its references in turn, each round in
 * another order, all of them up all the time.
 */
export async function measureRates(
  databaseUrl: string,
  leads: number,
  effort: number,
  onProgress: (line: string) => void,
): Promise<RateFigures[]> {
  const headers = await issueCredentials(databaseUrl);
  const names = Object.keys(kinds) as Kind[];
  const started: CrmProcess[] = [];
  try {
    for (const name of names) started.push(await startCrm(databaseUrl, kinds[name]));
    const measured = names.map((kind, at) => ({
      kind,
      crm: started[at] as CrmProcess,
      rates: [] as number[],
      latenciesMs: [] as number[],
    }));
    const rounds = Math.max(1, Math.round(usual.rounds * effort));
    const durationMs = usual.roundMs * Math.min(1, Math.max(0.2, effort * 2));
    // The first round warms up and counts for nothing.
    for (let round = -1; round < rounds; round++) {
      const order = measured.map((_, at) => measured[(at + round + 1) % measured.length]);
      for (const each of order) {
        if (each === undefined) continue;
        const path = '/api/v1/order/leads';
        const load = await loadGet({ port: each.crm.port, path, headers, connections, durationMs });
        if (round < 0) continue;
        each.rates.push(load.requestsPerSecond);
        each.latenciesMs.push(...load.latenciesMs);
      }
      if (round < 0) continue;
      const rates = measured.map(({ kind, rates: all }) => `${kind} ${Math.round(all.at(-1) ?? 0)}`);
      onProgress(`  round ${round + 1} of ${rounds}, requests/s: ${rates.join(', ')}`);
    }
    const own = measured[0]?.rates ?? [];
    return measured.map(({ kind, rates, latenciesMs }) => ({
      leads,
      kind,
      rate: median(rates),
      p50Ms: median(latenciesMs),
      p99Ms: percentile(latenciesMs, 0.99),
      serviceIs: median(rates.map((rate, round) => (own[round] ?? Number.NaN) / rate)),
    }));
  } finally {
    for (const crm of started) await crm[Symbol.asyncDispose]();
  }
}
