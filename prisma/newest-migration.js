// Writes the name of the newest migration into the source code, because services are deployed without the migrations.
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
