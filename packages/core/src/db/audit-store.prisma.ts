import type { AuditStore, ListedAuditEntry } from '../audit/audit-log.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

/** The audit log in Postgres. */
export function createAuditStore({ prisma, select }: Database): AuditStore {
  return {
    async findWorkspaces(user) {
      const where =
        'userId' in user ? { userId: user.userId } : { user: { email: user.email.toLowerCase() } };
      const members = await prisma.member.findMany({ where, select: { workspaceId: true } });
      return members.map(({ workspaceId }) => workspaceId);
    },

    async append(entries) {
      if (entries.length === 0) return;
      const rows = entries.map(
        (entry) => Prisma.sql`(
          ${entry.id}::uuid, ${entry.workspaceId}::uuid, ${entry.at.toISOString()}::timestamptz, ${entry.action},
          ${entry.source}, ${entry.actorId ?? null}::uuid, ${entry.apiKeyId ?? null}::uuid,
          ${entry.address ?? null}::inet, ${entry.userAgent ?? null}, ${entry.targetId ?? null},
          ${JSON.stringify(entry.details)}::jsonb)`,
      );
      // RETURNING would need the right to read the entries of all workspaces.
      await select(Prisma.sql`
        INSERT INTO audit_entry (
          id, workspace_id, at, action, source, actor_id, api_key_id, address, user_agent, target_id, details)
        VALUES ${Prisma.join(rows)}`);
    },

    async list({ workspaceId, action, actorId, from, to }, limit, after) {
      const conditions = [Prisma.sql`workspace_id = ${workspaceId}::uuid`];
      if (action !== undefined) conditions.push(Prisma.sql`action = ${action}`);
      if (actorId !== undefined) conditions.push(Prisma.sql`actor_id = ${actorId}::uuid`);
      if (from !== undefined) conditions.push(Prisma.sql`at >= ${from.toISOString()}::timestamptz`);
      if (to !== undefined) conditions.push(Prisma.sql`at < ${to.toISOString()}::timestamptz`);
      if (after !== undefined) {
        conditions.push(
          Prisma.sql`(at, entry.id) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`,
        );
      }
      const rows = await select<ListedAuditEntry>(
        Prisma.sql`
          SELECT entry.id, workspace_id AS "workspaceId", at, action, source, actor_id AS "actorId",
            api_key_id AS "apiKeyId", host(address) AS address, user_agent AS "userAgent", target_id AS "targetId",
            details, email AS "actorEmail"
          FROM audit_entry AS entry LEFT JOIN "user" ON "user".id = actor_id
          WHERE ${Prisma.join(conditions, ' AND ')}
          ORDER BY at DESC, entry.id DESC LIMIT ${limit}`,
        { workspaceId },
      );
      return rows.map(withoutNulls);
    },
  };
}
