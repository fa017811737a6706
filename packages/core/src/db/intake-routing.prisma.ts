import type { IntakeRouting } from '../campaign/intake-routing.ts';
import type { Database } from './client.ts';
import { withoutNulls } from './without-nulls.ts';

/** Finds the routes of intake leads in Postgres. */
export function createIntakeRouting({ prisma }: Database): IntakeRouting {
  return {
    async findRoute(workspaceId, landingPage, keyCampaignId) {
      const [route] = await prisma.$queryRaw<
        {
          campaignId: string | null;
          duplicateWindowSeconds: number | null;
          approveAfterSeconds: number | null;
          landingPageKnown: boolean;
        }[]
      >`
        SELECT
          campaign.id AS "campaignId",
          campaign.duplicate_window_seconds AS "duplicateWindowSeconds",
          campaign.approve_after_seconds AS "approveAfterSeconds",
          EXISTS (
            SELECT FROM landing_page WHERE workspace_id = ${workspaceId}::uuid AND name = ${landingPage ?? null}
          ) AS "landingPageKnown"
        FROM (SELECT COALESCE(
          (SELECT campaign.id FROM landing_page
             JOIN campaign ON campaign.workspace_id = landing_page.workspace_id
                          AND campaign.id = landing_page.campaign_id AND campaign.status = 'active'
             WHERE landing_page.workspace_id = ${workspaceId}::uuid AND landing_page.name = ${landingPage ?? null}),
          (SELECT id FROM campaign
             WHERE workspace_id = ${workspaceId}::uuid AND id = ${keyCampaignId ?? null}::uuid AND status = 'active'),
          (SELECT id FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND is_default)
        ) AS id) AS chosen
        LEFT JOIN campaign ON campaign.id = chosen.id`;
      if (route === undefined || route.campaignId === null) {
        throw new Error('The workspace has no default campaign');
      }
      const { campaignId, ...others } = route;
      return withoutNulls({ campaignId, ...others });
    },
  };
}
