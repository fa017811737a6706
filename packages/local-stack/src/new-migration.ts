import { relative } from 'node:path';
import { createMigration } from './create-migration.ts';
import { migrationsDir, repositoryRoot, schemaPath } from './repository.ts';

const help = `Usage: npm run db:new-migration -- <name>

Writes prisma/migrations/<time>_<name>/migration.sql with the SQL that brings the existing migrations
to the state of prisma/schema.prisma. The name consists of a-z, 0-9 and _.`;

async function main([name, ...rest]: readonly string[]): Promise<string> {
  if (name === '--help' || name === '-h') return help;
  if (name === undefined || rest.length > 0) {
    throw new Error('Give the migration one name: npm run db:new-migration -- add_lead_note');
  }
  const file = await createMigration({ name, migrationsDir, schemaPath });
  if (file === undefined) return 'Schema and migrations agree: nothing to do';
  return (
    `${relative(repositoryRoot, file)}\n` +
    'Review the SQL before you commit it: a dropped column is lost, and a locked table blocks requests.'
  );
}

try {
  console.log(await main(process.argv.slice(2)));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
