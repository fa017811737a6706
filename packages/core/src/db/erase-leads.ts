import { setTimeout as sleep } from 'node:timers/promises';
import { maxLeadsPerAggregation } from '../overview/lead-count-aggregator.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { createOverviewStore } from './overview-store.prisma.ts';

/** The number of leads that one transaction erases, and that one statement reads by their ids. */
export const leadsPerTransaction = 500;

/** Deletes saved views. */
export async function deleteViews({ select }: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await select(Prisma.sql`DELETE FROM saved_view WHERE id = ANY(${ids}::uuid[]) RETURNING id`);
}

/** The numbers of rows that an erasure of leads deletes. */
interface Counts {
  readonly leads: number;
  readonly changes: number;
  readonly waitingEvents: number;
}

/** Returns the counts of {@link eraseLeads}, and erases nothing. */
export async function countLeads({ select }: Database, ids: readonly string[]): Promise<Counts> {
  const [row] = await select<{ changes: number; waitingEvents: number }>(Prisma.sql`
    SELECT (SELECT count(*)::int FROM lead_change WHERE lead_id = ANY(${ids}::uuid[])) AS changes,
      (SELECT count(*)::int FROM (
          SELECT lead_ids FROM lead_outbox UNION ALL SELECT lead_ids FROM lead_event_log
        ) AS kept, unnest(lead_ids) AS lead_id
        WHERE lead_ids && ${ids}::uuid[] AND lead_id = ANY(${ids}::uuid[])) AS "waitingEvents"`);
  return { leads: ids.length, changes: row?.changes ?? 0, waitingEvents: row?.waitingEvents ?? 0 };
}

/** Erases leads with their histories and their unpublished events. */
export async function eraseLeads(database: Database, ids: readonly string[]): Promise<Counts> {
  await aggregateLeadCounts(database, ids);
  return database.transaction(async (tx) => {
    // Waits for, and then blocks, the publisher of outbox events and the aggregation of lead counts.
    await tx.$queryRaw`SELECT FROM (VALUES (1)) AS one, pg_advisory_xact_lock(${advisoryLocks.leadCounts})`;
    await tx.$queryRaw`SELECT FROM (VALUES (1)) AS one, pg_advisory_xact_lock(${advisoryLocks.outbox})`;
    await mergeIdentifyingS1(tx, ids);
    const [erased] = await tx.$queryRaw<{ leads: number; changes: number }[]>`
      SELECT erased_leads::int AS leads, erased_changes::int AS changes FROM erase_leads(${ids}::uuid[])`;
    return {
      leads: erased?.leads ?? 0,
      changes: erased?.changes ?? 0,
      waitingEvents: (await deleteEvents(tx, outboxTable, ids)) + (await deleteEvents(tx, logTable, ids)),
    };
  });
}

/** Aggregates lead counts until the `s1` of all the leads are counted by value. */
async function aggregateLeadCounts(database: Database, ids: readonly string[]): Promise<void> {
  const overview = createOverviewStore(database);
  for (let attempt = 1; attempt <= 50; attempt++) {
    while ((await overview.aggregate(maxLeadsPerAggregation)) > 0);
    const waiting = await database.select(Prisma.sql`
      SELECT FROM lead_tally_entry
      WHERE s1 && (SELECT coalesce(array_agg(s1), '{}') FROM lead WHERE id = ANY(${ids}::uuid[]) AND s1 IS NOT NULL)
      LIMIT 1`);
    if (waiting.length === 0) return;
    // Another process aggregates.
    await sleep(100);
  }
}

/** Moves the counts of an `s1` that only these leads have to `s1_others`, since the value may identify a person. */
async function mergeIdentifyingS1(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.$executeRaw`
    WITH gone AS (
      SELECT workspace_id, s1, count(*) AS leads FROM lead WHERE id = ANY(${ids}::uuid[]) AND s1 IS NOT NULL GROUP BY 1, 2
    ), own AS (
      SELECT workspace_id, s1 FROM gone
      WHERE leads >= (
        SELECT coalesce(sum(on_hold + trashed + paid + approved), 0) FROM lead_tally AS tally
        WHERE tally.workspace_id = gone.workspace_id AND of_id = gone.workspace_id AND kind = 's1' AND value = s1
      )
    ), taken AS (
      DELETE FROM lead_tally AS tally USING own
      WHERE tally.workspace_id = own.workspace_id AND kind = 's1' AND value = s1
      RETURNING tally.*
    )
    INSERT INTO lead_tally AS kept (workspace_id, of_id, kind, at, value, on_hold, trashed, paid, approved)
    SELECT workspace_id, of_id, 's1_others', at, '', sum(on_hold), sum(trashed), sum(paid), sum(approved)
    FROM taken GROUP BY workspace_id, of_id, at
    ON CONFLICT (workspace_id, of_id, kind, at, value) DO UPDATE SET
      on_hold = kept.on_hold + excluded.on_hold, trashed = kept.trashed + excluded.trashed,
      paid = kept.paid + excluded.paid, approved = kept.approved + excluded.approved`;
}

const outboxTable = { name: Prisma.sql`lead_outbox`, key: Prisma.sql`id` };
const logTable = { name: Prisma.sql`lead_event_log`, key: Prisma.sql`position` };

/**
 * Deletes the events of leads from a table. The position of a row of the log is that of its last event. If a row loses
 * events, those before them move to later positions: a reader may receive them again, and misses none.
 *
 * @returns the number of deleted events.
 */
async function deleteEvents(
  tx: Transaction,
  { name, key }: typeof outboxTable,
  ids: readonly string[],
): Promise<number> {
  const [row] = await tx.$queryRaw<{ events: number }[]>`
    WITH waiting AS (
      SELECT ${key} AS id, lead_id, version, place, lead_id = ANY(${ids}::uuid[]) AS is_gone
      FROM ${name}, unnest(lead_ids, versions) WITH ORDINALITY AS each (lead_id, version, place)
      WHERE lead_ids && ${ids}::uuid[]
    ), left_over AS (
      UPDATE ${name} SET lead_ids = others.lead_ids, versions = others.versions
      FROM (
        SELECT id, array_agg(lead_id ORDER BY place) AS lead_ids, array_agg(version ORDER BY place) AS versions
        FROM waiting WHERE NOT is_gone GROUP BY id
      ) AS others WHERE ${name}.${key} = others.id
    ), emptied AS (
      DELETE FROM ${name} WHERE ${key} IN (SELECT id FROM waiting GROUP BY id HAVING bool_and(is_gone))
    )
    SELECT count(*)::int AS events FROM waiting WHERE is_gone`;
  return row?.events ?? 0;
}
