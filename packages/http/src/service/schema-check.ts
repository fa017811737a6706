import { type MigratedDatabase, SchemaCheck } from '@leads/core/schema-check';
import type { Logger } from './log.ts';

/** Creates a check of the database's migrations that logs when its result changes. */
export function createSchemaCheck(database: MigratedDatabase, log: Logger): SchemaCheck {
  return new SchemaCheck(database, {
    onBehind: (migration, err) =>
      log.error(
        { migration, err },
        'The database lacks a migration: the service is not ready until `leads migrate` has run',
      ),
    onCurrent: () => log.info('The database has all migrations that this release needs'),
  });
}
