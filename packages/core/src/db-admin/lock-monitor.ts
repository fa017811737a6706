import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { openAdminClient } from './admin-client.ts';

/** Observes the locks that a session waits for. */
export interface LockMonitor extends AsyncDisposable {
  /** Returns the last wait since the previous call. */
  takeLastWait(): LockWait | undefined;
}

interface LockWait {
  /** The lock and the sessions that hold it, as part of a sentence. */
  readonly description: string;
  /** The table as SQL names it; undefined for other locks, such as that of an index, which `LOCK TABLE` cannot take. */
  readonly table: string | undefined;
}

/** The polling interval in milliseconds. It is shorter than any lock timeout, so that no wait is missed. */
const intervalMs = 200;

/**
 * Reads the locks that a session waits for. It runs on a separate connection, because the monitored session is blocked.
 * `CREATE INDEX CONCURRENTLY` can wait for this statement while it runs, so the result excludes its own session.
 */
const sql = `
  SELECT CASE WHEN relkind IN ('r', 'p') THEN relation::regclass::text END AS table,
    CASE locktype WHEN 'relation' THEN relation::regclass::text
      WHEN 'virtualxid' THEN 'transactions that began before' ELSE locktype END AS target,
    blocker.pid, application_name AS name, state, extract(epoch FROM now() - xact_start)::int AS seconds
  FROM pg_locks CROSS JOIN unnest(pg_blocking_pids(pg_locks.pid)) AS blocker(pid)
    LEFT JOIN pg_class ON pg_class.oid = relation LEFT JOIN pg_stat_activity AS session ON session.pid = blocker.pid
  WHERE pg_locks.pid = $1 AND NOT granted AND blocker.pid <> pg_backend_pid()`;

interface Blocker {
  readonly table: string | null;
  readonly target: string;
  readonly pid: number;
  /** Null for sessions of other roles, like `state` and `seconds`. */
  readonly name: string | null;
  readonly state: string | null;
  readonly seconds: number | null;
}

/**
 * Monitors the locks of a session until it is disposed.
 *
 * @param options.client the session.
 * @param options.onWait called once for each session that the client waits for.
 */
export async function monitorLocks(options: {
  databaseUrl: string;
  client: pg.Client;
  onWait: (description: string) => void;
}): Promise<LockMonitor> {
  const { rows: backends } = await options.client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const client = await openAdminClient(options.databaseUrl);
  const stop = new AbortController();
  const reported = new Set<number>();
  let last: LockWait | undefined;
  const poll = async () => {
    const { rows } = await client.query<Blocker>(sql, [backends[0]?.pid]);
    const [blocker] = rows;
    if (blocker === undefined) return;
    last = { description: rows.map(describe).join(' and '), table: blocker.table ?? undefined };
    if (rows.every(({ pid }) => reported.has(pid))) return;
    for (const { pid } of rows) reported.add(pid);
    options.onWait(last.description);
  };
  const polling = (async () => {
    while (!stop.signal.aborted) {
      // If the server is gone, the monitored session fails too and reports it.
      await poll().catch(() => undefined);
      await sleep(intervalMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    takeLastWait() {
      const wait = last;
      last = undefined;
      return wait;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await polling;
      await client[Symbol.asyncDispose]();
    },
  };
}

function describe({ target, pid, name, state, seconds }: Blocker): string {
  const facts = [name, state, seconds === null ? null : `for ${seconds} s`];
  const known = facts.filter((fact) => fact !== null && fact !== '').join(', ');
  return `${target}, held by process ${pid}${known === '' ? '' : ` (${known})`}`;
}
