import { inspect } from 'node:util';
import { DatabaseError } from '@leads/core/db';
import { type ErrorCode, isOutage, LeadsError } from '@leads/core/errors';
import { ConfigError } from '@leads/http/service/config';
import { CommanderError } from 'commander';
import { databaseAddress } from './settings.ts';

/** The exit codes of the command line. */
export const exitCodes = { success: 0, failed: 1, usage: 2, unreachable: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * A failure of a command. `message` is one line for the operator. An empty message prints no line: the result of the
 * command already names the failure.
 */
export class CliError extends Error {
  override readonly name: string = 'CliError';
}

/** An invalid argument or setting that a command finds only while it runs. `message` is one line for the operator. */
export class CliUsageError extends CliError {
  override readonly name = 'CliUsageError';
}

/** An unreachable database. `message` is the reason, without the address. */
class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/** An unreachable NATS server. `message` is the reason, without the address. */
export class BrokerUnreachable extends Error {
  override readonly name = 'BrokerUnreachable';
  /** The hosts and ports of the servers. */
  readonly address: string;

  constructor(address: string, message: string, options: ErrorOptions) {
    super(message, options);
    this.address = address;
  }
}

/**
 * Returns the exit code for an error, and the line to print.
 *
 * @returns no line if commander has already printed one, or if the message of the error is empty.
 */
export function describeFailure(
  error: unknown,
  env: NodeJS.ProcessEnv,
): { exitCode: ExitCode; line?: string } {
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exitCodes.success : exitCodes.usage };
  }
  if (error instanceof ConfigError) {
    return { exitCode: exitCodes.usage, line: error.message.replaceAll('\n', '; ') };
  }
  if (error instanceof CliError) {
    const exitCode = error instanceof CliUsageError ? exitCodes.usage : exitCodes.failed;
    return { exitCode, ...(error.message !== '' && { line: error.message }) };
  }
  if (error instanceof BrokerUnreachable) return describeUnreachable(`NATS at ${error.address}`, error);

  const sqlState = sqlStateOf(error);
  const reason = isOutage(error) ? outageReasonOf(sqlState) : undefined;
  if (reason !== undefined) {
    const line = `The database at ${databaseAddress(env)} is unavailable: ${reason}`;
    return { exitCode: exitCodes.unreachable, line };
  }
  const unreachable = asUnreachable(error);
  if (unreachable !== undefined) {
    return describeUnreachable(`The database at ${databaseAddress(env)}`, unreachable);
  }
  if (missesTable.test(sqlState ?? '')) {
    return {
      exitCode: exitCodes.failed,
      line: 'The database lacks tables, columns or functions of this release: run `leads migrate`',
    };
  }
  if (sqlState === lacksRight) {
    return {
      exitCode: exitCodes.failed,
      line: 'The role of DATABASE_URL lacks a right: use the role that owns the tables',
    };
  }
  const line = error instanceof Error ? error.message : String(error);
  return { exitCode: exitCodes.failed, line: withoutPasswords(line) };
}

/** Returns an error with its stack and causes, for `LEADS_DEBUG=1`. */
export function explainFailure(error: unknown): string {
  return withoutPasswords(inspect(error, { depth: 8 }));
}

/**
 * Turns `invalid_input` of a use case into a CliError that lists its reasons. Returns any other error unchanged.
 *
 * @param nameOf returns the name of a field for the operator, by default its path.
 * @param Described the class of the error: {@link CliUsageError} if the fields are options of the command.
 */
export function describeInvalidInput(
  error: unknown,
  nameOf: (path: string) => string = (path) => path,
  Described: typeof CliError = CliError,
): unknown {
  if (!(error instanceof LeadsError) || error.code !== 'invalid_input') return error;
  const reasons = error.fields.map(({ path = '', reason }) => `${nameOf(path)} ${reason}`.trim());
  return new Described(reasons.length === 0 ? error.message : reasons.join('; '), { cause: error });
}

/** The texts of a command for the errors of its use cases. */
interface ErrorTexts {
  /** The message for each error code that needs one of its own. */
  readonly messages: Readonly<Partial<Record<ErrorCode, string>>>;
  /** Returns the name of a field by its path. */
  readonly nameOf: (path: string) => string;
}

