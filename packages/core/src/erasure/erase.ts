import { newId } from '../uuid.ts';
import { type DataSubject, type Erasure, type ErasureKeys, type IsErased, matchErasures } from './erasure.ts';

/** The kinds of records that an erasure counts. */
export const foundKinds = [
  'leads',
  'changes',
  'waitingEvents',
  'views',
  'notes',
  'payments',
  'quarantined',
  'buffered',
  'events',
] as const;
export type FoundCounts = Readonly<Partial<Record<(typeof foundKinds)[number], number>>>;

interface Found {
  readonly counts: FoundCounts;
  /** The leads that the records belong to. */
  readonly leadIds: Iterable<string>;
}

/** A store of leads, or of records of leads. */
export interface ErasableStore {
  /**
   * Counts the records of the matching leads, and deletes them if `erase` is set.
   *
   * @throws LeadsError `unavailable`. Some records may be deleted nevertheless.
   */
  visit(isErased: IsErased, options: { erase: boolean }): Promise<Found>;
}

/** A log of erasures. Methods throw if it cannot be reached. */
export interface ErasureLog {
  /** Writes an erasure. Resolves when it is on disk. */
  write(erasure: Erasure): Promise<void>;
  read(): Promise<Erasure[]>;
}

/** The log in the database of the leads. It knows which erasures have finished. */
export interface ErasureTable extends ErasureLog {
  /** Returns the erasures that were interrupted. */
  unfinished(): Promise<Erasure[]>;
  /** Marks erasures as finished. @returns the ids of the erasures that this call has marked. */
  finish(ids: readonly string[], counts: FoundCounts): Promise<string[]>;
}

export interface ErasureTargets {
  readonly keys: ErasureKeys;
  /**
   * The stores in the order of the data flow: sources of leads, the leads, their events. In another order, an erased lead
   * could come back. An interrupted erasure can run again.
   */
  readonly stores: readonly ErasableStore[];
  /** Logs outside of the database: a database restored from a backup lacks later erasures. */
  readonly logs: readonly ErasureLog[];
  readonly table: ErasureTable;
}

/** An erasure and the records that it would delete. */
export interface ErasurePlan {
  readonly erasure: Erasure;
  readonly counts: FoundCounts;
}

/** The deleted records, and the matching records that arrived during the erasure and are left. */
export interface ErasureReport {
  readonly erased: FoundCounts;
  readonly left: FoundCounts;
  /** The erasures that have finished in this run, including interrupted ones of earlier runs. */
  readonly finished: readonly Erasure[];
}

/**
 * Finds all records of a data subject; changes nothing.
 *
 * @throws LeadsError `invalid_input` for an invalid phone number; `unavailable`
 */
export async function planErasure(
  { keys, stores }: Pick<ErasureTargets, 'keys' | 'stores'>,
  subject: DataSubject,
  workspaceId: string | undefined,
): Promise<ErasurePlan> {
  const id = newId();
  const at = new Date();
  const named = { id, at, workspaceId, keys: keys.ofSubject(subject), seal: keys.seal(id) };
  const { counts, leadIds } = await visitAll(stores, matchErasures(keys, [named]), { erase: false });
  // The ids also match the events of leads that are deleted already.
  const all = new Set([...named.keys, ...Array.from(leadIds, (leadId) => keys.ofId(leadId))]);
  return { erasure: { ...named, keys: [...all] }, counts };
}

/**
 * Logs a planned erasure, then carries it out, together with earlier erasures that were interrupted.
 *
 * @throws Error if an earlier erasure was logged with another secret, since one secret could not repeat both.
 */
export async function erase(targets: ErasureTargets, erasure: Erasure): Promise<ErasureReport> {
  await readLogs(targets);
  for (const log of [...targets.logs, targets.table]) await log.write(erasure);
  return carryOut(targets, await targets.table.unfinished());
}

/**
 * Repeats all logged erasures. A restored backup may hold data that was erased after it was taken.
 *
 * @throws Error if an erasure was logged with another secret. Nothing is erased then.
 */
export async function repeatErasures(
  targets: ErasureTargets,
): Promise<ErasureReport & { readonly erasures: number }> {
  const logs = await readLogs(targets);
  const erasures = [
    ...new Map(logs.flatMap(({ read }) => read).map((erasure) => [erasure.id, erasure])).values(),
  ];
  for (const { log, read } of logs) {
    const logged = new Set(read.map(({ id }) => id));
    for (const erasure of erasures) if (!logged.has(erasure.id)) await log.write(erasure);
  }
  return { ...(await carryOut(targets, erasures)), erasures: erasures.length };
}

async function readLogs({ keys, logs, table }: ErasureTargets) {
  const all = await Promise.all([...logs, table].map(async (log) => ({ log, read: await log.read() })));
  const foreign = all.flatMap(({ read }) => read).find((erasure) => !keys.hasMade(erasure));
  if (foreign !== undefined) {
    throw new Error(`The erasure ${foreign.id} was logged with another ERASURE_SECRET: nothing was erased`);
  }
  return all;
}

async function carryOut(
  { keys, stores, table }: ErasureTargets,
  erasures: readonly Erasure[],
): Promise<ErasureReport> {
  const isErased = matchErasures(keys, erasures);
  const { counts: erased } = await visitAll(stores, isErased, { erase: true });
  const ids = new Set(
    await table.finish(
      erasures.map(({ id }) => id),
      erased,
    ),
  );
  const { counts: left } = await visitAll(stores, isErased, { erase: false });
  return { erased, left, finished: erasures.filter(({ id }) => ids.has(id)) };
}

async function visitAll(
  stores: readonly ErasableStore[],
  isErased: IsErased,
  options: { erase: boolean },
): Promise<Found> {
  const counts: Record<string, number> = {};
  const leadIds = new Set<string>();
  for (const store of stores) {
    const found = await store.visit(isErased, options);
    Object.assign(counts, found.counts);
    for (const id of found.leadIds) leadIds.add(id);
  }
  return { counts, leadIds };
}
