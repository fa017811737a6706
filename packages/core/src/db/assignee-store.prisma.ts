import type { AssigneeStore } from '../lead/assignee-remover.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/** Creates the store of assigned leads in Postgres. */
export function createAssigneeStore({ select }: Database): AssigneeStore {
  return {
    async unassignGone(limit) {
      const [row] = await select<{ leads: number | null }>(
        Prisma.sql`SELECT unassign_leads(${advisoryLocks.unassignment}, ${limit}::int) AS leads`,
      );
      return row?.leads ?? 0;
    },
  };
}
