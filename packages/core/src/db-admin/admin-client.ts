import pg from 'pg';

/** A connection that ends when it is disposed. */
export type AdminClient = pg.Client & AsyncDisposable;

/**
 * Opens a connection for an administrative task.
 *
 * @throws Error of node-postgres when the database cannot be reached.
 */
export async function openAdminClient(connectionString: string): Promise<AdminClient> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 });
  // A broken connection fails the current statement and those after it, which report it.
  client.on('error', () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
