import type { EndpointScope } from '../delivery/endpoint.ts';
import type { Postback, PostbackStore } from '../delivery/postback-store.ts';
import { requireRoom } from '../limits/caps.ts';
import { uuidPattern } from '../uuid.ts';
import type { Database } from './client.ts';
import {
  createFindCampaigns,
  enabling,
  endpointStateColumns,
  isVisiblePostback,
  skipWaiting,
} from './delivery-endpoints.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

const postbackColumns = Prisma.sql`
  ${endpointStateColumns}, user_id AS "userId", url, method, body_format AS "bodyFormat", body, description, statuses::text[] AS statuses,
  (SELECT code FROM campaign WHERE campaign.id = campaign_ids[1]) AS "campaignCode", includes_imports AS "includesImports",
  sends_without_s1 AS "sendsWithoutS1", answer_contains AS "answerContains"`;

const toPostback = (row: object) => withoutNulls(row) as unknown as Postback;

/** Creates the store of postbacks in Postgres. */
export function createPostbackStore(database: Database): PostbackStore {
  const { select, transaction } = database;
  const read = async (scope: EndpointScope, where = Prisma.sql`true`) => {
    const rows = await select(
      Prisma.sql`
        SELECT ${postbackColumns} FROM delivery_endpoint WHERE ${isVisiblePostback(scope)} AND ${where} ORDER BY created_at, id`,
      { workspaceId: scope.workspaceId },
    );
    return rows.map(toPostback);
  };
  const find: PostbackStore['find'] = async (scope, id) => {
    if (!uuidPattern.test(id)) return undefined;
    const [postback] = await read(scope, Prisma.sql`id = ${id}::uuid`);
    return postback;
  };

  return {
    findCampaigns: createFindCampaigns(database),

    create: (workspaceId, postback) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const { campaignId, userId, statuses, ...given } = postback;
          const owner = { workspaceId, userId: userId ?? null };
          const count = await tx.deliveryEndpoint.count({
            where: { ...owner, deletedAt: null, kind: 'postback' },
          });
          requireRoom(userId === undefined ? 'workspacePostbacks' : 'userPostbacks', count);
          await tx.deliveryEndpoint.create({
            data: {
              ...owner,
              kind: 'postback',
              id: given.id,
              url: given.url,
              method: given.method,
              bodyFormat: given.bodyFormat ?? null,
              body: given.body ?? null,
              description: given.description ?? null,
              eventTypes: ['lead.created', 'lead.status_changed'],
              statuses: [...statuses],
              campaignIds: campaignId === undefined ? [] : [campaignId],
              includesImports: given.includesImports,
              sendsWithoutS1: given.sendsWithoutS1,
              answerContains: given.answerContains ?? null,
            },
          });
          const [row] = await tx.$queryRaw<object[]>`
            SELECT ${postbackColumns} FROM delivery_endpoint WHERE id = ${given.id}::uuid`;
          return toPostback(row as object);
        },
        { workspaceId },
      ),

    list: (scope) => read(scope),

    find,

    async update(scope, id, decide) {
      if (!uuidPattern.test(id)) return undefined;
      const where = Prisma.sql`${isVisiblePostback(scope)} AND id = ${id}::uuid`;
      return transaction(
        async (tx) => {
          await lockWorkspace(tx, scope.workspaceId);
          const [found] = await tx.$queryRaw<object[]>`
            SELECT ${postbackColumns} FROM delivery_endpoint WHERE ${where}`;
          if (found === undefined) return undefined;
          const changed = decide(toPostback(found));
          const { url, method, bodyFormat = null, body = null, description = null, statuses } = changed;
          const { answerContains = null, campaignId, includesImports, sendsWithoutS1, enabled } = changed;
          const assignments = [
            Prisma.sql`
              url = ${url}, method = ${method}, body_format = ${bodyFormat}, body = ${body},
              description = ${description}, statuses = ${[...statuses]}::lead_status[],
              answer_contains = ${answerContains}, includes_imports = ${includesImports},
              sends_without_s1 = ${sendsWithoutS1}, updated_at = now()`,
            ...(campaignId === undefined
              ? []
              : [Prisma.sql`campaign_ids = ${campaignId === null ? [] : [campaignId]}::uuid[]`]),
            ...enabling(enabled),
          ];
          if (enabled === true) await skipWaiting(tx, scope.workspaceId, id);
          const [row] = await tx.$queryRaw<object[]>`
            UPDATE delivery_endpoint SET ${Prisma.join(assignments, ', ')} WHERE ${where}
            RETURNING ${postbackColumns}`;
          return row && toPostback(row);
        },
        { workspaceId: scope.workspaceId },
      );
    },

    // The worker deletes its deliveries in batches, because there may be millions.
    async remove(scope, id) {
      if (!uuidPattern.test(id)) return undefined;
      const [row] = await select(
        Prisma.sql`
          UPDATE delivery_endpoint SET deleted_at = now() WHERE ${isVisiblePostback(scope)} AND id = ${id}::uuid
          RETURNING ${postbackColumns}`,
        { workspaceId: scope.workspaceId },
      );
      return row && toPostback(row);
    },
  };
}
