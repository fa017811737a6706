import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { queryFor } from './acting-query.ts';
import { DatabaseError, translateDatabaseError } from './database-error.ts';
import { type Prisma, PrismaClient } from './generated/client.ts';

export interface DatabaseOptions {
  /** `postgresql://user:password@host:port/database` */
  readonly url: string;
  /** Connections at most. */
  readonly poolSize: number;
  /** How long to wait for a connection, new or from the pool, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** How long Postgres may work on one statement, in milliseconds. The client waits 1 s longer, then hangs up. */
  readonly statementTimeoutMs: number;
  /** Whether statements may be prepared, once a connection; not where a pooler passes connections on. Default: true. */
  readonly preparedStatements?: boolean | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
}

/** How a statement is run. */
export interface StatementOptions {
  /** Prepares the statement, once a connection; the text must then be the same whenever the name is. */
  readonly name?: string | undefined;
  /** Whose rows the statement is about: with a role under row-level security, it sees no others. */
  readonly workspaceId?: string | undefined;
}

/** What a pool of connections is doing. */
export interface PoolUse {
  /** Connections at most. */
  readonly max: number;
  /** Connections that are open, or being opened. */
  readonly total: number;
  /** Those of them that nobody uses. */
  readonly idle: number;
  /** Who waits for a connection. */
  readonly waiting: number;
}

/**
 * Prisma's adapter writes and reads times without regard to their zone: they are right in UTC only. Whatever the
 * database's own settings are, times are written in one format. The pool waits for what this returns, though its
 * types do not say so.
 */
const useUtc = (client: pg.ClientBase): unknown =>
  client.query(`SET TIME ZONE 'UTC'; SET DateStyle = 'ISO, YMD'`);

/** Values as Postgres writes them. */
const unparsed = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig;

/**
 * Prisma keeps the last queries with their plans, and of raw ones their values too: by its own default a thousand
 * batches of leads, a gigabyte.
 */
const plansKept = 32;

/** A pool of connections with Prisma on it. Every error it throws is a translated one. */
export function openDatabase(options: DatabaseOptions) {
  const { preparedStatements = true } = options;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    // node-postgres waits for ever unless told otherwise, and Prisma inherits that.
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + 1000,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    keepAlive: true,
    onConnect: useUtc,
  });
  // A connection that breaks while idle is no error of anyone's: the pool drops it and makes another. Prisma's
  // adapter would stop listening when it disconnects, with the pool's connections still open.
  pool.on('error', () => undefined);
  // Nor is one that breaks in use: its query says so.
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

  /** As `pool.query`, but a statement that Postgres refuses costs no connection. */
  const run = async <Row extends pg.QueryResultRow | (string | null)[]>(
    unnamed: pg.QueryConfig & { rowMode?: 'array' },
    { name, workspaceId }: StatementOptions = {},
  ): Promise<Row[]> => {
    const config = name === undefined || !preparedStatements ? unnamed : { ...unnamed, name };
    let broken = false;
    let client: pg.PoolClient | undefined;
    try {
      client = await pool.connect();
      const asked =
        workspaceId === undefined
          ? client.query<pg.QueryResultRow>(config)
          : queryFor(client, workspaceId, config);
      return (await asked).rows as Row[];
    } catch (error) {
      const translated = translateDatabaseError(error);
      broken = !(translated instanceof DatabaseError && error instanceof pg.DatabaseError);
      throw translated;
    } finally {
      client?.release(broken);
    }
  };

  return {
    prisma,
    /**
     * Rows by the driver itself: Prisma takes several times as long for a page of rows, nearly all of it in reading them.
     */
    select: async <Row extends pg.QueryResultRow>(
      { text, values }: Pick<Prisma.Sql, 'text' | 'values'>,
      how?: StatementOptions,
    ): Promise<Row[]> => run<Row>({ text, values }, how),
    /**
     * As `select`, but rows are arrays and their values the texts that Postgres writes.
     */
    selectTexts: async ({ text, values }: Prisma.Sql, how?: StatementOptions): Promise<(string | null)[][]> =>
      run<(string | null)[]>({ text, values, rowMode: 'array', types: unparsed }, how),
    /**
     * Runs `work` in one transaction, of a workspace if need be. What fails as it begins or ends is translated here: no
     * query has failed.
     */
    transaction: async <Result>(
      work: (tx: Omit<typeof prisma, OutsideTransactions>) => Promise<Result>,
      { workspaceId }: Pick<StatementOptions, 'workspaceId'> = {},
    ): Promise<Result> => {
      const begun = async (tx: Omit<typeof prisma, OutsideTransactions>) => {
        if (workspaceId !== undefined) {
          await tx.$queryRaw`SELECT FROM set_config('leads.workspace', ${workspaceId}, true)`;
        }
        return work(tx);
      };
      try {
        return await prisma.$transaction(begun, {
          maxWait: options.connectTimeoutMs,
          timeout: options.statementTimeoutMs,
        });
      } catch (error) {
        throw translateDatabaseError(error);
      }
    },
    /** @throws LeadsError `unavailable` when Postgres does not answer. */
    async ping(): Promise<void> {
      await prisma.$queryRaw`SELECT 1`;
    },
    poolUse: (): PoolUse => ({
      max: options.poolSize,
      total: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    async [Symbol.asyncDispose](): Promise<void> {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

type OutsideTransactions = `$${'connect' | 'disconnect' | 'extends' | 'transaction'}`;

/** What queries are run on within a transaction. */
export type Transaction = Omit<Database['prisma'], OutsideTransactions>;

export type Database = ReturnType<typeof openDatabase>;
