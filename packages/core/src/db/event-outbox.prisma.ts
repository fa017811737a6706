import type { EventOutbox } from '../event/event-outbox.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { eventsFrom } from './lead-events.ts';
import { changeColumnsWithAliases, everyColumn } from './lead-rows.ts';

/** The maximum number of rows read at once. Each holds between one and several hundred events. */
const maxRows = 500;
/** The maximum number of bytes of the leads and changes of a batch in Postgres. A batch has at least one event. */
const maxBytes = 4 * 1024 * 1024;
/** The maximum number of rows of the event log that return to the outbox at once. */
const maxReturnedRows = 5_000;

interface OutboxRow {
  readonly id: bigint;
  readonly leadIds: string[];
  readonly versions: number[];
  /** By lead id. */
  readonly traceparents: Readonly<Record<string, string>> | null;
  /** Whether the row holds more events than were read. */
  readonly isCut: boolean;
}

/** Creates the event outbox in Postgres. */
export function createEventOutbox({ select, transaction }: Database): EventOutbox {
  return {
    async publishNext(limit, publish) {
      // The outbox is empty most of the time. This query is cheaper than a transaction.
      const [found] = await select<{ isWaiting: boolean; isLogged: boolean }>(Prisma.sql`
        SELECT EXISTS (SELECT FROM lead_outbox) AS "isWaiting",
          EXISTS (SELECT FROM lead_event_log) OR EXISTS (SELECT FROM lead_event_log_state) AS "isLogged"`);
      if (found?.isWaiting !== true && found?.isLogged !== true) return 0;
      return transaction(async (tx) => {
        // A lock of the transaction, because a pooler may share the session with other clients.
        const [lock] = await tx.$queryRaw<{ isOurs: boolean }[]>`
          SELECT pg_try_advisory_xact_lock(${advisoryLocks.outbox}) AS "isOurs"`;
        if (lock?.isOurs !== true) return undefined;
        if (found.isLogged) {
          const [returned] = await tx.$queryRaw<{ isRest: boolean }[]>`
            SELECT return_logged_events(${maxReturnedRows}::int) AS "isRest"`;
          if (returned?.isRest === true) return 0;
        }
        // Uncommitted rows are skipped. The order holds: no later event of the same leads can be committed before them.
        const oldest = takeRows(
          limit,
          await tx.$queryRaw<OutboxRow[]>`
            SELECT id, lead_ids[:${limit}::int]::text[] AS "leadIds", versions[:${limit}::int] AS versions,
              trace_parents AS "traceparents", events > ${limit}::int AS "isCut"
            FROM (
              SELECT *, sum(events) OVER (ORDER BY id) AS up_to FROM (
                SELECT *, cardinality(lead_ids) AS events FROM lead_outbox ORDER BY id LIMIT ${maxRows}
              ) AS oldest
            ) AS summed
            -- Rows beyond the limit are not read, because a row may hold thousands of events.
            WHERE up_to - events < ${limit}::int
              -- Events that an instance without NATS_URL has logged since come first.
              AND NOT EXISTS (SELECT FROM lead_event_log)
            ORDER BY id`,
        );
        const count = await countWithinBytes(tx, oldest, limit);
        const rows = takeRows(count, oldest);
        const events = await eventsOf(tx, rows, count);
        await publish(events);
        const publishedIds = rows.filter(({ isCut }) => !isCut).map(({ id }) => id);
        await tx.$executeRaw`DELETE FROM lead_outbox WHERE id = ANY(${publishedIds}::bigint[])`;
        for (const { id } of rows.filter(({ isCut }) => isCut)) {
          await tx.$executeRaw`
            UPDATE lead_outbox SET lead_ids = lead_ids[${count}::int + 1:], versions = versions[${count}::int + 1:]
            WHERE id = ${id}`;
        }
        return events.length;
      });
    },

    async oldest() {
      const [row] = await select<{ at: Date }>(
        Prisma.sql`SELECT created_at AS at FROM lead_outbox ORDER BY id LIMIT 1`,
      );
      return row?.at;
    },
  };
}

