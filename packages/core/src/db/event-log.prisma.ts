import type { EventLog } from '../event/event-log.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { changesOfEvents, eventsFrom } from './lead-events.ts';
import { changeColumnsWithAliases, everyColumn, leadBytes } from './lead-rows.ts';

/** The maximum number of rows of the log that one page scans, of all workspaces. */
const maxScannedRows = 1_000;
/** The maximum number of events of these rows whose leads are looked up. */
const maxScannedEvents = 1_000;
/** The maximum number of events of a page, and of bytes of their leads in Postgres. A page has at least one event. */
const maxEvents = 100;
const maxBytes = 2 * 1024 * 1024;

interface StateRow {
  readonly streamMs: number;
  readonly first: number;
  readonly last: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** The extent of a page. */
interface Scan {
  /** The number of scanned rows, and the position of the last one. */
  readonly rows: number;
  readonly rowsTo: number | null;
  /** The number of scanned events, and the sequence number of the last one. */
  readonly events: number;
  readonly eventsTo: number | null;
  /** The number of found events before the limit of bytes. */
  readonly found: number;
}

/** A row of a page: an event, and the columns of its lead. A page without events is one row that has no event. */
interface PageRow {
  readonly scan: Scan;
  readonly entry: {
    readonly sequence: number;
    readonly version: number;
    readonly traceparent: string | null;
  } | null;
}

/** Creates the log of published events in Postgres. */
export function createEventLog({ select }: Database): EventLog {
  return {
    async publishNext(limit) {
      // There is nothing to publish most of the time. This query is cheaper than the function.
      const [work] = await select(Prisma.sql`
        (SELECT FROM lead_outbox LIMIT 1)
        UNION ALL SELECT WHERE NOT EXISTS (SELECT FROM lead_event_log_state) LIMIT 1`);
      if (work === undefined) return 0;
      const [row] = await select<{ events: number | null }>(
        Prisma.sql`SELECT log_events(${advisoryLocks.outbox}::bigint, ${limit}::int) AS events`,
      );
      return row?.events ?? undefined;
    },

    async state() {
      const [row] = await select<StateRow>(Prisma.sql`
        SELECT (extract(epoch FROM created_at) * 1000)::float8 AS "streamMs",
          coalesce(first, last_position + 1)::float8 AS first, last_position::float8 AS last,
          coalesce(published_at, last_published_at) AS "firstAt", last_published_at AS "lastAt"
        FROM lead_event_log_state LEFT JOIN (
          SELECT position - cardinality(lead_ids) + 1 AS first, published_at FROM lead_event_log ORDER BY position LIMIT 1
        ) AS oldest ON true`);
      return row;
    },

    async lastBefore(time) {
      const [row] = await select<{ position: number }>(Prisma.sql`
        SELECT position::float8 AS position FROM lead_event_log WHERE published_at < ${time.toISOString()}::timestamptz
        ORDER BY published_at DESC, position DESC LIMIT 1`);
      return row?.position;
    },

    async read(workspaceId, after) {
      const rows = await select<PageRow & Record<string, unknown>>(
        Prisma.sql`
          WITH scanned AS MATERIALIZED (
            SELECT position, position - cardinality(lead_ids) AS before, workspace_ids, lead_ids, versions, trace_parents
            FROM lead_event_log WHERE position > ${after}::bigint ORDER BY position LIMIT ${maxScannedRows}
          ), entry AS MATERIALIZED (
            SELECT before + place AS sequence, each.lead_id, event_version, trace_parents ->> each.lead_id::text AS traceparent
            FROM scanned, unnest(lead_ids, versions) WITH ORDINALITY AS each (lead_id, event_version, place)
            WHERE ${workspaceId}::uuid = ANY(workspace_ids) AND before + place > ${after}::bigint
            ORDER BY 1 LIMIT ${maxScannedEvents}
          ), found AS MATERIALIZED (
            SELECT sequence, event_version, traceparent, lead.*, ${leadBytes} AS bytes
            FROM entry JOIN lead_of_workspace AS lead ON lead.id = entry.lead_id
            ORDER BY sequence LIMIT ${maxEvents}
          ), page AS (
            SELECT *, sum(bytes) OVER (ORDER BY sequence) - bytes AS bytes_before FROM found
          )
          SELECT scan, event.* FROM (
            SELECT json_build_object(
              'rows', (SELECT count(*) FROM scanned), 'rowsTo', (SELECT max(position) FROM scanned),
              'events', (SELECT count(*) FROM entry), 'eventsTo', (SELECT max(sequence) FROM entry),
              'found', (SELECT count(*) FROM found)
            ) AS scan
          ) AS scan LEFT JOIN (
            SELECT sequence, json_build_object(
              'sequence', sequence, 'version', event_version, 'traceparent', traceparent
            ) AS entry, ${everyColumn}
            FROM page AS lead WHERE bytes_before < ${maxBytes}
          ) AS event ON true ORDER BY sequence`,
        { workspaceId },
      );
      const [{ scan } = {}] = rows;
      if (scan === undefined) throw new Error('A page always has a row');
      const found = rows.flatMap(({ scan: _scan, sequence: _sequence, entry, ...lead }) =>
        entry === null ? [] : { entry, lead, leadId: lead['id'] as string, version: entry.version },
      );
      const changes = found.some(({ lead }) => (lead['version'] as number) > 1)
        ? await select<Record<string, unknown>>(
            Prisma.sql`SELECT lead_id AS "leadId", ${changeColumnsWithAliases} FROM ${changesOfEvents(found)}`,
            { workspaceId },
          )
        : [];
      const eventOf = eventsFrom(
        found.map(({ lead }) => lead),
        changes,
      );
      const events = found.flatMap(({ leadId, entry: { version, sequence, traceparent } }) => {
        const event = eventOf(leadId, version);
        if (event === undefined) return [];
        return { sequence, event: traceparent === null ? event : { ...event, traceparent } };
      });
      if (found.length < scan.found || scan.found === maxEvents) {
        return { events, upTo: found.at(-1)?.entry.sequence ?? after, hasMore: true };
      }
      if (scan.events === maxScannedEvents) return { events, upTo: scan.eventsTo ?? after, hasMore: true };
      return { events, upTo: scan.rowsTo ?? after, hasMore: scan.rows === maxScannedRows };
    },

    async workspacesAfter(position) {
      const rows = await select<{ id: string; newest: number }>(Prisma.sql`
        SELECT id, max(position)::float8 AS newest FROM lead_event_log, unnest(workspace_ids) AS id
        WHERE position > ${position}::bigint GROUP BY id`);
      return new Map(rows.map(({ id, newest }) => [id, newest]));
    },

    async dropOlderThan(ageMs, max) {
      const rows = await select(Prisma.sql`
        DELETE FROM lead_event_log WHERE position IN (
          SELECT position FROM lead_event_log
          WHERE published_at < now() - ${ageMs}::float8 * interval '1 millisecond'
          ORDER BY published_at, position LIMIT ${max}
        ) RETURNING position`);
      return rows.length;
    },
  };
}
