import { BackgroundLoop } from '../background/background-loop.ts';
import { LeadsError } from '../errors.ts';
import type { LeadStore } from '../lead/lead-store.ts';
import type { OverviewStore } from '../overview/overview-store.ts';
import type { Database } from './client.ts';
import { DatabaseError } from './database-error.ts';
import { Prisma } from './generated/client.ts';

/** The pause between two measurements, in milliseconds. */
const intervalMs = 500;
/** Beyond these a replica is too old for anyone. */
const maxMarks = 7_200;

/** How far the primary's log reached at a time of this process's clock. */
interface Mark {
  readonly atMs: number;
  readonly position: bigint;
}

interface ReplicaOptions {
  readonly primary: Pick<Database, 'select'>;
  readonly replica: Pick<Database, 'select'>;
  /** How far behind the replica may be for anyone to read from it, in milliseconds. */
  readonly maxLagMs: number;
  /** Hears when the replica begins to be read from, and when it ends. */
  readonly onChange?: (isUsed: boolean) => void;
}

/**
 * Knows what a streaming replica has: everything that was committed before a time that is found out in the background. No
 * clock but this process's counts, and neither servers that hang nor a link that is cut go unnoticed, since that time then
 * stays where it is.
 *
 * Who has written through this process reads from the replica only once it has what was written.
 */
export class Replica implements AsyncDisposable {
  readonly #options: ReplicaOptions;
  readonly #loop: BackgroundLoop;
  readonly #wroteAtMs = new Map<string, number>();
  #marks: Mark[] = [];
  /** The replica has all that was committed before. */
  #levelAtMs = Number.NEGATIVE_INFINITY;
  #isUsed = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({ step: () => this.#measure(), retryMs: intervalMs });
  }

  /** How far behind the replica may be, in seconds; nothing where it is not known to have anything. */
  get lagSeconds(): number | undefined {
    const seconds = (performance.now() - this.#levelAtMs) / 1_000;
    return Number.isFinite(seconds) ? seconds : undefined;
  }

  /** Whether a workspace's leads may be read from it. */
  serves(workspaceId: string): boolean {
    const wroteAtMs = this.#wroteAtMs.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
    return this.#isNew() && wroteAtMs < this.#levelAtMs;
  }

  /** To be told once something of workspaces is committed, or may be. */
  wrote(workspaceIds: Iterable<string>): void {
    const now = performance.now();
    for (const id of workspaceIds) this.#wroteAtMs.set(id, now);
  }

  /** Reads from the replica where it serves, and from the primary where it does not or fails. */
  async read<Store, Found>(
    workspaceId: string,
    stores: { primary: Store; replica: Store },
    read: (store: Store) => Promise<Found>,
  ): Promise<Found> {
    if (!this.serves(workspaceId)) return read(stores.primary);
    try {
      return await read(stores.replica);
    } catch (error) {
      // What takes too long there takes too long on the primary as well.
      if (sqlStateOf(error) === '57014') throw error;
      if (!(error instanceof DatabaseError || error instanceof LeadsError)) throw error;
      // A replica cancels what stands in the way of its log (40001), and that is no reason to leave it alone.
      if (error instanceof LeadsError) this.#levelAtMs = Number.NEGATIVE_INFINITY;
      this.#reportChange();
      return read(stores.primary);
    }
  }

  #isNew(): boolean {
    return performance.now() - this.#levelAtMs <= this.#options.maxLagMs;
  }

  async #measure(): Promise<number> {
    const { primary, replica } = this.#options;
    const atMs = performance.now();
    const [written, replayed] = await Promise.all([
      // What is committed with `synchronous_commit = off` is there some tenths of a second later.
      positionOf(primary, Prisma.sql`pg_current_wal_lsn()`),
      positionOf(replica, Prisma.sql`pg_last_wal_replay_lsn()`),
    ]);
    if (written !== undefined) this.#marks.push({ atMs, position: written });
    if (replayed !== undefined) {
      const level = this.#marks.findLast(({ position }) => position <= replayed);
      if (level !== undefined) {
        this.#levelAtMs = level.atMs;
        this.#marks = this.#marks.filter((mark) => mark.atMs >= level.atMs);
        for (const [id, wroteAtMs] of this.#wroteAtMs) {
          if (wroteAtMs < level.atMs) this.#wroteAtMs.delete(id);
        }
      }
    }
    this.#marks = this.#marks.slice(-maxMarks);
    this.#reportChange();
    return intervalMs;
  }

  #reportChange(): void {
    if (this.#isUsed === this.#isNew()) return;
    this.#isUsed = !this.#isUsed;
    this.#options.onChange?.(this.#isUsed);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}

/** A place in the log, in bytes; nothing where the server does not tell, or is not what it should be. */
async function positionOf(
  { select }: Pick<Database, 'select'>,
  lsn: Prisma.Sql,
): Promise<bigint | undefined> {
  try {
    const [row] = await select<{ position: string | null }>(
      Prisma.sql`SELECT (${lsn} - '0/0'::pg_lsn)::text AS position`,
    );
    const position = row?.position ?? undefined;
    return position === undefined ? undefined : BigInt(position);
  } catch {
    return undefined;
  }
}

function sqlStateOf(error: unknown): string | undefined {
  const cause = error instanceof LeadsError ? error.cause : error;
  return cause instanceof DatabaseError ? cause.sqlState : undefined;
}

/** Leads whose lists, files and numbers come from a replica; what is written, and read to be written, does not. */
export function readLeadsFrom(
  replica: Replica,
  stores: { primary: LeadStore; replica: LeadStore },
): LeadStore {
  return {
    ...stores.primary,
    async insert(leads, workspaceId) {
      try {
        return await stores.primary.insert(leads, workspaceId);
      } finally {
        replica.wrote(new Set(leads.map((lead) => lead.workspaceId)));
      }
    },
    async change(workspaceId, changes) {
      try {
        return await stores.primary.change(workspaceId, changes);
      } finally {
        replica.wrote(new Set([workspaceId]));
      }
    },
    list: (selection, piece) =>
      replica.read(selection.scope.workspaceId, stores, (store) => store.list(selection, piece)),
    scan: (selection, piece) =>
      replica.read(selection.scope.workspaceId, stores, (store) => store.scan(selection, piece)),
    count: (selection) =>
      replica.read(selection.scope.workspaceId, stores, (store) => store.count(selection)),
  };
}

/** The overview's numbers, from a replica; they are added up on the primary. */
export function readOverviewFrom(
  replica: Replica,
  stores: { primary: OverviewStore; replica: OverviewStore },
): OverviewStore {
  return {
    ...stores.primary,
    count: (scope, range) => replica.read(scope.workspaceId, stores, (store) => store.count(scope, range)),
  };
}
