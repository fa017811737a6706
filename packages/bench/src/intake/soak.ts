import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { streamAnswers } from '../load/answers.ts';
import { type LoadFigures, summarizeLoads } from '../load/load-process.ts';
import { maxMemoryMb } from '../process-tree.ts';
import { countLeads, query } from '../stack/database.ts';
import { slopeOf } from '../statistics.ts';
import { type Bench, measureMaxRate, openIntake } from './bench.ts';

const connections = 256;
/** The share of the time in which caches and compiled code grow. It is excluded from the slope. */
const settlingShare = 0.1;
const collectionsPerMinute = 4;

/** Sends leads at 70 % of the maximum rate for a long time, with a pause for a forced collection every 15 s. */
export async function measureSoak(bench: Bench) {
  const { directory, load, minutes, onProgress } = bench;
  const preload = pathToFileURL(join(import.meta.dirname, 'intake/heap-probe.js'));
  await using intake = await openIntake(bench, 'soak', preload);
  const { service, databaseUrl, target } = intake;
  const heapUsed = async () => {
    const answer = once(service.process.child, 'message') as Promise<[{ heapUsed: number }]>;
    service.process.child.send('heap');
    return (await answer)[0].heapUsed / 1_000_000;
  };
  const rate = Math.max(1, Math.round((await measureMaxRate(bench, intake)) * 0.7));

  const answersFile = join(directory, 'soak-answers');
  const samples: { hours: number; heap: number }[] = [];
  const loads: LoadFigures[] = [];
  const start = performance.now();
  const pieces = Math.max(5, Math.round(minutes * collectionsPerMinute));
  for (let piece = 1; piece <= pieces; piece++) {
    const durationMs = (minutes * 60_000) / pieces;
    loads.push(await load.send({ ...target, connections, durationMs, rate, answersFile }));
    const [hours, heap] = [(performance.now() - start) / 3_600_000, await heapUsed()];
    samples.push({ hours, heap });
    if (piece % 10 === 0) {
      onProgress(`  piece ${piece} of ${pieces} at ${rate} leads/s: heap ${heap.toFixed(2)} MB`);
    }
  }
  const settled = samples.slice(Math.floor(samples.length * settlingShare));
  onProgress('  looking up every acknowledged lead');
  return {
    minutes,
    rate,
    ...summarizeLoads(loads),
    /** The heap in use after each forced collection. */
    heapMb: samples.map(({ heap }) => heap),
    /** The growth of the heap after the first tenth. */
    heapMbPerHour: slopeOf(settled.map(({ hours, heap }) => [hours, heap])),
    maxMemoryMb: maxMemoryMb(service.pid),
    ...(await lookUpAcknowledged(databaseUrl, answersFile)),
    stored: await countLeads(databaseUrl),
  };
}

const batchSize = 10_000;

/**
 * Counts the acknowledged ids, and those that are not stored. An id acknowledged twice counts as missing
 * once.
 */
async function lookUpAcknowledged(
  databaseUrl: string,
  answersFile: string,
): Promise<{ acknowledged: number; missing: number }> {
  let [acknowledged, found] = [0, 0];
  let ids: string[] = [];
  const lookUp = async () => {
    const [row] = await query<{ count: number }>(
      databaseUrl,
      'SELECT count(*)::float8 AS count FROM lead WHERE id = ANY($1::uuid[])',
      [ids],
    );
    acknowledged += ids.length;
    found += row?.count ?? 0;
    ids = [];
  };
  for await (const { id } of streamAnswers(answersFile)) {
    if (id !== undefined) ids.push(id);
    if (ids.length === batchSize) await lookUp();
  }
  await lookUp();
  return { acknowledged, missing: acknowledged - found };
}
