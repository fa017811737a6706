import { defineConfig } from 'prisma/config';

// `prisma generate` never runs the schema engine, but the command line downloads one if none is named. The name of any
// program keeps it offline. `leads migrate` needs no engine. An operator who prefers `prisma migrate deploy` sets
// PRISMA_SCHEMA_ENGINE_BINARY in the environment, or sets it to nothing to have the engine downloaded.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath;

export default defineConfig({
  schema: './schema.prisma',
  migrations: { path: './migrations' },
  ...(process.env['DATABASE_URL'] === undefined ? {} : { datasource: { url: process.env['DATABASE_URL'] } }),
});
