import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from './processes/postgres.ts';

/** The database of a local run. */
export interface RunDatabase {
  readonly url: string;
  /** The process id of the server that this run started. */
  readonly pid?: number;
  /** Settles with a one-line reason when that server has ended. */
  readonly exited?: Promise<string>;
  stop(): Promise<void>;
}

const duplicateDatabase = '42P04';

/** Starts a Postgres whose data is in `<dataDir>/postgres`. */
export async function startDatabase(dataDir: string, onNotice: (line: string) => void): Promise<RunDatabase> {
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), onNotice });
  try {
    await postgres.createDatabase('leads');
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== duplicateDatabase) {
      await postgres.stop();
      throw error;
    }
  }
  return {
    url: postgres.url('leads'),
    pid: postgres.pid,
    exited: postgres.exited,
    stop: () => postgres.stop(),
  };
}

/**
 * Checks an existing Postgres by connecting to it.
 *
 * @throws Error with a one-line reason, without the password, if the connection fails.
 */
export async function connectToDatabase(databaseUrl: string): Promise<RunDatabase> {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    throw new Error('DATABASE_URL is not of the form postgresql://user:password@host:port/database');
  }
  try {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } finally {
      await client.end();
    }
  } catch (error) {
    throw new Error(`DATABASE_URL does not work: ${reason(error as pg.DatabaseError, url)}`, {
      cause: error,
    });
  }
  return { url: databaseUrl, stop: async () => undefined };
}

function reason({ code, message }: pg.DatabaseError, url: URL): string {
  const address = `${url.hostname || 'localhost'}:${url.port || 5432}`;
  switch (code) {
    case 'ECONNREFUSED':
      return `no server listens on ${address}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `host ${url.hostname} does not exist`;
    case 'ETIMEDOUT':
      return `${address} does not answer`;
    case '28P01':
    case '28000':
      return `${address} rejects the user or the password (${message})`;
    case '3D000':
      return `the database does not exist on ${address} (${message})`;
    default:
      return /timeout/i.test(message) ? `${address} does not answer` : message;
  }
}
