import type {
  KeyOfWorkspace,
  LoggedRequest,
  RequestLogStore,
  UsageDay,
} from '../request-log/request-log-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

/** The requests of a key that are kept. The function log_requests deletes older ones from time to time. */
const keptRequests = 1_000;

const statusRanges = {
  success: Prisma.sql`status < 400`,
  client_error: Prisma.sql`status >= 400 AND status < 500`,
  server_error: Prisma.sql`status >= 500`,
} as const;

/** Creates the request log in Postgres. */
export function createRequestLogStore({ select }: Pick<Database, 'select'>): RequestLogStore {
  const ofKey = ({ workspaceId, apiKeyId }: KeyOfWorkspace) =>
    Prisma.sql`workspace_id = ${workspaceId}::uuid AND api_key_id = ${apiKeyId}::uuid`;
  return {
    async append({ requests, counts }) {
      await select(
        Prisma.sql`
          SELECT FROM log_requests(
            ${JSON.stringify(requests)}::jsonb, ${JSON.stringify(counts)}::jsonb, ${keptRequests}::integer)`,
        { name: 'log_requests' },
      );
    },

    async hasKey({ workspaceId, apiKeyId, userId }) {
      const ofUser = userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${userId}::uuid`;
      const rows = await select(
        Prisma.sql`
          SELECT FROM api_key WHERE id = ${apiKeyId}::uuid AND workspace_id = ${workspaceId}::uuid ${ofUser}`,
      );
      return rows.length > 0;
    },

    async list(key, { status, service }, limit, after) {
      const conditions = [Prisma.sql`true`];
      if (status !== undefined) conditions.push(statusRanges[status]);
      if (service !== undefined) conditions.push(Prisma.sql`service = ${service}`);
      if (after !== undefined) {
        conditions.push(Prisma.sql`(at, id) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`);
      }
      const rows = await select<LoggedRequest>(
        Prisma.sql`
          SELECT id, api_key_id AS "apiKeyId", at, service, method, route, status, code, duration_ms AS "durationMs"
          FROM (
            SELECT * FROM api_request WHERE ${ofKey(key)} ORDER BY at DESC, id DESC LIMIT ${keptRequests}
          ) AS newest
          WHERE ${Prisma.join(conditions, ' AND ')} ORDER BY at DESC, id DESC LIMIT ${limit}`,
        { workspaceId: key.workspaceId },
      );
      return rows.map(withoutNulls);
    },

    usage: (key, sinceDay) =>
      select<UsageDay>(
        Prisma.sql`
          SELECT to_char(day, 'YYYY-MM-DD') AS day, success, client_errors AS "clientErrors",
            server_errors AS "serverErrors", unlisted
          FROM api_usage WHERE ${ofKey(key)} AND day >= ${sinceDay}::date ORDER BY day`,
        { workspaceId: key.workspaceId },
      ),

    async dropBefore(requestsBefore, countsBeforeDay, max) {
      const rows = await select(Prisma.sql`
        DELETE FROM api_request WHERE (api_key_id, at, id) IN (
          SELECT api_key_id, at, id FROM api_request
          WHERE at < ${requestsBefore.toISOString()}::timestamptz ORDER BY at LIMIT ${max}
        ) RETURNING id`);
      await select(Prisma.sql`DELETE FROM api_usage WHERE day < ${countsBeforeDay}::date`);
      return rows.length;
    },
  };
}
