import { join, resolve } from 'node:path';

/** The repository's root; this package lies at the same depth as source and built. */
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

export const migrationsDir = join(repositoryRoot, 'prisma/migrations');

export const schemaPath = join(repositoryRoot, 'prisma/schema.prisma');
