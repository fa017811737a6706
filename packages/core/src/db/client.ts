import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { LeadsError } from '../errors.ts';
import { type ActingTurn, actInTransaction, prepareToAct, queryInWorkspaces } from './acting-query.ts';
import { closeUnanswered } from './close-unanswered.ts';
import { ClosingClient } from './closing-client.ts';
import { DatabaseError, translateDatabaseError } from './database-error.ts';
import { type Prisma, PrismaClient } from './generated/client.ts';
import { newestMigration } from './generated/newest-migration.ts';

/** SQLSTATE undefined_table. */
const undefinedTable = '42P01';

export interface DatabaseOptions {
  /** `postgresql://user:password@host:port/database` */
  readonly url: string;
  /** The maximum number of connections. */
  readonly poolSize: number;
  /** The maximum wait for a connection, new or from the pool, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** The maximum duration of one statement, in milliseconds. A connection without an answer for 1 s longer is closed. */
  readonly statementTimeoutMs: number;
  /**
   * Whether statements are prepared once on each connection. It must be false behind a pooler that shares connections
   * between clients. Default: true.
   */
  readonly preparedStatements?: boolean | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /**
   * Whether a server in recovery counts as unavailable. It has the state of a backup until it has replayed its log, so it
   * may lack keys and landing pages. Default: false.
   */
  readonly rejectsRecovery?: boolean;
}

/** The options of one statement. */
export interface StatementOptions {
  /** Prepares the statement once on each connection. One name must always have the same text. */
  readonly name?: string | undefined;
  /** The acting workspace: under row-level security, the statement sees no rows of other workspaces. */
  readonly workspaceId?: string | undefined;
  /** Whether Postgres keeps one plan for all values of a named statement for a workspace, see `ActingOptions`. */
  readonly isPlannedOnce?: boolean | undefined;
}

/**
 * Prisma's adapter ignores the time zone of times, so they are correct in UTC only. One date format applies whatever the
 * settings of the database are. With another isolation, a statement after a lock would not see what was committed during
 * the wait: leads would lack their duplicates, and concurrent changes would fail. The pool closes idle connections itself.
 * A request that takes a connection while Postgres closes it would fail. The pool awaits the result, though its types do
 * not say so.
 */
const useOwnSettings = (client: pg.ClientBase): Promise<unknown> =>
  client.query(
    `SET TIME ZONE 'UTC'; SET DateStyle = 'ISO, YMD'; SET default_transaction_isolation = 'read committed'; SET idle_session_timeout = 0`,
  );

/** Fails with the SQLSTATE of an outage if the server is in recovery. */
const rejectRecovery = (client: pg.ClientBase): Promise<unknown> =>
  client.query(
    `DO $$ BEGIN IF pg_is_in_recovery() THEN RAISE 'Postgres is in recovery' USING ERRCODE = 'cannot_connect_now'; END IF; END $$`,
  );

/** Leaves values as the texts that Postgres sends. */
const unparsed = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig;

/**
 * The number of query plans that Prisma caches. A cached plan includes the values of a raw query. At Prisma's default of
 * 1,000, the cache could hold 1,000 batches of leads, 1 GB.
 */
const plansKept = 32;

