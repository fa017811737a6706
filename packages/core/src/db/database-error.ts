import pg from 'pg';
import { type FieldError, LeadsError, StoreError } from '../errors.ts';
import { noteOutage } from '../outage-watch.ts';
import { Prisma } from './generated/client.ts';

/** SQLSTATE classes of a rejected row: data exception, integrity constraint violation, program limit exceeded. */
const rejectedRowStates = /^(22|23|54)/;

/**
 * An error of Postgres that is not an outage. Its message names the SQLSTATE only: Postgres quotes the rejected row, and a
 * lead's name and phone must not be logged.
 */
export class DatabaseError extends StoreError {
  override readonly name = 'DatabaseError';
  readonly sqlState: string | undefined;
  /** The code of Prisma or node-postgres. The adapter of the account library reads it: `P2025` means that no row matches. */
  readonly code: string | undefined;
  /** Postgres names the row for NOT NULL and CHECK constraints. */
  readonly rowId: string | undefined;

  constructor(sqlState: string | undefined, code: string | undefined, rowId?: string) {
    super(`Postgres rejected a statement (SQLSTATE ${sqlState ?? 'unknown'}, ${code ?? 'no code'})`);
    this.sqlState = sqlState;
    this.code = code;
    this.rowId = rowId;
  }

  get isRowRejected(): boolean {
    return rejectedRowStates.test(this.sqlState ?? '');
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

/** The driver's codes for the same outages. Prisma reports them for raw queries, within P2010 ("raw query failed"). */
const outageKinds = new Set([
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
]);

/**
 * SQLSTATEs of outages, by class or in full: connection, authorization, no such database, resources, operator
 * intervention, read-only, timeouts, lock not available, serialization failure and deadlock. A migration can cause a
 * deadlock, and a replica cancels queries that conflict with its log. A retry may succeed.
 */
const outageStates = /^(08|28|3D|53|57P|58|25006|25P0[34]|40001|40003|40P01|55P03|57014)/;

/** SQLSTATE invalid_authorization_specification. */
const invalidAuthorization = '28000';

/**
 * Matches an error without a SQLSTATE if there is no connection. An error of the operating system or of TLS has a code, and
 * an error of node-postgres only a message. The message of an error with a code does not count. It is empty if a host has
 * several addresses, and Prisma's messages quote source code.
 */
const noConnection =
  /^(E(?!RR_)[A-Z_]+$|ERR_(SSL|TLS)_|CERT_|UNABLE_TO_)|_CERT|SSL connection|[Cc]onnection terminated|[Tt]imeout|not queryable/;

/**
 * Returns LeadsError `unavailable` for an outage, which `watchOutages` reports, and a {@link DatabaseError} for any other
 * error of Prisma or node-postgres.
 */
export function translateDatabaseError(error: unknown): Error {
  if (error instanceof LeadsError || error instanceof DatabaseError) return error;
  const code = textMember(error, 'code');
  const sqlState = sqlStateOf(error);
  const outage =
    outageCodes.has(code ?? '') ||
    outageKinds.has(textMember(causeOf(error), 'kind') ?? '') ||
    (sqlState === undefined
      ? noConnection.test(code ?? (error instanceof Error ? error.message : String(error)))
      : outageStates.test(sqlState));
  const translated = new DatabaseError(sqlState, code, rejectedRowId(error));
  return outage ? noteOutage(new LeadsError('unavailable', { cause: translated })) : translated;
}

/** Whether a unique index rejected the row. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.sqlState === '23505';
}

/**
 * Returns the result of `work`.
 *
 * @throws LeadsError `conflict` with the given message and fields if a unique index rejected the row.
 */
export async function orConflict<Result>(
  work: Promise<Result>,
  conflict: { readonly message: string; readonly fields?: readonly FieldError[] },
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (isUniqueViolation(error)) throw new LeadsError('conflict', conflict);
    throw error;
  }
}

function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code;
  // An error of node-postgres before Postgres can reject the authorization, such as a missing password.
  if (error instanceof Error && error.message.includes('SASL: SCRAM-')) return invalidAuthorization;
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined;
  if (error.code === 'P2002') return '23505';
  const cause = causeOf(error);
  return textMember(cause, 'originalCode') ?? textMember(cause, 'code');
}

/** Reads "Failing row contains (01998f2c-..., ...)", in the server's language. The first column of each table is its id. */
function rejectedRowId(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  if (error.code !== '23502' && error.code !== '23514') return undefined;
  return /\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}),/.exec(error.detail ?? '')?.[1];
}

/** The error of the driver, as Prisma passes it on. */
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