/**
 * Waits for a use case, and translates its errors.
 *
 * @throws CliError with the message for the error code; CliUsageError with the names of the wrong fields.
 */
export async function translateErrors<Result>(
  work: Promise<Result>,
  { messages, nameOf }: ErrorTexts,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const message = error instanceof LeadsError ? messages[error.code] : undefined;
    if (message !== undefined) throw new CliError(message, { cause: error });
    throw describeInvalidInput(error, nameOf, CliUsageError);
  }
}

/** The reason for each connection error code of Prisma, node-postgres and the operating system. */
const connectionErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'the host name cannot be resolved',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOENT: 'socket not found',
  ETIMEDOUT: 'connection timed out',
  P1011: 'TLS failed',
};

/** Turns a connection error of node-postgres into DatabaseUnreachable. Returns any other error unchanged. */
export function describeConnectionError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && code in connectionErrors) {
    return new DatabaseUnreachable(connectionErrors[code], { cause: error });
  }
  // SQLSTATE classes: connection, authorization, unknown database, too many connections, starting up.
  const isRefused = code !== undefined && /^(08|28|3D|53|57P)/.test(code);
  const isCut =
    code === undefined && error.name === 'Error' && /timeout|terminated|SSL|SASL/i.test(error.message);
  return isRefused || isCut ? new DatabaseUnreachable(error.message, { cause: error }) : error;
}

/** PostgreSQL, appendix A: undefined table, undefined column, undefined function. */
const missesTable = /^42(P01|703|883)$/;
/** PostgreSQL, appendix A: insufficient privilege. */
const lacksRight = '42501';

function describeUnreachable(service: string, { message }: Error): { exitCode: ExitCode; line: string } {
  const line = `${service} cannot be reached`;
  return { exitCode: exitCodes.unreachable, line: message === '' ? line : `${line}: ${message}` };
}

function asUnreachable(error: unknown): DatabaseUnreachable | undefined {
  if (error instanceof DatabaseUnreachable) return error;
  const sqlState = sqlStateOf(error);
  if (sqlState?.startsWith('28') === true) {
    return new DatabaseUnreachable('it rejects the user or the password');
  }
  if (sqlState === '3D000') return new DatabaseUnreachable('the database does not exist');
  if (!isOutage(error)) return undefined;
  if (!(error.cause instanceof DatabaseError)) return new DatabaseUnreachable('');
  const { code = noCode } = error.cause;
  return new DatabaseUnreachable(connectionErrors[code] ?? code);
}

/** The reason of an error of node-postgres without a code. */
const noCode = 'it did not answer in time, closed the connection, or does not support TLS';

function sqlStateOf(error: unknown): string | undefined {
  const cause = isOutage(error) ? error.cause : error;
  return cause instanceof DatabaseError ? cause.sqlState : undefined;
}

/** The reasons for outages of a database that answers, by SQLSTATE or its first characters (PostgreSQL, appendix A). */
const outageReasons: Readonly<Record<string, string>> = {
  '25006': 'it is read-only',
  '25P': 'a transaction took longer than its timeout',
  '40001': 'another session changed the same rows: try again',
  '40P01': 'the command and another session waited for each other: try again',
  '53': 'it has not enough memory, disk space or connections',
  '53100': 'its disk is full',
  '53300': 'it has no free connection',
  '55P03': 'another session holds a lock: try again',
  '57014': 'a statement took longer than its timeout, or was canceled',
  '57P': 'it is starting or stopping, or has ended the session',
  '58': 'it has a system error: see its log',
};

function outageReasonOf(sqlState = ''): string | undefined {
  return (
    outageReasons[sqlState] ?? outageReasons[sqlState.slice(0, 3)] ?? outageReasons[sqlState.slice(0, 2)]
  );
}

function withoutPasswords(text: string): string {
  return text.replaceAll(/((?:postgres(?:ql)?|nats|tls):\/\/)\S*@/g, '$1***@');
}
