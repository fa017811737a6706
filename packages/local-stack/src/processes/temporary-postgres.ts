import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startPostgres } from './postgres.ts';

/** Starts a Postgres on an empty cluster. Its data is removed when it stops. */
export async function startTemporaryPostgres(): Promise<LocalPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'leads-postgres-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    // The account of Postgres must be able to enter this directory.
    chmodSync(directory, 0o711);
    const postgres = await startPostgres({ dataDir: join(directory, 'data'), durable: false });
    const stop = async () => {
      await postgres.stop();
      remove();
    };
    return { ...postgres, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    remove();
    throw error;
  }
}
