import type { AttentionStore, ExpiringCredential, RejectedKeyUse } from '../overview/attention.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { iso } from './lead-tallies.ts';

/** The keys whose requests are read, the last used ones, because a workspace may have thousands. */
const maxReadKeys = 200;

/** Creates the store of what needs attention in Postgres. */
export function createAttentionStore({ select }: Pick<Database, 'select'>): AttentionStore {
  /** Lists keys with requests of a status. @param filter.keys selects the keys that are read first. */
  const listKeys = (
    { workspaceId, userId }: Parameters<AttentionStore['listLimited']>[0],
    filter: {
      readonly keys: Prisma.Sql;
      readonly status: number;
      readonly since: Date;
      readonly limit: number;
    },
  ) =>
    select<RejectedKeyUse>(
      Prisma.sql`
        SELECT api_key.id, api_key.name, user_id AS "userId", "user".name AS "userName", requests, last_at AS "lastAt"
        FROM (
          SELECT * FROM api_key
          WHERE workspace_id = ${workspaceId}::uuid AND revoked_at IS NULL
            AND (${userId ?? null}::uuid IS NULL OR user_id = ${userId ?? null}::uuid) AND ${filter.keys}
          LIMIT ${maxReadKeys}
        ) AS api_key
        JOIN "user" ON "user".id = user_id
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS requests, max(at) AS last_at FROM api_request
          WHERE api_key_id = api_key.id AND at >= ${iso(filter.since)}::timestamptz AND status = ${filter.status}::int
        ) AS rejected
        WHERE requests > 0 ORDER BY requests DESC, api_key.id LIMIT ${filter.limit}`,
      { workspaceId },
    );
  return {
    async findWaiting(workspaceId, max) {
      const onHold = Prisma.sql`FROM lead WHERE workspace_id = ${workspaceId}::uuid AND status = 'OnHold'`;
      const [row] = await select<{ leads: number; oldestAt: Date | null }>(
        Prisma.sql`
          SELECT (SELECT count(*)::int FROM (SELECT ${onHold} LIMIT ${max}) AS waiting) AS leads,
            (SELECT created_at ${onHold} ORDER BY created_at, id LIMIT 1) AS "oldestAt"`,
        { workspaceId },
      );
      return row === undefined || row.oldestAt === null
        ? undefined
        : { leads: row.leads, oldestAt: row.oldestAt };
    },

    async findCallbacks({ workspaceId, userId }, max) {
      const [row] = await select<{ leads: number; ofCaller: number; oldestAt: Date | null }>(
        Prisma.sql`
          SELECT count(*)::int AS leads, count(*) FILTER (WHERE assignee_id = ${userId}::uuid)::int AS "ofCaller",
            min(callback_at) AS "oldestAt"
          FROM (
            SELECT assignee_id, callback_at FROM lead
            WHERE workspace_id = ${workspaceId}::uuid AND callback_at <= now()
            ORDER BY callback_at, id LIMIT ${max}
          ) AS due`,
        { workspaceId },
      );
      return row === undefined || row.oldestAt === null ? undefined : { ...row, oldestAt: row.oldestAt };
    },

    async countLandingPages(workspaceId) {
      const [row] = await select<{ unmapped: number; pending: number; archived: number }>(
        Prisma.sql`
          SELECT
            count(*) FILTER (WHERE pending_since IS NULL AND campaign_id IS NULL)::int AS unmapped,
            count(*) FILTER (WHERE pending_since IS NOT NULL AND dismissed_at IS NULL)::int AS pending,
            count(*) FILTER (WHERE pending_since IS NULL AND campaign.status = 'archived')::int AS archived
          FROM landing_page LEFT JOIN campaign ON campaign.id = landing_page.campaign_id
          WHERE landing_page.workspace_id = ${workspaceId}::uuid`,
        { workspaceId },
      );
      return row ?? { unmapped: 0, pending: 0, archived: 0 };
    },

    listExpiring({ workspaceId, userId }, { from, to, usedSince, limit }) {
      const isExpiring = Prisma.sql`
        credential.workspace_id = ${workspaceId}::uuid
          AND (${userId ?? null}::uuid IS NULL OR credential.user_id = ${userId ?? null}::uuid)
          AND credential.revoked_at IS NULL
          AND credential.expires_at BETWEEN ${iso(from)}::timestamptz AND ${iso(to)}::timestamptz
          AND credential.last_used_at >= ${iso(usedSince)}::timestamptz`;
      const columns = Prisma.sql`credential.id, credential.name, credential.user_id, credential.expires_at`;
      return select<ExpiringCredential>(
        Prisma.sql`
          SELECT found.id, kind, found.name, user_id AS "userId", "user".name AS "userName", expires_at AS "expiresAt"
          FROM (
            SELECT 'apiKey' AS kind, ${columns} FROM api_key AS credential
            WHERE ${isExpiring} AND NOT EXISTS (
              SELECT FROM api_key AS newer WHERE newer.replaces_id = credential.id
                AND newer.workspace_id = ${workspaceId}::uuid AND newer.revoked_at IS NULL
            )
            UNION ALL
            SELECT 'accessToken', ${columns} FROM access_token AS credential WHERE ${isExpiring}
          ) AS found JOIN "user" ON "user".id = user_id
          ORDER BY expires_at, found.id LIMIT ${limit}`,
        { workspaceId },
      );
    },

    listLimited(scope, since, limit) {
      const keys = Prisma.sql`last_used_at >= ${iso(since)}::timestamptz ORDER BY last_used_at DESC`;
      return listKeys(scope, { keys, status: 429, since, limit });
    },

    listRejected(scope, since, limit) {
      const keys = Prisma.sql`expires_at <= now() ORDER BY expires_at DESC`;
      return listKeys(scope, { keys, status: 401, since, limit });
    },
  };
}
