import { join } from 'node:path';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import { defineCommand, integer, optional } from '../command.ts';
import { createMigratedDatabase } from '../stack/database.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { compareTotals } from './totals.ts';

export const payouts = defineCommand({
  summary: 'compares the totals of payouts with a recount from the histories after random changes',
  options: {
    changes: integer(100_000_000, '1000000', 'random changes of leads'),
    connections: integer(64, '2', 'connections at once'),
    seed: optional(integer(1_000_000_000, undefined, 'seed of the changes (default: the time)')),
  },
  async run({ changes, connections, seed = Date.now() % 1_000_000_000 }, { dataDir, onProgress }) {
    await using temporary = temporaryDirectory(dataDir);
    await using postgres = await startPostgres({ dataDir: join(temporary.path, 'postgres') });
    const databaseUrl = await createMigratedDatabase(postgres, 'payouts');
    const totals = await compareTotals(databaseUrl, { changes, connections, seed, onProgress });
    return { figures: { totals }, passed: totals.differences.length === 0 };
  },
});
