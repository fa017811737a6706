import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/** The state of write-ahead log archiving, as Postgres reports it. */
export interface Archiving {
  /** Whether the server is a replica. A replica archives nothing: its primary does. */
  readonly isReplica: boolean;
  readonly walLevel: string;
  readonly archiveMode: string;
  readonly archivedAt: Date | null;
  readonly failedAt: Date | null;
  /** The number of bytes written since the end of the last archived segment; null if no segment was archived. */
  readonly unarchivedBytes: number | null;
  readonly segmentBytes: number;
  /** The time after which Postgres completes a segment that has a change; 0 if only a full segment is complete. */
  readonly archiveTimeoutSeconds: number;
}

/**
 * Reads the state of archiving.
 *
 * @throws LeadsError `unavailable` without the database.
 */
export async function checkArchiving({ select }: Pick<Database, 'select'>): Promise<Archiving> {
  // A segment's name has three parts of 8 hexadecimal digits: the timeline, the position in units of 4 GiB, and the
  // position within that unit, counted in segments.
  const [row] = await select<Archiving>(Prisma.sql`
    SELECT pg_is_in_recovery() AS "isReplica", current_setting('wal_level') AS "walLevel",
      current_setting('archive_mode') AS "archiveMode", last_archived_time AS "archivedAt",
      last_failed_time AS "failedAt",
      pg_size_bytes(current_setting('wal_segment_size'))::float8 AS "segmentBytes",
      extract(epoch FROM current_setting('archive_timeout')::interval)::float8 AS "archiveTimeoutSeconds",
      CASE WHEN NOT pg_is_in_recovery() AND last_archived_wal ~ '^[0-9A-F]{24}' THEN (
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')
        - ('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * 4294967296
        - (('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint + 1)
          * pg_size_bytes(current_setting('wal_segment_size'))
      )::float8 END AS "unarchivedBytes"
    FROM pg_stat_archiver`);
  if (row === undefined) throw new Error('pg_stat_archiver has no row');
  return row;
}
