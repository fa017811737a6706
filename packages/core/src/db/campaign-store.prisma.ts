import type { CampaignStore } from '../campaign/campaign-store.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import type { Database } from './client.ts';
import { isUniqueViolation } from './database-error.ts';

/** Campaigns and landing pages in Postgres. */
export function createCampaignStore({ prisma, transaction }: Database): CampaignStore {
  return {
    async findByCode(workspaceId, code) {
      return (
        (await prisma.campaign.findUnique({ where: { workspaceId_code: { workspaceId, code } } })) ??
        undefined
      );
    },

    async routeIntakeLead(workspaceId, landingPage, keyCampaignId) {
      const [route] = await prisma.$queryRaw<{ campaignId: string | null; landingPageKnown: boolean }[]>`
        SELECT
          COALESCE(
            (SELECT campaign.id FROM landing_page
               JOIN campaign ON campaign.workspace_id = landing_page.workspace_id
                            AND campaign.id = landing_page.campaign_id AND campaign.status = 'active'
               WHERE landing_page.workspace_id = ${workspaceId}::uuid AND landing_page.name = ${landingPage ?? null}),
            (SELECT id FROM campaign
               WHERE workspace_id = ${workspaceId}::uuid AND id = ${keyCampaignId ?? null}::uuid AND status = 'active'),
            (SELECT id FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND is_default)
          ) AS "campaignId",
          EXISTS (
            SELECT FROM landing_page WHERE workspace_id = ${workspaceId}::uuid AND name = ${landingPage ?? null}
          ) AS "landingPageKnown"`;
      if (route === undefined || route.campaignId === null) {
        throw new Error('The workspace has no default campaign');
      }
      return { campaignId: route.campaignId, landingPageKnown: route.landingPageKnown };
    },

    async addLandingPages(pages) {
      await prisma.landingPage.createMany({
        data: pages.map((page) => ({ id: newId(), ...page })),
        skipDuplicates: true,
      });
    },

    async create(campaign) {
      const { workspaceId } = campaign;
      try {
        return await transaction(async (tx) => {
          if (campaign.isDefault) {
            // Two new defaults at once take turns, or the second would trip over the first one's row.
            await tx.$queryRaw`SELECT id FROM workspace WHERE id = ${workspaceId}::uuid FOR NO KEY UPDATE`;
            await tx.campaign.updateMany({
              where: { workspaceId, isDefault: true },
              data: { isDefault: false },
            });
          }
          return tx.campaign.create({ data: { id: newId(), ...campaign } });
        });
      } catch (error) {
        if (isUniqueViolation(error)) {
          throw new LeadsError('conflict', { message: `Campaign ${campaign.code} exists already` });
        }
        throw error;
      }
    },

    async list(workspaceId) {
      return prisma.campaign.findMany({
        where: { workspaceId },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      });
    },
  };
}
