import { inspect } from 'node:util';
import { DatabaseError } from '@leads/core/db';
import { isOutage } from '@leads/core/errors';
import { ConfigError } from '@leads/http/service/config';
import { CommanderError } from 'commander';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { brokerAddress, databaseAddress } from './settings.ts';

/** A command that cannot be carried out as asked. `message` is one line for the operator. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** No connection to the database. `message` says why, without the address. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/** No connection to NATS. `message` says why, without the address. */
export class BrokerUnreachable extends Error {
  override readonly name = 'BrokerUnreachable';
}

/** The exit code of an error, and the line that tells it; no line where commander has printed its own. */
export function describeFailure(error: unknown): { exitCode: ExitCode; line?: string } {
  if (error instanceof CommanderError) {
    return { exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  }
  if (error instanceof ConfigError) {
    return { exitCode: exitCodes.usage, line: error.message.replaceAll('\n', '; ') };
  }
  if (error instanceof CliError) return { exitCode: exitCodes.refused, line: error.message };
  if (error instanceof BrokerUnreachable) {
    const line = `NATS at ${brokerAddress()} cannot be reached`;
    return {
      exitCode: exitCodes.unreachable,
      line: error.message === '' ? line : `${line}: ${error.message}`,
    };
  }

  const unreachable = asUnreachable(error);
  if (unreachable !== undefined) {
    const line = `The database at ${databaseAddress()} cannot be reached`;
    return {
      exitCode: exitCodes.unreachable,
      line: unreachable.message === '' ? line : `${line}: ${unreachable.message}`,
    };
  }
  if (error instanceof DatabaseError && lacksTable.test(error.sqlState ?? '')) {
    return {
      exitCode: exitCodes.refused,
      line: 'The database lacks tables or columns of this release: run `leads migrate`',
    };
  }
  const line = error instanceof Error ? error.message : String(error);
  return { exitCode: exitCodes.refused, line: withoutPasswords(line) };
}

/** An error with its stack and causes, for whoever looks for a fault. */
export function explainFailure(error: unknown): string {
  return withoutPasswords(inspect(error, { depth: 8 }));
}

/** PostgreSQL, appendix A: undefined table, undefined column. */
const lacksTable = /^42(P01|703)$/;

function asUnreachable(error: unknown): DatabaseUnreachable | undefined {
  if (error instanceof DatabaseUnreachable) return error;
  const outage = isOutage(error);
  const cause = outage ? error.cause : error;
  const sqlState = cause instanceof DatabaseError ? cause.sqlState : undefined;
  if (sqlState?.startsWith('28') === true) {
    return new DatabaseUnreachable('it refuses the user or the password');
  }
  if (sqlState === '3D000') return new DatabaseUnreachable('there is no database of that name');
  return outage ? new DatabaseUnreachable('') : undefined;
}

function withoutPasswords(text: string): string {
  return text.replaceAll(/((?:postgres(?:ql)?|nats|tls):\/\/)\S*@/g, '$1***@');
}
