import type { IntegrationPageStore } from '../campaign/integration-page-store.ts';
import { uuidPattern } from '../uuid.ts';
import type { Database } from './client.ts';

/** Integration pages in Postgres. Each is a campaign with a token. */
export function createIntegrationPageStore({ prisma, transaction }: Database): IntegrationPageStore {
  return {
    async findToken(workspaceId, id) {
      if (!uuidPattern.test(id)) return undefined;
      const found = await transaction(
        (tx) => tx.campaign.findFirst({ where: { workspaceId, id }, select: { integrationToken: true } }),
        { workspaceId },
      );
      return found === null ? undefined : { token: found.integrationToken ?? undefined };
    },

    async setToken(workspaceId, id, token) {
      if (!uuidPattern.test(id)) return false;
      const { count } = await transaction(
        (tx) =>
          tx.campaign.updateMany({ where: { workspaceId, id }, data: { integrationToken: token ?? null } }),
        { workspaceId },
      );
      return count > 0;
    },

    async findPage(token) {
      const found = await prisma.campaign.findUnique({
        where: { integrationToken: token },
        select: {
          code: true,
          name: true,
          status: true,
          isDefault: true,
          workspace: { select: { name: true } },
          landingPages: { select: { name: true }, orderBy: { name: 'asc' }, take: 100 },
        },
      });
      if (found === null) return undefined;
      return {
        workspace: found.workspace.name,
        campaignCode: found.code,
        campaign: found.name,
        status: found.status,
        isDefault: found.isDefault,
        landingPages: found.landingPages.map(({ name }) => name),
      };
    },
  };
}
