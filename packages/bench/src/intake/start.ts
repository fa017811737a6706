import { median } from '../statistics.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { leadPath } from './lead-requests.ts';
import type { Bench } from './measure.ts';
import { createKey, spawnIntake } from './service.ts';

export interface StartFigures {
  readonly starts: number;
  /** From `node` to the first answered lead, in milliseconds. */
  readonly medianMs: number;
  readonly slowestMs: number;
}

const timeoutMs = 60_000;
const everyMs = 5;

/** How long it takes from the start of Node to the first lead with an answer, over and over. */
export async function measureStart({ cluster, options, onProgress }: Bench): Promise<StartFigures> {
  await using database = await cluster.createDatabase('start');
  const headers = { ...(await createKey(database.url)), 'Content-Type': 'application/json' };
  const body = JSON.stringify({ name: 'Grace Hopper', phone: '+1 202 555 0143', lp_name: 'spring-offer' });
  const times: number[] = [];
  for (let start = 0; start < 2 * options.rounds; start++) {
    const startedAt = performance.now();
    await using service = await spawnIntake({ databaseUrl: database.url, workers: options.workers });
    const url = `http://127.0.0.1:${service.port}${leadPath}`;
    while (!(await isAnswered(url, { method: 'POST', headers, body }))) {
      if (performance.now() - startedAt > timeoutMs) throw new Error('The intake answers no lead');
      await sleep(everyMs);
    }
    times.push(performance.now() - startedAt);
  }
  onProgress(`  ${times.length} starts`);
  return { starts: times.length, medianMs: median(times), slowestMs: Math.max(...times) };
}

async function isAnswered(url: string, request: RequestInit): Promise<boolean> {
  try {
    const response = await fetch(url, request);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