/**
 * Returns the first rows whose events fit the limit, or the first row cut to the limit if it has more events. A cut row is
 * always the last.
 */
function takeRows(limit: number, rows: readonly OutboxRow[]): readonly OutboxRow[] {
  const [first] = rows;
  if (first !== undefined && first.leadIds.length > limit) {
    const { leadIds, versions } = first;
    return [{ ...first, leadIds: leadIds.slice(0, limit), versions: versions.slice(0, limit), isCut: true }];
  }
  let events = 0;
  const end = rows.findIndex(({ leadIds }) => {
    events += leadIds.length;
    return events > limit;
  });
  const fitting = end === -1 ? rows : rows.slice(0, end);
  const cutAt = fitting.findIndex(({ isCut }) => isCut);
  return cutAt === -1 ? fitting : fitting.slice(0, cutAt + 1);
}

/**
 * Returns the number of the first events of the rows that have at most {@link maxBytes} together; 1 for a larger first event.
 * An event has the lead, its change, and the later change by which the lead is reverted.
 */
async function countWithinBytes(tx: Transaction, rows: readonly OutboxRow[], limit: number): Promise<number> {
  const ids = rows.map(({ id }) => id);
  const [counted] = await tx.$queryRaw<{ count: number }[]>`
    WITH lead_size AS MATERIALIZED (
      SELECT id, version, octet_length(lead::text) AS bytes FROM leads_of_outbox(${ids}::bigint[], ${limit}::int) AS lead
    ), change_size AS MATERIALIZED (
      SELECT lead_id, version, octet_length(fields::text) AS bytes
      FROM changes_of_outbox(${ids}::bigint[], ${limit}::int) WHERE (SELECT max(version) FROM lead_size) > 1
    ), size AS (
      SELECT sum(coalesce(lead_size.bytes, 0) + coalesce(own.bytes, 0) + coalesce(later.bytes, 0)) OVER (
        ORDER BY outbox.id, place) AS bytes_to, row_number() OVER (ORDER BY outbox.id, place) AS place
      FROM lead_outbox AS outbox
        CROSS JOIN unnest(lead_ids[:${limit}::int], versions[:${limit}::int])
          WITH ORDINALITY AS event (lead_id, event_version, place)
        LEFT JOIN lead_size ON lead_size.id = event.lead_id
        LEFT JOIN change_size AS own ON own.lead_id = event.lead_id AND own.version = event_version
        LEFT JOIN change_size AS later ON later.lead_id = event.lead_id AND later.version = event_version + 1
      WHERE outbox.id = ANY(${ids}::bigint[])
    )
    SELECT count(*)::int AS count FROM size WHERE bytes_to <= ${maxBytes} OR place = 1`;
  return counted?.count ?? 0;
}

/** Returns the events of the rows, in their order. A lead that was deleted since has no events. */
async function eventsOf(tx: Transaction, rows: readonly OutboxRow[], limit: number): Promise<LeadEvent[]> {
  const ids = rows.map(({ id }) => id);
  const leads = await tx.$queryRaw<Record<string, unknown>[]>`
    SELECT ${everyColumn} FROM leads_of_outbox(${ids}::bigint[], ${limit}::int) AS lead`;
  const changes = leads.some(({ version }) => (version as number) > 1)
    ? await tx.$queryRaw<Record<string, unknown>[]>`
        SELECT lead_id AS "leadId", ${changeColumnsWithAliases} FROM changes_of_outbox(${ids}::bigint[], ${limit}::int)`
    : [];
  const eventOf = eventsFrom(leads, changes);
  return rows.flatMap(({ leadIds, versions, traceparents }) =>
    leadIds.flatMap((id, at) => {
      const event = eventOf(id, versions[at] ?? 1);
      if (event === undefined) return [];
      const traceparent = traceparents?.[id];
      return traceparent === undefined ? event : { ...event, traceparent };
    }),
  );
}