/** Opens a pool of connections, with Prisma on it. All errors are translated by {@link translateDatabaseError}. */
export function openDatabase(options: DatabaseOptions) {
  const { preparedStatements = true, rejectsRecovery = false } = options;
  const pool = new pg.Pool({
    Client: ClosingClient,
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    keepAlive: true,
    pipeline: true,
    onConnect(client): unknown {
      watch(client);
      return Promise.all([
        useOwnSettings(client),
        preparedStatements && prepareToAct(client),
        rejectsRecovery && rejectRecovery(client),
      ]);
    },
  });
  // By default node-postgres waits forever, and so does Prisma.
  const watch = closeUnanswered(pool, options.statementTimeoutMs + 1000);
  // An idle connection that breaks concerns no query: the pool replaces it. Prisma's adapter would stop listening when
  // it disconnects, while the pool's connections are still open.
  pool.on('error', () => undefined);
  // The query of a connection that breaks in use reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), queryPlanCacheMaxSize: plansKept }).$extends(
    {
      query: {
        async $allOperations({ args, query }) {
          try {
            return await query(args);
          } catch (error) {
            throw translateDatabaseError(error);
          }
        },
      },
    },
  );

  /** Runs work on a connection as `pool.query` does, but keeps the connection of a statement that Postgres rejects. */
  const onConnection = async <Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> => {
    let broken = false;
    let client: pg.PoolClient | undefined;
    try {
      client = await pool.connect();
      return await work(client);
    } catch (error) {
      const translated = translateDatabaseError(error);
      broken = !(translated instanceof DatabaseError && error instanceof pg.DatabaseError);
      throw translated;
    } finally {
      client?.release(broken);
    }
  };
  const named = <Config extends pg.QueryConfig>(config: Config, { name }: StatementOptions): Config =>
    name === undefined || !preparedStatements ? config : { ...config, name };

  const run = async <Row extends pg.QueryResultRow | (string | null)[]>(
    { values = [], ...unnamed }: pg.QueryConfig & { rowMode?: 'array' },
    statementOptions: StatementOptions = {},
  ): Promise<Row[]> => {
    const config = named(unnamed, statementOptions);
    const { workspaceId, isPlannedOnce } = statementOptions;
    return onConnection(async (client) => {
      if (workspaceId === undefined) return (await client.query({ ...config, values })).rows as Row[];
      const turns = [{ workspaceId, values }];
      const [rows = []] = await queryInWorkspaces<Row>(client, turns, config, {
        isPrepared: preparedStatements,
        isPlannedOnce,
      });
      return rows;
    });
  };

  return {
    prisma,
    /** Reads rows with node-postgres. Prisma takes several times as long for a page of rows, mostly to parse them. */
    select: async <Row extends pg.QueryResultRow>(
      { text, values }: Pick<Prisma.Sql, 'text' | 'values'>,
      statementOptions?: StatementOptions,
    ): Promise<Row[]> => run<Row>({ text, values }, statementOptions),
    /**
     * Runs a statement for each of some workspaces, in order and in one transaction. Postgres plans it once on each
     * connection, for any number of rows.
     *
     * @returns the rows of each.
     */
    selectForEach: async <Row extends pg.QueryResultRow>(
      text: string,
      turns: readonly ActingTurn[],
      statementOptions: Pick<StatementOptions, 'name'>,
    ): Promise<Row[][]> =>
      turns.length === 0
        ? []
        : onConnection((client) =>
            queryInWorkspaces<Row>(client, turns, named({ text }, statementOptions), {
              isPrepared: preparedStatements,
              isPlannedOnce: true,
            }),
          ),
    /** Reads rows as `select` does, but as arrays of the texts that Postgres sends. */
    selectTexts: async (
      { text, values }: Prisma.Sql,
      statementOptions?: StatementOptions,
    ): Promise<(string | null)[][]> =>
      run<(string | null)[]>({ text, values, rowMode: 'array', types: unparsed }, statementOptions),
    /**
     * Runs the statements of `work` in one transaction, without Prisma. Postgres plans named statements, and those of the
     * functions that they call, once on each connection. In a transaction of Prisma, Postgres plans them each time.
     */
    selectInTransaction: <Result>(work: (tx: StatementsOfTransaction) => Promise<Result>): Promise<Result> =>
      onConnection(async (client) => {
        await client.query('BEGIN; SET LOCAL plan_cache_mode = force_generic_plan');
        try {
          const result = await work({
            act: (workspaceId) => actInTransaction(client, workspaceId, { isPrepared: preparedStatements }),
            select: async <Row extends pg.QueryResultRow>(
              { text, values }: Statement,
              statementOptions: Pick<StatementOptions, 'name'>,
            ) => (await client.query<Row>(named({ text, values: [...values] }, statementOptions))).rows,
          });
          await client.query('COMMIT');
          return result;
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        }
      }),
    /**
     * Runs `work` in one transaction, for a workspace if one is given. Translates errors of its begin and its end, which no
     * query reports.
     */
    transaction: async <Result>(
      work: (tx: Omit<typeof prisma, OutsideTransactions>) => Promise<Result>,
      { workspaceId }: Pick<StatementOptions, 'workspaceId'> = {},
    ): Promise<Result> => {
      const workInWorkspace = async (tx: Omit<typeof prisma, OutsideTransactions>) => {
        if (workspaceId !== undefined) {
          await tx.$queryRaw`SELECT FROM set_config('leads.workspace', ${workspaceId}, true)`;
        }
        return work(tx);
      };
      try {
        return await prisma.$transaction(workInWorkspace, {
          maxWait: options.connectTimeoutMs,
          timeout: options.statementTimeoutMs,
        });
      } catch (error) {
        throw translateDatabaseError(error);
      }
    },
    /**
     * @param pingOptions.isForWrites whether a read-only Postgres counts as unavailable. Default: false.
     * @throws LeadsError `unavailable` if Postgres does not answer.
     */
    async ping({ isForWrites = false }: { readonly isForWrites?: boolean } = {}): Promise<void> {
      const [row] = await run<{ isReadOnly: boolean }>({
        text: `SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
      });
      if (isForWrites && row?.isReadOnly === true) throw new LeadsError('unavailable');
    },
    poolUsage: () => ({
      max: options.poolSize,
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    newestMigration,
    /** Whether the newest migration of this release has been applied. */
    async hasNewestMigration(): Promise<boolean> {
      try {
        const rows = await run({
          text: 'SELECT FROM _prisma_migrations WHERE migration_name = $1 AND finished_at IS NOT NULL',
          values: [newestMigration],
        });
        return rows.length > 0;
      } catch (error) {
        if (error instanceof DatabaseError && error.sqlState === undefinedTable) return false;
        throw error;
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** A statement, such as one of `Prisma.sql`. */
interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The statements of a transaction without Prisma. */
export interface StatementsOfTransaction {
  /** Sets the acting workspace of the statements that follow. */
  act(workspaceId: string): Promise<void>;
  select<Row extends pg.QueryResultRow>(
    statement: Statement,
    options: Pick<StatementOptions, 'name'>,
  ): Promise<Row[]>;
}

type OutsideTransactions = `$${'connect' | 'disconnect' | 'extends' | 'transaction'}`;

/** Prisma within a transaction. */
export type Transaction = Omit<Database['prisma'], OutsideTransactions>;

export type Database = ReturnType<typeof openDatabase>;
