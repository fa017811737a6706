// Writes down which migration this release needs, for services that have no migrations beside them.
import { readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const newest = readdirSync(resolve(import.meta.dirname, 'migrations'))
  .filter((name) => /^\d{14}_/.test(name))
  .toSorted()
  .at(-1);
writeFileSync(
  resolve(import.meta.dirname, '../packages/core/src/db/generated/newest-migration.ts'),
  `/** The newest migration of this release. */\nexport const newestMigration = '${newest}';\n`,
);
