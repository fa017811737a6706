import type { Webhook, WebhookStore, WebhookUpdate } from '../delivery/webhook-store.ts';
import { requireRoom } from '../limits/caps.ts';
import { uuidPattern } from '../uuid.ts';
import type { Database } from './client.ts';
import {
  createFindCampaigns,
  enabling,
  endpointStateColumns,
  isVisibleWebhook,
  skipWaiting,
} from './delivery-endpoints.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

/** Without the secrets, which only the worker reads. */
const webhookColumns = Prisma.sql`
  ${endpointStateColumns}, url, description, event_types AS events, statuses::text[] AS statuses, header_names AS "headerNames",
  ARRAY(SELECT code FROM campaign WHERE campaign.id = ANY (campaign_ids) ORDER BY code) AS "campaignCodes",
  includes_imports AS "includesImports", previous_secret_until AS "previousSecretUntil"`;

const toWebhook = (row: object) => withoutNulls(row) as unknown as Webhook;

/** Creates the store of webhooks in Postgres. */
export function createWebhookStore(database: Database): WebhookStore {
  const { select, transaction } = database;
  const read = async (workspaceId: string, where: Prisma.Sql) => {
    const rows = await select(
      Prisma.sql`
        SELECT ${webhookColumns} FROM delivery_endpoint
        WHERE ${isVisibleWebhook({ workspaceId, isManager: true })} AND ${where} ORDER BY created_at, id`,
      { workspaceId },
    );
    return rows.map(toWebhook);
  };
  /** Changes a webhook by a list of assignments. */
  const change = async (workspaceId: string, id: string, assignments: readonly Prisma.Sql[]) => {
    if (!uuidPattern.test(id)) return undefined;
    const [row] = await select(
      Prisma.sql`
        UPDATE delivery_endpoint SET ${Prisma.join(assignments, ', ')}, updated_at = now()
        WHERE ${isVisibleWebhook({ workspaceId, isManager: true })} AND id = ${id}::uuid
        RETURNING ${webhookColumns}`,
      { workspaceId },
    );
    return row && toWebhook(row);
  };

  return {
    findCampaigns: createFindCampaigns(database),

    create: (workspaceId, webhook) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const where = { workspaceId, deletedAt: null, kind: 'webhook' };
          requireRoom('webhooks', await tx.deliveryEndpoint.count({ where }));
          const { id, url, description, events, statuses, campaignIds, includesImports, headerNames } =
            webhook;
          await tx.deliveryEndpoint.create({
            data: {
              id,
              workspaceId,
              url,
              description: description ?? null,
              eventTypes: [...events],
              statuses: [...statuses],
              campaignIds: [...campaignIds],
              includesImports,
              headerNames: [...headerNames],
              headers: webhook.headers ?? null,
              secret: webhook.secret,
            },
          });
          const [row] = await tx.$queryRaw<object[]>`
            SELECT ${webhookColumns} FROM delivery_endpoint WHERE id = ${id}::uuid`;
          return toWebhook(row as object);
        },
        { workspaceId },
      ),

    list: (workspaceId) => read(workspaceId, Prisma.sql`true`),

    async find(workspaceId, id) {
      if (!uuidPattern.test(id)) return undefined;
      const [webhook] = await read(workspaceId, Prisma.sql`id = ${id}::uuid`);
      return webhook;
    },

    async update(workspaceId, id, changes) {
      if (changes.enabled !== true) return change(workspaceId, id, assignmentsOf(changes));
      if (!uuidPattern.test(id)) return undefined;
      return transaction(
        async (tx) => {
          await skipWaiting(tx, workspaceId, id);
          const [row] = await tx.$queryRaw<object[]>`
            UPDATE delivery_endpoint SET ${Prisma.join(assignmentsOf(changes), ', ')}, updated_at = now()
            WHERE ${isVisibleWebhook({ workspaceId, isManager: true })} AND id = ${id}::uuid
            RETURNING ${webhookColumns}`;
          return row && toWebhook(row);
        },
        { workspaceId },
      );
    },

    rotateSecret: (workspaceId, id, secret, previousUntil) =>
      change(workspaceId, id, [
        Prisma.sql`previous_secret = secret, secret = ${secret}`,
        Prisma.sql`previous_secret_until = ${previousUntil.toISOString()}::timestamptz`,
      ]),

    // The worker deletes its deliveries in batches, because there may be millions.
    remove: (workspaceId, id) => change(workspaceId, id, [Prisma.sql`deleted_at = now()`]),
  };
}

function assignmentsOf(changes: WebhookUpdate): Prisma.Sql[] {
  const assignments: Prisma.Sql[] = [];
  const set = (column: string, value: Prisma.Sql) =>
    assignments.push(Prisma.sql`${Prisma.raw(column)} = ${value}`);
  const { url, description, events, statuses, campaignIds, includesImports, headerNames, headers, enabled } =
    changes;
  if (url !== undefined) set('url', Prisma.sql`${url}`);
  if (description !== undefined) set('description', Prisma.sql`${description}`);
  if (events !== undefined) set('event_types', Prisma.sql`${[...events]}::text[]`);
  if (statuses !== undefined) set('statuses', Prisma.sql`${[...statuses]}::lead_status[]`);
  if (campaignIds !== undefined) set('campaign_ids', Prisma.sql`${[...campaignIds]}::uuid[]`);
  if (includesImports !== undefined) set('includes_imports', Prisma.sql`${includesImports}`);
  if (headerNames !== undefined) set('header_names', Prisma.sql`${[...headerNames]}::text[]`);
  if (headers !== undefined) set('headers', Prisma.sql`${headers}::text`);
  assignments.push(...enabling(enabled));
  return assignments;
}
