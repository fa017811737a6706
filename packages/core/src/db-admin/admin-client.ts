import type pg from 'pg';
import { ClosingClient } from '../db/closing-client.ts';

/** A connection that closes when it is disposed. */
export type AdminClient = pg.Client & AsyncDisposable;

/**
 * Opens a connection for an administrative task.
 *
 * @param onNotice receives the warnings that Postgres sends to each new connection, such as that the version of the locale
 *   has changed since the indexes were built.
 * @throws Error of node-postgres if the database cannot be reached.
 */
export async function openAdminClient(
  connectionString: string,
  onNotice?: (line: string) => void,
): Promise<AdminClient> {
  const client = new ClosingClient({ connectionString, connectionTimeoutMillis: 10_000 });
  // If the connection breaks, the current statement and later ones report the error.
  client.on('error', () => undefined);
  const warn = ({
    message,
    detail,
    hint,
  }: Readonly<Record<'message' | 'detail' | 'hint', string | undefined>>) =>
    onNotice?.(['Postgres warns:', message, detail, hint].filter(Boolean).join(' '));
  client.on('notice', warn);
  await client.connect();
  client.off('notice', warn);
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
