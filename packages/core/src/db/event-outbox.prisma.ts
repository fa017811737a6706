import type { EventOutbox } from '../event/event-outbox.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database, StatementsOfTransaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { eventsFrom } from './lead-events.ts';
import { changeColumnsWithAliases, everyColumn, leadBytes } from './lead-rows.ts';

/** The maximum number of rows read at once. Each holds between one and several hundred events. */
const maxRows = 500;
/** The maximum number of bytes of the leads and changes of a part in Postgres. A part has at least one event. */
const maxBytes = 2 * 1024 * 1024;
/** The maximum number of parts of large events that are published at once. */
const maxParts = 8;
/** The maximum number of rows of the event log that return to the outbox at once. */
const maxReturnedRows = 5_000;

interface OutboxRow {
  readonly id: string;
  readonly leadIds: string[];
  readonly versions: number[];
  /** By lead id. */
  readonly traceparents: Readonly<Record<string, string>> | null;
  /** Whether the row holds more events than were read. */
  readonly isCut: boolean;
}

/** A row with every column of a lead. */
type LeadRow = Record<string, unknown> & { readonly version: number };

interface Part {
  readonly count: number;
  /** Whether it ended before its limit, because its events are large. */
  readonly isLarge: boolean;
}

/** Creates the event outbox in Postgres. */
export function createEventOutbox({ select, selectInTransaction }: Database): EventOutbox {
  const publishPart = (
    limit: number,
    isLogged: boolean,
    publish: (events: readonly LeadEvent[]) => Promise<void>,
  ): Promise<Part | undefined> =>
    selectInTransaction(async (tx) => {
      // A lock of the transaction, because a pooler may share the session with other clients.
      const [lock] = await tx.select<{ isOurs: boolean }>(
        Prisma.sql`SELECT pg_try_advisory_xact_lock(${advisoryLocks.outbox}) AS "isOurs"`,
        { name: 'lock_outbox' },
      );
      if (lock?.isOurs !== true) return undefined;
      if (isLogged) {
        const [returned] = await tx.select<{ isRest: boolean }>(
          Prisma.sql`SELECT return_logged_events(${maxReturnedRows}::int) AS "isRest"`,
          { name: 'return_logged_events' },
        );
        if (returned?.isRest === true) return { count: 0, isLarge: false };
      }
      const found = takeRows(limit, await oldestRows(tx, limit));
      const { rows, leads } = await withinBytes(tx, found);
      const events = await eventsOf(tx, rows, leads);
      await publish(events);
      const publishedIds = rows.filter(({ isCut }) => !isCut).map(({ id }) => id);
      await tx.select(Prisma.sql`DELETE FROM lead_outbox WHERE id = ANY(${publishedIds}::bigint[])`, {
        name: 'delete_outbox_rows',
      });
      for (const { id, leadIds } of rows.filter(({ isCut }) => isCut)) {
        const from = leadIds.length + 1;
        await tx.select(
          Prisma.sql`
            UPDATE lead_outbox SET lead_ids = lead_ids[${from}::int:], versions = versions[${from}::int:]
            WHERE id = ${id}::bigint`,
          { name: 'cut_outbox_row' },
        );
      }
      return { count: events.length, isLarge: eventCount(rows) < eventCount(found) };
    });

  return {
    async publishNext(limit, publish) {
      // The outbox is empty most of the time. This query is cheaper than a transaction.
      const [found] = await select<{ isWaiting: boolean; isLogged: boolean }>(
        Prisma.sql`
          SELECT EXISTS (SELECT FROM lead_outbox) AS "isWaiting",
            EXISTS (SELECT FROM lead_event_log) OR EXISTS (SELECT FROM lead_event_log_state) AS "isLogged"`,
        { name: 'find_outbox_events' },
      );
      if (found?.isWaiting !== true && found?.isLogged !== true) return 0;
      let count = 0;
      let partLimit = limit;
      for (let parts = 1; ; parts++) {
        const part = await publishPart(partLimit, found.isLogged, publish);
        if (part === undefined) return count === 0 ? undefined : count;
        count += part.count;
        if (!part.isLarge || count >= limit || parts === maxParts) return count;
        // The sizes of all events up to the limit are read first, so the limit is near the number that fits.
        partLimit = Math.min(limit - count, 2 * part.count + 1);
      }
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
 * Returns the oldest rows with about `limit` events. Uncommitted rows are skipped. The order holds: no later event of the same
 * leads can be committed before them.
 */
function oldestRows(tx: StatementsOfTransaction, limit: number): Promise<OutboxRow[]> {
  return tx.select<OutboxRow & Record<string, unknown>>(
    Prisma.sql`
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
    { name: 'oldest_outbox_rows' },
  );
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

const eventCount = (rows: readonly OutboxRow[]) => rows.reduce((sum, { leadIds }) => sum + leadIds.length, 0);

/**
 * Returns the first rows whose events have at most {@link maxBytes} together, and the rows of their leads. The first event is
 * returned at any size.
 */
async function withinBytes(
  tx: StatementsOfTransaction,
  rows: readonly OutboxRow[],
): Promise<{ rows: readonly OutboxRow[]; leads: LeadRow[] }> {
  const events = eventCount(rows);
  if (events === 0) return { rows, leads: [] };
  const leads = await leadsOf(tx, rows, maxBytes);
  // The events of unchanged leads have no changes, and usually all of them fit.
  if (leads.length > 0 && leads.every(({ version }) => version === 1)) return { rows, leads };
  const count = await countWithinBytes(tx, rows, events);
  if (leads.length > 0 && count === events) return { rows, leads };
  const fitting = takeRows(count, rows);
  return { rows: fitting, leads: await leadsOf(tx, fitting, Number.MAX_SAFE_INTEGER) };
}

/** Returns the leads of the rows; none if they have more bytes together than `most`. */
function leadsOf(tx: StatementsOfTransaction, rows: readonly OutboxRow[], most: number): Promise<LeadRow[]> {
  const ids = rows.map(({ id }) => id);
  return tx.select<LeadRow>(
    Prisma.sql`
      SELECT ${everyColumn} FROM (
        SELECT *, sum(${leadBytes}) OVER () AS bytes
        FROM leads_of_outbox(${ids}::bigint[], ${eventCount(rows)}::int)
      ) AS lead WHERE bytes <= ${most}::bigint`,
    { name: 'leads_of_outbox' },
  );
}

/**
 * Returns the number of the first events of the rows that have at most {@link maxBytes} together; 1 for a larger first event.
 * An event has the lead, its change, and the later change by which the lead is reverted.
 */
async function countWithinBytes(
  tx: StatementsOfTransaction,
  rows: readonly OutboxRow[],
  limit: number,
): Promise<number> {
  const ids = rows.map(({ id }) => id);
  const statement = Prisma.sql`
    WITH lead_size AS MATERIALIZED (
      SELECT id, version, ${leadBytes} AS bytes FROM leads_of_outbox(${ids}::bigint[], ${limit}::int)
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
  const [counted] = await tx.select<{ count: number }>(statement, { name: 'count_outbox_events' });
  return counted?.count ?? 0;
}

/** Returns the events of the rows, in their order. A lead that was deleted since has no events. */
async function eventsOf(
  tx: StatementsOfTransaction,
  rows: readonly OutboxRow[],
  leads: readonly LeadRow[],
): Promise<LeadEvent[]> {
  const ids = rows.map(({ id }) => id);
  const changes = leads.some(({ version }) => version > 1)
    ? await tx.select(
        Prisma.sql`
          SELECT lead_id AS "leadId", ${changeColumnsWithAliases}
          FROM changes_of_outbox(${ids}::bigint[], ${eventCount(rows)}::int)`,
        { name: 'changes_of_outbox' },
      )
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
