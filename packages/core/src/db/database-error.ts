import pg from 'pg';
import { LeadsError } from '../errors.ts';
import { Prisma } from './generated/client.ts';

/**
 * An error of Postgres that is not an outage. Its message names the SQLSTATE only: Postgres quotes the row it
 * refuses, and a lead's name and phone must not reach a log.
 */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** Five characters (PostgreSQL, appendix A), where it is known. */
  readonly sqlState: string | undefined;
  /** The id of the row that was refused, where Postgres says which it was: it does of constraints. */
  readonly rowId: string | undefined;

  constructor(sqlState: string | undefined, prismaCode: string | undefined, rowId?: string) {
    super(`Postgres refused a statement (SQLSTATE ${sqlState ?? 'unknown'}, ${prismaCode ?? 'no code'})`);
    this.sqlState = sqlState;
    this.rowId = rowId;
  }
}

/** Prisma's codes for "not reached, timed out or hung up". */
const outageCodes = new Set([
  'P1000',
  'P1001',
  'P1002',
  'P1003',
  'P1008',
  'P1010',
  'P1011',
  'P1017',
  'P2024',
  'P2028',
  'P2037',
]);

/** What the driver says of the same, where a raw query has made it P2010 ("raw query failed"). */
const outageKinds = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
]);

/**
 * SQLSTATEs that say the same, by class or in full: connection, authorization, no such database, resources,
 * operator intervention, read-only, deadlock (with a migration, say): what is tried again may pass.
 */
const outageStates = /^(08|28|3D|53|57P|58|25006|40003|40P01|57014)/;

/** What the operating system and node-postgres say when there is no connection. */
const outageMessages =
  /ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|[Cc]onnection terminated|[Tt]imeout|not queryable/;

/** An error of Prisma or node-postgres as one of ours: `unavailable` for an outage, else {@link DatabaseError}. */
export function translateDatabaseError(error: unknown): Error {
  if (error instanceof LeadsError || error instanceof DatabaseError) return error;
  const code = textMember(error, 'code');
  const sqlState = sqlStateOf(error);
  const outage =
    outageCodes.has(code ?? '') ||
    outageKinds.has(textMember(causeOf(error), 'kind') ?? '') ||
    (sqlState === undefined
      ? outageMessages.test(error instanceof Error ? error.message : String(error))
      : outageStates.test(sqlState));
  const translated = new DatabaseError(sqlState, code, refusedRowId(error));
  return outage ? new LeadsError('unavailable', { cause: translated }) : translated;
}

/** Whether an error says that a unique index refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.sqlState === '23505';
}

function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code;
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  if (error.code === 'P2002') return '23505';
  const cause = causeOf(error);
  return textMember(cause, 'originalCode') ?? textMember(cause, 'code');
}

/** "Failing row contains (01998f2c-..., ...)", in the server's language: every table's first column is its id. */
function refusedRowId(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  if (error.code !== '23502' && error.code !== '23514') return undefined;
  return /\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}),/.exec(error.detail ?? '')?.[1];
}

/** What the driver said, in Prisma's words. */
function causeOf(error: unknown): unknown {
  return member(member(member(error, 'meta'), 'driverAdapterError'), 'cause');
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}
