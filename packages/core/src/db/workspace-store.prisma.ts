import { rolesWith } from '../credential/roles.ts';
import { requireRoom } from '../limits/caps.ts';
import { newId } from '../uuid.ts';
import { maxCountedLeads, type StepsDone, type WorkspaceStore } from '../workspace/workspace-store.ts';
import type { Database } from './client.ts';
import { orConflict } from './database-error.ts';
import { Prisma } from './generated/client.ts';

const userColumns = { id: true, email: true, name: true } as const;
const workspaceColumns = { id: true, slug: true, name: true } as const;
const membershipColumns = {
  id: true,
  role: true,
  createdAt: true,
  user: { select: userColumns },
  workspace: { select: workspaceColumns },
} as const;

/** The code and name of the campaign that every workspace starts with. */
const firstCampaign = { code: 'default', name: 'Default campaign' };

/** Creates the store of users, workspaces and members in Postgres. */
export function createWorkspaceStore({ prisma, select, transaction }: Database): WorkspaceStore {
  return {
    async findWorkspace(slug) {
      return (await prisma.workspace.findUnique({ where: { slug }, select: workspaceColumns })) ?? undefined;
    },

    async listWorkspaces(limit) {
      return prisma.workspace.findMany({ orderBy: { slug: 'asc' }, take: limit, select: workspaceColumns });
    },

    async findUser(email) {
      return (
        (await prisma.user.findUnique({ where: { email: email.toLowerCase() }, select: userColumns })) ??
        undefined
      );
    },

    async getUser(id) {
      return (await prisma.user.findUnique({ where: { id }, select: userColumns })) ?? undefined;
    },

    async renameWorkspace(id, name) {
      return prisma.workspace.update({ where: { id }, data: { name }, select: workspaceColumns });
    },

    async listMemberships(userId) {
      return prisma.member.findMany({
        where: { userId },
        select: membershipColumns,
        orderBy: { createdAt: 'asc' },
      });
    },

    async stepsDone(workspaceId, userId, leadsOf) {
      const ofUser = leadsOf === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${leadsOf}::uuid`;
      const [done] = await select<StepsDone>(
        Prisma.sql`
          SELECT
            EXISTS (
              SELECT FROM api_key WHERE workspace_id = ${workspaceId}::uuid AND user_id = ${userId}::uuid
            ) AS "apiKey",
            (
              SELECT count(*)::int FROM (
                SELECT FROM lead WHERE workspace_id = ${workspaceId}::uuid ${ofUser} LIMIT ${maxCountedLeads}
              ) AS seen
            ) AS leads,
            EXISTS (
              SELECT FROM landing_page WHERE workspace_id = ${workspaceId}::uuid AND campaign_id IS NOT NULL
            ) AS "landingPage",
            EXISTS (
              SELECT FROM member WHERE workspace_id = ${workspaceId}::uuid AND user_id <> ${userId}::uuid
            ) OR EXISTS (
              SELECT FROM invitation WHERE workspace_id = ${workspaceId}::uuid AND status = 'pending'
            ) AS invitation`,
        { workspaceId },
      );
      if (done === undefined) throw new Error('A SELECT without FROM always has a row');
      return done;
    },

    async listMembers(workspaceId) {
      return prisma.member.findMany({
        where: { workspaceId },
        select: membershipColumns,
        orderBy: { createdAt: 'asc' },
      });
    },

    async hasManager(workspaceId, userId) {
      const where = { workspaceId, userId, role: { in: [...rolesWith.beAssignee] } };
      return (await prisma.member.count({ where })) > 0;
    },

    async addMember({ email, name, role, workspace }) {
      const { slug } = workspace;
      const added = transaction(async (tx) => {
        const existing = await tx.workspace.findUnique({ where: { slug }, select: workspaceColumns });
        const joined =
          existing ??
          (await tx.workspace.create({
            data: {
              id: newId(),
              slug,
              name: workspace.name,
              campaigns: { create: { id: newId(), ...firstCampaign, isDefault: true } },
            },
            select: workspaceColumns,
          }));
        const user = await tx.user.upsert({
          where: { email: email.toLowerCase() },
          create: { id: newId(), email: email.toLowerCase(), name },
          update: {},
          select: userColumns,
        });
        if (existing === null) {
          // Locks the user: two requests at once must not exceed the cap.
          await tx.$queryRaw`SELECT id FROM "user" WHERE id = ${user.id}::uuid FOR NO KEY UPDATE`;
          const owned = { userId: user.id, role: 'owner' as const };
          requireRoom('ownedWorkspaces', await tx.member.count({ where: owned }));
        }
        const member = await tx.member.create({
          data: { id: newId(), workspaceId: joined.id, userId: user.id, role },
          select: { id: true, createdAt: true },
        });
        // A member cannot accept an invitation, and would see it as pending until it expires.
        await tx.invitation.updateMany({
          where: { workspaceId: joined.id, email: user.email, status: 'pending' },
          data: { status: 'canceled' },
        });
        return { ...member, user, workspace: joined, role, workspaceCreated: existing === null };
      });
      return orConflict(added, { message: `${email} is already a member of ${slug}` });
    },
  };
}
