import { join, resolve } from 'node:path';

/** The root of the repository. The source and the built code of this package have the same depth. */
export const repositoryRoot = resolve(import.meta.dirname, '../../..');

export const migrationsDir = join(repositoryRoot, 'prisma/migrations');

export const schemaPath = join(repositoryRoot, 'prisma/schema.prisma');
