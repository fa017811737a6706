import { BackgroundLoop } from '../background/background-loop.ts';
import { LeadsError } from '../errors.ts';
import type { LeadNoteStore } from '../lead/lead-note-store.ts';
import type { LeadStore } from '../lead/lead-store.ts';
import type { OverviewStore } from '../overview/overview-store.ts';
import type { PaymentStore } from '../payout/payment-store.ts';
import type { Database } from './client.ts';
import { DatabaseError } from './database-error.ts';
import { Prisma } from './generated/client.ts';

/** The pause between two measurements, in milliseconds. */
const intervalMs = 500;
/** The maximum number of marks: 1 h. A replica with a longer lag is not used. */
const maxMarks = 7_200;

/** The position of the primary's log at a time of this process's clock. */
interface Mark {
  readonly atMs: number;
  readonly position: bigint;
}

interface ReplicaOptions {
  readonly primary: Pick<Database, 'select'>;
  readonly replica: Pick<Database, 'select'>;
  /** The maximum lag at which the replica is read, in milliseconds. */
  readonly maxLagMs: number;
  /** Called when reads from the replica start and when they stop. */
  readonly onChange?: (isUsed: boolean) => void;
}

/**
 * Routes reads to a streaming replica while its lag is small enough. A background loop measures the time before which
 * the replica has all commits. Only this process's clock is used. If a server hangs or the link between them breaks, that
 * time does not advance, and the measured lag grows.
 *
 * A workspace that wrote through this process reads from the replica only after the replica has replayed the write.
 */
export class Replica implements AsyncDisposable {
  readonly #options: ReplicaOptions;
  readonly #loop: BackgroundLoop;
  readonly #wroteAtMs = new Map<string, number>();
  #marks: Mark[] = [];
  /** The replica has all commits from before this time. */
  #levelAtMs = Number.NEGATIVE_INFINITY;
  #isUsed = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({ step: () => this.#measure(), retryMs: intervalMs });
  }

  /** The maximum possible lag, in seconds; undefined if it is unknown. */
  get lagSeconds(): number | undefined {
    const seconds = (performance.now() - this.#levelAtMs) / 1_000;
    return Number.isFinite(seconds) ? seconds : undefined;
  }

  /** Returns whether the leads of a workspace may be read from the replica. */
  serves(workspaceId: string): boolean {
    const wroteAtMs = this.#wroteAtMs.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
    return this.#isNew() && wroteAtMs < this.#levelAtMs;
  }

  /** Runs a write to workspaces and records it, also if it fails, because it may have been committed. */
  async write<Result>(workspaceIds: readonly string[], work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      this.wrote(workspaceIds);
    }
  }

  /** Records a write to workspaces that was committed or may have been. */
  wrote(workspaceIds: readonly string[]): void {
    const now = performance.now();
    for (const id of workspaceIds) this.#wroteAtMs.set(id, now);
  }

  /** Reads from the replica if it serves the workspace. Otherwise, and if that fails, reads from the primary. */
  async read<Store, Found>(
    workspaceId: string,
    stores: { primary: Store; replica: Store },
    read: (store: Store) => Promise<Found>,
  ): Promise<Found> {
    if (!this.serves(workspaceId)) return read(stores.primary);
    try {
      return await read(stores.replica);
    } catch (error) {
      const sqlState = sqlStateOf(error);
      // A query that exceeds the timeout on the replica would exceed it on the primary too.
      if (sqlState === '57014') throw error;
      if (!(error instanceof DatabaseError || error instanceof LeadsError)) throw error;
      // A replica cancels queries that conflict with its log (40001). It stays in use.
      if (error instanceof LeadsError && sqlState !== '40001') this.#levelAtMs = Number.NEGATIVE_INFINITY;
      this.#reportChange();
      return read(stores.primary);
    }
  }

  #isNew(): boolean {
    return performance.now() - this.#levelAtMs <= this.#options.maxLagMs;
  }

  async #measure(): Promise<number> {
    const { primary, replica } = this.#options;
    // In this order: a replica of this primary has replayed nothing that the primary writes only later.
    const replayed = await positionOf(replica, Prisma.sql`pg_last_wal_replay_lsn()`);
    const atMs = performance.now();
    // A commit with `synchronous_commit = off` reaches the log some tenths of a second later.
    const written = await positionOf(primary, Prisma.sql`pg_current_wal_lsn()`);
    if (written !== undefined && replayed !== undefined && replayed > written) {
      // The primary was restored to an earlier state, or replaced. The replica cannot follow, and its leads are others.
      this.#marks = [];
      this.#levelAtMs = Number.NEGATIVE_INFINITY;
    } else if (written !== undefined) this.#marks.push({ atMs, position: written });
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

