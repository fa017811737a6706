import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from './schema-engine.ts';

/** Looks at what a session waits for. */
export interface LockWatch extends AsyncDisposable {
  /** What it waited for last; forgotten with each call. */
  take(): LockWait | undefined;
}

interface LockWait {
  /** What it was, and who held it, as part of a sentence. */
  readonly description: string;
  /** The table, as SQL names it, where it was one: an index or a sequence cannot be locked by name. */
  readonly table: string | undefined;
}

/** Less than any lock is waited for, so that none is overlooked. */
const intervalMs = 200;

/** What a session waits for is told to others only, so this takes a connection of its own. */
const sql = `
  SELECT CASE WHEN relkind IN ('r', 'p') THEN relation::regclass::text END AS table,
    CASE locktype WHEN 'relation' THEN relation::regclass::text
      WHEN 'virtualxid' THEN 'transactions that began before' ELSE locktype END AS target,
    blocker.pid, application_name AS name, state, extract(epoch FROM now() - xact_start)::int AS seconds
  FROM pg_locks CROSS JOIN unnest(pg_blocking_pids(pg_locks.pid)) AS blocker(pid)
    LEFT JOIN pg_class ON pg_class.oid = relation LEFT JOIN pg_stat_activity AS session ON session.pid = blocker.pid
  WHERE pg_locks.pid = $1 AND NOT granted`;

interface Blocker {
  readonly table: string | null;
  readonly target: string;
  readonly pid: number;
  /** The next three are null of other roles' sessions, and where there is nothing to tell. */
  readonly name: string | null;
  readonly state: string | null;
  readonly seconds: number | null;
}

/**
 * Watches a session's locks until it is disposed.
 *
 * @param options.pid of the session, as Postgres numbers them.
 * @param options.onWait hears of each that it waits for, once.
 */
export async function watchLocks(options: {
  databaseUrl: string;
  pid: number;
  onWait: (what: string) => void;
}): Promise<LockWatch> {
  const client = await openClient(options.databaseUrl);
  const isOver = new AbortController();
  const told = new Set<number>();
  let last: LockWait | undefined;
  const look = async () => {
    const { rows } = await client.query<Blocker>(sql, [options.pid]);
    const [blocker] = rows;
    if (blocker === undefined) return;
    last = { description: rows.map(describe).join(' and '), table: blocker.table ?? undefined };
    if (rows.every(({ pid }) => told.has(pid))) return;
    for (const { pid } of rows) told.add(pid);
    options.onWait(last.description);
  };
  await look();
  const running = (async () => {
    while (!isOver.signal.aborted) {
      await sleep(intervalMs, undefined, { signal: isOver.signal }).catch(() => undefined);
      // Whoever waits finds out by itself about a connection that is lost.
      await look().catch(() => undefined);
    }
  })();
  return {
    take() {
      const taken = last;
      last = undefined;
      return taken;
    },
    async [Symbol.asyncDispose]() {
      isOver.abort();
      await running;
      await client.end();
    },
  };
}

function describe({ target, pid, name, state, seconds }: Blocker): string {
  const facts = [name, state, seconds === null ? null : `for ${seconds} s`];
  const known = facts.filter((fact) => fact !== null && fact !== '').join(', ');
  return `${target}, held by process ${pid}${known === '' ? '' : ` (${known})`}`;
}
