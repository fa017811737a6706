import { type Database, SchemaWatch } from '@leads/core/db';
import type { Logger } from './log.ts';

/** Watches whether the database has all migrations that this release needs, and says so in the log where not. */
export function watchSchema(database: Database, log: Logger): SchemaWatch {
  return new SchemaWatch(database, {
    onBehind: (migration, err) =>
      log.error(
        { migration, err },
        'The database lacks a migration: not ready until `leads migrate` has run',
      ),
    onLevel: () => log.info('The database has all migrations that this release needs'),
  });
}