/** Returns a position in the log, in bytes; undefined if the query fails, such as on a server of the other role. */
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

/** Returns a lead store that lists, scans and counts leads on the replica. Writes and `find` use the primary. */
export function readLeadsFrom(
  replica: Replica,
  stores: { primary: LeadStore; replica: LeadStore },
): LeadStore {
  return {
    ...stores.primary,
    insert: (leads) =>
      replica.write(
        leads.map(({ workspaceId }) => workspaceId),
        () => stores.primary.insert(leads),
      ),
    change: (workspaceId, changes) =>
      replica.write([workspaceId], () => stores.primary.change(workspaceId, changes)),
    changeInEach: (workspaces) =>
      replica.write(
        workspaces.map(({ workspaceId }) => workspaceId),
        () => stores.primary.changeInEach(workspaces),
      ),
    changeStatus: (workspaceId, change) =>
      replica.write([workspaceId], () => stores.primary.changeStatus(workspaceId, change)),
    changeStatusInEach: (workspaces) =>
      replica.write(
        workspaces.map(({ workspaceId }) => workspaceId),
        () => stores.primary.changeStatusInEach(workspaces),
      ),
    list: (selection, page) =>
      replica.read(selection.scope.workspaceId, stores, (store) => store.list(selection, page)),
    scan: (selection, page) =>
      replica.read(selection.scope.workspaceId, stores, (store) => store.scan(selection, page)),
    count: (selection) =>
      replica.read(selection.scope.workspaceId, stores, (store) => store.count(selection)),
  };
}

/** Returns a note store whose notes the replica must have before it serves their workspace. */
export function recordNotes(replica: Replica, notes: LeadNoteStore): LeadNoteStore {
  return { ...notes, add: (lead, note) => replica.write([lead.workspaceId], () => notes.add(lead, note)) };
}

/** Returns a payment store whose changes the replica must have before it serves their workspace. */
export function recordPayments(replica: Replica, payments: PaymentStore): PaymentStore {
  return {
    ...payments,
    create: (payment, maxLeads) =>
      replica.write([payment.workspaceId], () => payments.create(payment, maxLeads)),
    cancel: (payment, by) => replica.write([payment.workspaceId], () => payments.cancel(payment, by)),
    async step(limit) {
      const done = await payments.step(limit);
      if (done !== undefined) replica.wrote([done.workspaceId]);
      return done;
    },
  };
}

/** Returns an overview store that counts on the replica and aggregates on the primary. */
export function readOverviewFrom(
  replica: Replica,
  stores: { primary: OverviewStore; replica: OverviewStore },
): OverviewStore {
  return {
    ...stores.primary,
    count: (scope, range) => replica.read(scope.workspaceId, stores, (store) => store.count(scope, range)),
    countByCountry: (scope, span, top) =>
      replica.read(scope.workspaceId, stores, (store) => store.countByCountry(scope, span, top)),
    sumPayouts: (scope, range) =>
      replica.read(scope.workspaceId, stores, (store) => store.sumPayouts(scope, range)),
    sumPayoutsByPublisher: (workspaceId, span, userIds) =>
      replica.read(workspaceId, stores, (store) => store.sumPayoutsByPublisher(workspaceId, span, userIds)),
    sumPayoutsByS1: (scope, span, top) =>
      replica.read(scope.workspaceId, stores, (store) => store.sumPayoutsByS1(scope, span, top)),
    countByCampaign: (scope, now, days) =>
      replica.read(scope.workspaceId, stores, (store) => store.countByCampaign(scope, now, days)),
    countPublishersByCampaign: (workspaceId, since) =>
      replica.read(workspaceId, stores, (store) => store.countPublishersByCampaign(workspaceId, since)),
    countByPublisher: (workspaceId, campaignId, since) =>
      replica.read(workspaceId, stores, (store) => store.countByPublisher(workspaceId, campaignId, since)),
  };
}
