import pg from 'pg';

/** A connection that closes when it is disposed. */
export type AdminClient = pg.Client & AsyncDisposable;

/**
 * Opens a connection for an administrative task.
 *
 * @throws Error of node-postgres if the database cannot be reached.
 */
export async function openAdminClient(connectionString: string): Promise<AdminClient> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  // If the connection breaks, the current statement and later ones report the error.
  client.on('error', () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
