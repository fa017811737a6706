import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/* Paths relative to this module. They are the same for the source (src/cli) and for the built program (dist/cli). */

export const ownMigrations = resolve(import.meta.dirname, '../../../../prisma/migrations');

const packageJson = readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8');
export const { version } = JSON.parse(packageJson) as { version: string };
