import { type IntakeSnapshot, type SnapshotSource, snapshotBounds } from '../snapshot/intake-snapshot.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

interface KeyRow {
  readonly hash: string;
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: IntakeSnapshot['keys'][number]['role'];
  readonly scope: IntakeSnapshot['keys'][number]['scope'];
  readonly defaultCampaignId: string | null;
  readonly allowedOrigins: string[];
  readonly allowedNetworks: string[];
  readonly expiresAt: string | null;
}

interface CampaignRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly isDefault: boolean;
  readonly duplicateWindowSeconds: number | null;
  readonly approveAfterSeconds: number | null;
}

/** Creates the source of intake snapshots, which reads API keys, campaigns and landing pages from Postgres. */
export function createSnapshotSource({ select }: Database): SnapshotSource {
  return {
    async readSnapshot() {
      const at = Date.now();
      const keys = await select<KeyRow>(Prisma.sql`
        SELECT
          encode(hash, 'base64') AS hash, api_key.id, api_key.workspace_id AS "workspaceId",
          api_key.user_id AS "userId", member.role,
          CASE scopes WHEN '{}' THEN to_jsonb(scope) ELSE to_jsonb(scopes) END AS scope,
          default_campaign_id AS "defaultCampaignId", allowed_origins AS "allowedOrigins",
          allowed_networks AS "allowedNetworks",
          -- The schema of the snapshot has no later time. One such key would make the whole snapshot invalid.
          CASE WHEN expires_at <= '9999-12-31 23:59:59.999Z'
            THEN to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END AS "expiresAt"
        FROM api_key JOIN member USING (workspace_id, user_id)
        WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        ORDER BY COALESCE(last_used_at, api_key.created_at) DESC
        LIMIT ${snapshotBounds.keys}`);
      const campaigns = await select<CampaignRow>(Prisma.sql`
        SELECT
          id, workspace_id AS "workspaceId", is_default AS "isDefault",
          duplicate_window_seconds AS "duplicateWindowSeconds", approve_after_seconds AS "approveAfterSeconds"
        FROM campaign WHERE status = 'active'
        ORDER BY
          row_number() OVER (PARTITION BY workspace_id ORDER BY is_default DESC, updated_at DESC),
          is_default DESC, updated_at DESC
        LIMIT ${snapshotBounds.campaigns}`);
      const landingPages = await select<IntakeSnapshot['landingPages'][number]>(Prisma.sql`
        SELECT landing_page.workspace_id AS "workspaceId", landing_page.name, landing_page.campaign_id AS "campaignId"
        FROM landing_page JOIN campaign ON campaign.id = landing_page.campaign_id AND campaign.status = 'active'
        ORDER BY
          row_number() OVER (PARTITION BY landing_page.workspace_id ORDER BY landing_page.updated_at DESC),
          landing_page.updated_at DESC
        LIMIT ${snapshotBounds.landingPages}`);
      return {
        at,
        hasSharedBounds: true,
        keys: keys.map(withoutNulls),
        campaigns: campaigns.map(withoutNulls),
        landingPages,
      };
    },
  };
}
