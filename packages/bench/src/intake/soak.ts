import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Statuses } from '../load.ts';
import { peakMemory } from '../process-tree.ts';
import { slopeOf } from '../statistics.ts';
import type { LeadDatabase } from './database.ts';
import type { Bench } from './measure.ts';
import { sumOf } from './overload.ts';
import { measurePeak, openIntake } from './peak.ts';

export interface SoakFigures {
  readonly minutes: number;
  /** Leads a second, 70% of the peak. */
  readonly rate: number;
  readonly statuses: Statuses;
  /** Leads that found no connection free in time. */
  readonly unsent: number;
  /** Of the heap in use after forced collections, in bytes an hour. */
  readonly heapSlope: number;
  /** In bytes, after forced collections. */
  readonly heap: readonly number[];
  readonly peakMemory: number;
  readonly acknowledged: number;
  /** Acknowledged leads that are not stored. */
  readonly missing: number;
  /** Leads that are stored. */
  readonly stored: number;
}

const connections = 256;
/** Of the time, what caches and compiled code need to settle; the slope is that of the rest. */
const settling = 0.1;
/** How often a collection is forced. */
const piecesAMinute = 4;

/** Leads at 70% of the peak for a long time, with a pause for a forced collection now and then. */
export async function measureSoak(bench: Bench): Promise<SoakFigures> {
  const { cluster, load, options, onProgress } = bench;
  const { minutes, seconds } = options;
  const preload = join(import.meta.dirname, 'intake/heap-probe.js');
  await using intake = await openIntake(bench, 'soak', preload);
  const { service, database, target } = intake;
  const heapUsed = async () => {
    const answer = once(service.child, 'message') as Promise<[{ heapUsed: number }]>;
    service.child.send('heap');
    return (await answer)[0].heapUsed;
  };
  const peak = await measurePeak(load, intake, seconds * 1000);
  const rate = Math.max(1, Math.round(peak * 0.7));

  const idsFile = join(cluster.directory, 'acknowledged');
  const samples: { hours: number; heap: number }[] = [];
  const all: { statuses: Statuses; unsent: number }[] = [];
  const start = performance.now();
  const pieces = Math.max(5, Math.round(minutes * piecesAMinute));
  for (let piece = 0; piece < pieces; piece++) {
    const durationMs = (minutes * 60_000) / pieces;
    all.push(await load.send({ ...target, connections, durationMs, rate, idsFile }));
    const hours = (performance.now() - start) / 3_600_000;
    samples.push({ hours, heap: await heapUsed() });
    if (piece % 10 === 9) {
      const heap = ((samples.at(-1)?.heap ?? 0) / 1024 / 1024).toFixed(2);
      onProgress(
        `  soak, ${(hours * 60).toFixed(1)} of ${minutes} minutes at ${rate} leads/s: heap ${heap} MiB`,
      );
    }
  }
  const settled = samples.slice(Math.floor(samples.length * settling));
  onProgress('  looking for every acknowledged lead');
  return {
    minutes,
    rate,
    statuses: sumOf(all.map(({ statuses }) => statuses)),
    unsent: all.reduce((sum, { unsent }) => sum + unsent, 0),
    heapSlope: slopeOf(settled.map(({ hours, heap }) => [hours, heap])),
    heap: samples.map(({ heap }) => heap),
    peakMemory: peakMemory(service.pid),
    ...(await look(database, idsFile)),
    stored: await database.count(),
  };
}

/** Ids that are asked for at once. */
const batch = 10_000;

/** An id that was acknowledged twice counts as missing once, since it cannot be stored twice. */
async function look(
  database: LeadDatabase,
  idsFile: string,
): Promise<{ acknowledged: number; missing: number }> {
  let [acknowledged, found] = [0, 0];
  let ids: string[] = [];
  const count = async () => {
    acknowledged += ids.length;
    found += await database.countStored(ids);
    ids = [];
  };
  for await (const id of createInterface({ input: createReadStream(idsFile) })) {
    ids.push(id);
    if (ids.length === batch) await count();
  }
  await count();
  return { acknowledged, missing: acknowledged - found };
}
