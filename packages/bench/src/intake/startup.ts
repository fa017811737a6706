import { setTimeout as sleep } from 'node:timers/promises';
import { postLead } from '../load/post-lead.ts';
import { submitPath } from '../load/requests.ts';
import { createOwner } from '../stack/credentials.ts';
import { spawnService } from '../stack/programs.ts';
import { median } from '../statistics.ts';
import type { Bench } from './bench.ts';

const timeoutMs = 60_000;
const retryMs = 5;

/** Measures the time from the start of Node to the first lead answered with 200. */
export async function measureStartup({ createDatabase, rounds, workers }: Bench) {
  const databaseUrl = await createDatabase('startup');
  const { API_KEY } = await createOwner(databaseUrl);
  const timesMs: number[] = [];
  for (let start = 0; start < 2 * rounds; start++) {
    const startedAt = performance.now();
    await using service = await spawnService('intake', {
      databaseUrl,
      env: { INTAKE_WORKERS: String(workers) },
    });
    const url = `http://127.0.0.1:${service.port}${submitPath}`;
    while ((await postLead(url, { API_KEY }, { lp_name: 'spring-offer' })).status !== '200') {
      if (performance.now() - startedAt > timeoutMs) throw new Error('The intake answered no lead with 200');
      await sleep(retryMs);
    }
    timesMs.push(performance.now() - startedAt);
  }
  return { starts: timesMs.length, medianMs: median(timesMs), maxMs: Math.max(...timesMs) };
}
