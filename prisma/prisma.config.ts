import { defineConfig } from 'prisma/config';

// `prisma generate` never runs the schema engine, but its command line insists on having one and would
// download it. Naming any existing program keeps generation offline. Real migrations run on the same engine
// as WebAssembly (packages/core/src/db-admin/migrate.ts); an operator who prefers `prisma migrate deploy` sets
// PRISMA_SCHEMA_ENGINE_BINARY, or clears it, in the environment.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;

export default defineConfig({
  schema: './schema.prisma',
  migrations: { path: './migrations' },
  ...(process.env['DATABASE_URL'] === undefined ? {} : { datasource: { url: process.env['DATABASE_URL'] } }),
});
