import type { EventOutbox } from '../event/event-outbox.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { toLeadEvent } from '../event/lead-event.ts';
import type { FoundLead } from '../lead/lead.ts';
import type { LeadChange } from '../lead/lead-store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { changesAsFound, everyColumn } from './lead-store.prisma.ts';
import { withoutNulls } from './without-nulls.ts';

/** Rows looked at: each holds one event or several hundred. */
const maxRows = 500;

interface OutboxRow {
  readonly id: bigint;
  readonly leadIds: string[];
  readonly versions: number[];
  /** By lead. */
  readonly traceparents: Readonly<Record<string, string>> | null;
  /** Whether there is more in the row. */
  readonly isCut: boolean;
}

/** The outbox in Postgres. */
export function createEventOutbox({ select, transaction }: Database): EventOutbox {
  return {
    async publishNext(most, tell) {
      // Most of the time there is nothing, which is to cost next to nothing.
      if ((await select(Prisma.sql`SELECT FROM lead_outbox LIMIT 1`)).length === 0) return 0;
      return transaction(async (tx) => {
        // For the transaction and not for the session, which a pooler may share.
        const [turn] = await tx.$queryRaw<{ isOurs: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${advisoryLocks.outbox}) AS "isOurs"`;
        if (turn?.isOurs !== true) return undefined;
        // What is not committed yet is passed by: no event of the same leads is committed before it.
        const rows = atMost(
          most,
          await tx.$queryRaw<OutboxRow[]>`
            SELECT id, lead_ids[:${most}::int]::text[] AS "leadIds", versions[:${most}::int] AS versions,
              trace_parents AS "traceparents", events > ${most}::int AS "isCut"
            FROM (
              SELECT *, sum(events) OVER (ORDER BY id) AS up_to FROM (
                SELECT *, cardinality(lead_ids) AS events FROM lead_outbox ORDER BY id LIMIT ${maxRows}
              ) AS oldest
            ) AS summed
            -- What is beyond is not even read: a row may have thousands.
            WHERE up_to - events < ${most}::int ORDER BY id`,
        );
        const events = await eventsOf(tx, rows, most);
        await tell(events);
        const told = rows.filter(({ isCut }) => !isCut).map(({ id }) => id);
        await tx.$executeRaw`DELETE FROM lead_outbox WHERE id = ANY(${told}::bigint[])`;
        for (const { id } of rows.filter(({ isCut }) => isCut)) {
          await tx.$executeRaw`
            UPDATE lead_outbox SET lead_ids = lead_ids[${most}::int + 1:], versions = versions[${most}::int + 1:]
            WHERE id = ${id}`;
        }
        return events.length;
      });
    },

    async dropBefore(time) {
      const [row] = await select<{ events: number }>(Prisma.sql`
        WITH dropped AS (
          DELETE FROM lead_outbox WHERE created_at < ${time.toISOString()}::timestamptz RETURNING cardinality(lead_ids) AS events
        ) SELECT coalesce(sum(events), 0)::float8 AS events FROM dropped`);
      return row?.events ?? 0;
    },

    async oldest() {
      const [row] = await select<{ at: Date }>(
        Prisma.sql`SELECT created_at AS at FROM lead_outbox ORDER BY id LIMIT 1`,
      );
      return row?.at;
    },
  };
}

/** The first rows, as long as they hold no more events than that; one at least. What is cut is the last. */
function atMost(most: number, rows: readonly OutboxRow[]): readonly OutboxRow[] {
  let events = 0;
  const end = rows.findIndex(({ leadIds }) => {
    events += leadIds.length;
    return events > most;
  });
  const first = end === -1 ? rows : rows.slice(0, Math.max(end, 1));
  const cutAt = first.findIndex(({ isCut }) => isCut);
  return cutAt === -1 ? first : first.slice(0, cutAt + 1);
}

/** In order. A lead that is not there any more has no events. */
async function eventsOf(tx: Transaction, rows: readonly OutboxRow[], most: number): Promise<LeadEvent[]> {
  const ids = rows.map(({ id }) => id);
  const leads = await tx.$queryRaw<Record<string, unknown>[]>`
    SELECT ${everyColumn} FROM leads_of_outbox(${ids}::bigint[], ${most}::int) AS lead`;
  const leadById = new Map(
    leads.map((row) => withoutNulls(row) as unknown as FoundLead).map((lead) => [lead.id, lead]),
  );
  const changes = new Map<string, LeadChange[]>();
  if (leads.some(({ version }) => (version as number) > 1)) {
    const found = await tx.$queryRaw<Record<string, unknown>[]>`
      SELECT lead_id AS "leadId", ${changesAsFound} FROM changes_of_outbox(${ids}::bigint[], ${most}::int)`;
    for (const row of found) {
      const { leadId, ...change } = withoutNulls(row);
      const ofLead = changes.get(leadId as string) ?? [];
      ofLead.push(change as unknown as LeadChange);
      changes.set(leadId as string, ofLead);
    }
  }
  return rows.flatMap(({ leadIds, versions, traceparents }) =>
    leadIds.flatMap((id, at) => {
      const lead = leadById.get(id);
      const event = lead && toLeadEvent(lead, changes.get(id) ?? [], versions[at] ?? 1);
      if (event === undefined) return [];
      const traceparent = traceparents?.[id];
      return traceparent === undefined ? event : { ...event, traceparent };
    }),
  );
}
