import { DatabaseUnreachable } from './cli-error.ts';

/** What node-postgres and the operating system say when there is no connection. */
const faults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'it hangs up',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host cannot be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ENOENT: 'there is no such socket',
  ETIMEDOUT: 'it does not answer',
};

/** An error of connecting as one that says so; `undefined` for any other. */
export function connectionFault(error: unknown): DatabaseUnreachable | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && code in faults) return new DatabaseUnreachable(faults[code], { cause: error });
  // Postgres itself: connection, authentication, no such database, too many connections, starting up.
  if (code !== undefined && /^(08|28|3D|53|57P)/.test(code)) {
    return new DatabaseUnreachable(error.message, { cause: error });
  }
  if (code === undefined && error.name === 'Error' && /timeout|terminated|SSL/i.test(error.message)) {
    return new DatabaseUnreachable(error.message, { cause: error });
  }
  return undefined;
}
