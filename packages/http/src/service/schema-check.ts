import { type Database, SchemaCheck } from '@leads/core/db';
import type { Logger } from './log.ts';

/** Watches whether the database has all migrations that this release needs, and says so in the log where not. */
export function createSchemaCheck(database: Database, log: Logger): SchemaCheck {
  return new SchemaCheck(database, {
    onBehind: (migration, err) =>
      log.error(
        { migration, err },
        'The database lacks a migration: not ready until `leads migrate` has run',
      ),
    onLevel: () => log.info('The database has all migrations that this release needs'),
  });
}
