import { newId } from '../uuid.ts';
import { type Erasure, type ErasureKeys, type IsErased, type Whom, whatIsErased } from './erasure.ts';

/** How much was found of what. */
export const foundKinds = ['leads', 'changes', 'waitingEvents', 'quarantined', 'buffered', 'events'] as const;
export type FoundCounts = Readonly<Partial<Record<(typeof foundKinds)[number], number>>>;

interface Found {
  readonly counts: FoundCounts;
  /** Of the leads that it was of. */
  readonly leadIds: Iterable<string>;
}

/** Where leads are, or what tells of them. */
export interface ErasurePlace {
  /**
   * Finds what is there of leads, and takes it away where it is told to.
   *
   * @throws LeadsError `unavailable`: some may be erased all the same.
   */
  visit(isErased: IsErased, options: { erase: boolean }): Promise<Found>;
}

/** Where erasures are noted. Methods throw where they cannot be. */
export interface ErasureLog {
  /** It is on disk there when this ends. */
  write(erasure: Erasure): Promise<void>;
  read(): Promise<Erasure[]>;
}

/** The log that lies with the leads: it tells which erasures were finished. */
export interface ErasureTable extends ErasureLog {
  /** Those that were cut short. */
  unfinished(): Promise<Erasure[]>;
  finish(ids: readonly string[], counts: FoundCounts): Promise<void>;
}

export interface ErasureTargets {
  readonly keys: ErasureKeys;
  /**
   * In this order: what leads come from, then the leads, then what is told of them, so that nothing comes back and
   * what is cut short can be done again.
   */
  readonly places: readonly ErasurePlace[];
  /** Logs beside the table: what is restored from a backup has lost what came after it. */
  readonly logs: readonly ErasureLog[];
  readonly table: ErasureTable;
}

/** What is to be erased, and how much of it there is. */
export interface ErasurePlan {
  readonly erasure: Erasure;
  readonly counts: FoundCounts;
}

/** What was erased, and how much of the same was there afterwards: it came meanwhile. */
export interface ErasureReport {
  readonly erased: FoundCounts;
  readonly left: FoundCounts;
}

/**
 * Looks for all that there is of a person; nothing is changed.
 *
 * @throws LeadsError `invalid_input` for a phone number that cannot be read; `unavailable`
 */
export async function planErasure(
  { keys, places }: Pick<ErasureTargets, 'keys' | 'places'>,
  whom: Whom,
  workspaceId: string | undefined,
): Promise<ErasurePlan> {
  const id = newId();
  const at = new Date();
  const named = { id, at, workspaceId, keys: keys.ofWhom(whom), seal: keys.seal(id) };
  const { counts, leadIds } = await visitAll(places, whatIsErased(keys, [named]), { erase: false });
  // What is told of a lead is known by its id as well, where the lead itself is gone.
  const all = new Set([...named.keys, ...Array.from(leadIds, (leadId) => keys.ofId(leadId))]);
  return { erasure: { ...named, keys: [...all] }, counts };
}

/**
 * Erases what was planned, and what earlier erasures have left that were cut short. First of all it is noted.
 *
 * @throws Error where an earlier one was noted with another secret: all could not be done again by one of them.
 */
export async function erase(targets: ErasureTargets, erasure: Erasure): Promise<ErasureReport> {
  await readLogs(targets);
  for (const log of [...targets.logs, targets.table]) await log.write(erasure);
  return carryOut(targets, await targets.table.unfinished());
}

/**
 * Erases everybody again who was ever erased, as far as the logs tell: what was restored from a backup may hold them.
 *
 * @throws Error where an erasure was noted with another secret: nothing is erased then.
 */
export async function eraseAgain(
  targets: ErasureTargets,
): Promise<ErasureReport & { readonly erasures: number }> {
  const logs = await readLogs(targets);
  const erasures = [
    ...new Map(logs.flatMap(({ read }) => read).map((erasure) => [erasure.id, erasure])).values(),
  ];
  for (const { log, read } of logs) {
    const there = new Set(read.map(({ id }) => id));
    for (const erasure of erasures) if (!there.has(erasure.id)) await log.write(erasure);
  }
  return { ...(await carryOut(targets, erasures)), erasures: erasures.length };
}

async function readLogs({ keys, logs, table }: ErasureTargets) {
  const all = await Promise.all([...logs, table].map(async (log) => ({ log, read: await log.read() })));
  const foreign = all.flatMap(({ read }) => read).find((erasure) => !keys.hasMade(erasure));
  if (foreign !== undefined) {
    throw new Error(`The erasure ${foreign.id} was noted with another ERASURE_SECRET: nothing was erased`);
  }
  return all;
}

async function carryOut(
  { keys, places, table }: ErasureTargets,
  erasures: readonly Erasure[],
): Promise<ErasureReport> {
  const isErased = whatIsErased(keys, erasures);
  const { counts: erased } = await visitAll(places, isErased, { erase: true });
  await table.finish(
    erasures.map(({ id }) => id),
    erased,
  );
  const { counts: left } = await visitAll(places, isErased, { erase: false });
  return { erased, left };
}

async function visitAll(
  places: readonly ErasurePlace[],
  isErased: IsErased,
  options: { erase: boolean },
): Promise<Found> {
  const counts: Record<string, number> = {};
  const leadIds = new Set<string>();
  for (const place of places) {
    const found = await place.visit(isErased, options);
    Object.assign(counts, found.counts);
    for (const id of found.leadIds) leadIds.add(id);
  }
  return { counts, leadIds };
}
