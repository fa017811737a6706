import { prismaAdapter } from 'better-auth/adapters/prisma';
import type { Database } from './client.ts';

/** How the account library reads and writes: through Prisma, like everyone. */
export function createAccountAdapter({ prisma }: Database) {
  return prismaAdapter(prisma, { provider: 'postgresql' });
}
export type AccountAdapter = ReturnType<typeof createAccountAdapter>;
