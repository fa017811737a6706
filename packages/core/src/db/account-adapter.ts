import { prismaAdapter } from 'better-auth/adapters/prisma';
import type { Database } from './client.ts';

/** Returns the database adapter of the account library, better-auth. It uses the same Prisma client as the stores. */
export function createAccountAdapter({ prisma }: Database) {
  return prismaAdapter(prisma, { provider: 'postgresql' });
}
export type AccountAdapter = ReturnType<typeof createAccountAdapter>;
