import { testPostbackType } from '../delivery/delivery.schema.ts';
import type { Postback, PostbackScope, PostbackStore } from '../delivery/postback-store.ts';
import { requireRoom } from '../limits/caps.ts';
import { uuidPattern } from '../uuid.ts';
import type { Database } from './client.ts';
import { createDeliveryLog, enabling, skipWaiting } from './delivery-log.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

const postbackColumns = Prisma.sql`
  id, user_id AS "userId", url, method, body_format AS "bodyFormat", body, description, statuses::text[] AS statuses,
  (SELECT code FROM campaign WHERE campaign.id = campaign_ids[1]) AS "campaignCode", includes_imports AS "includesImports",
  sends_without_s1 AS "sendsWithoutS1", answer_contains AS "answerContains", disabled_at AS "disabledAt",
  disabled_reason AS "disabledReason", failures, failing_since AS "failingSince", last_success_at AS "lastSuccessAt",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

const toPostback = (row: object) => withoutNulls(row) as unknown as Postback;

const visibleIn = ({ workspaceId, userId, isManager }: PostbackScope) => Prisma.sql`
  kind = 'postback' AND workspace_id = ${workspaceId}::uuid AND deleted_at IS NULL
  AND (user_id = ${userId}::uuid OR (${isManager} AND user_id IS NULL))`;

/** Creates the store of postbacks in Postgres. */
export function createPostbackStore(database: Database): PostbackStore {
  const { select, transaction } = database;
  const { findCampaigns, ...log } = createDeliveryLog(database, testPostbackType);
  const read = async (scope: PostbackScope, where = Prisma.sql`true`) => {
    const rows = await select(
      Prisma.sql`
        SELECT ${postbackColumns} FROM delivery_endpoint WHERE ${visibleIn(scope)} AND ${where} ORDER BY created_at, id`,
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
    findCampaigns,

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

    async update(scope, id, changes) {
      if (!uuidPattern.test(id)) return undefined;
      const { url, method, bodyFormat = null, body = null, description = null, statuses } = changes;
      const { answerContains = null, campaignId, includesImports, sendsWithoutS1, enabled } = changes;
      const assignments = [
        Prisma.sql`
          url = ${url}, method = ${method}, body_format = ${bodyFormat}, body = ${body},
          description = ${description}, statuses = ${[...statuses]}::lead_status[], answer_contains = ${answerContains},
          campaign_ids = ${campaignId === undefined ? [] : [campaignId]}::uuid[], includes_imports = ${includesImports},
          sends_without_s1 = ${sendsWithoutS1}, updated_at = now()`,
        ...enabling(enabled),
      ];
      return transaction(
        async (tx) => {
          if (enabled === true) await skipWaiting(tx, scope.workspaceId, id);
          const [row] = await tx.$queryRaw<object[]>`
            UPDATE delivery_endpoint SET ${Prisma.join(assignments, ', ')}
            WHERE ${visibleIn(scope)} AND id = ${id}::uuid RETURNING ${postbackColumns}`;
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
          UPDATE delivery_endpoint SET deleted_at = now() WHERE ${visibleIn(scope)} AND id = ${id}::uuid
          RETURNING ${postbackColumns}`,
        { workspaceId: scope.workspaceId },
      );
      return row && toPostback(row);
    },

    logOf: (scope) => ({ ...log, find: (_workspaceId, id) => find(scope, id) }),
  };
}
