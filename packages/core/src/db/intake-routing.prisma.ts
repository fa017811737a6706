import type { IntakeRouting } from '../campaign/intake-routing.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

interface RouteRow {
  readonly campaignId: string | null;
  readonly duplicateWindowSeconds: number | null;
  readonly approveAfterSeconds: number | null;
  readonly landingPageKnown: boolean;
}

/** Finds the routes of intake leads in Postgres. */
export function createIntakeRouting({ select }: Database): IntakeRouting {
  return {
    async findRoutes(queries) {
      const rows = await select<RouteRow>(
        Prisma.sql`
        SELECT
          campaign.id AS "campaignId",
          campaign.duplicate_window_seconds AS "duplicateWindowSeconds",
          campaign.approve_after_seconds AS "approveAfterSeconds",
          page.id IS NOT NULL AS "landingPageKnown"
        FROM unnest(
          ${queries.map(({ workspaceId }) => workspaceId)}::uuid[],
          ${queries.map(({ landingPage }) => landingPage ?? null)}::text[],
          ${queries.map(({ keyCampaignId }) => keyCampaignId ?? null)}::uuid[]
        ) WITH ORDINALITY AS asked (workspace_id, landing_page, key_campaign_id, place)
        LEFT JOIN landing_page AS page
          ON page.workspace_id = asked.workspace_id AND page.name = asked.landing_page
        -- With LIMIT, Postgres never reads all campaigns of all workspaces for a large batch.
        LEFT JOIN LATERAL (
          SELECT id, duplicate_window_seconds, approve_after_seconds FROM campaign
          WHERE id = COALESCE(
            (SELECT id FROM campaign
               WHERE workspace_id = asked.workspace_id AND id = page.campaign_id AND status = 'active'),
            (SELECT id FROM campaign
               WHERE workspace_id = asked.workspace_id AND id = asked.key_campaign_id AND status = 'active'),
            (SELECT id FROM campaign WHERE workspace_id = asked.workspace_id AND is_default)
          )
          LIMIT 1
        ) AS campaign ON true
        ORDER BY asked.place`,
        { name: 'intake-routes' },
      );
      return rows.map(({ campaignId, ...others }) =>
        campaignId === null ? undefined : withoutNulls({ campaignId, ...others }),
      );
    },
  };
}
