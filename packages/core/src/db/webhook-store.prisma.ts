import type { Delivery, Webhook, WebhookStore, WebhookUpdate } from '../delivery/webhook-store.ts';
import { testEventType } from '../delivery/delivery.schema.ts';
import { requireRoom } from '../limits/caps.ts';
import { newId, uuidPattern } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

/** Without the secrets, which only the worker reads. */
const webhookColumns = Prisma.sql`
  id, url, description, event_types AS events, statuses::text[] AS statuses, header_names AS "headerNames",
  ARRAY(SELECT code FROM campaign WHERE campaign.id = ANY (campaign_ids) ORDER BY code) AS "campaignCodes",
  includes_imports AS "includesImports", disabled_at AS "disabledAt", disabled_reason AS "disabledReason", failures,
  failing_since AS "failingSince", last_success_at AS "lastSuccessAt", previous_secret_until AS "previousSecretUntil",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

const deliveryColumns = Prisma.sql`
  id, endpoint_id AS "webhookId", type, lead_id AS "leadId", version, state, attempts,
  next_attempt_at AS "nextAttemptAt", last_attempt_at AS "lastAttemptAt", duration_ms AS "durationMs",
  status_code AS "statusCode", error, answer, created_at AS "createdAt"`;

/** The new values of a delivery that is sent again. A worker that sends it now ignores the result, as its lease ended. */
const waitingAgain = Prisma.sql`
  state = 'waiting', attempts = 0, next_attempt_at = now(), lease_id = NULL`;

const toWebhook = (row: object) => withoutNulls(row) as unknown as Webhook;
const toDelivery = (row: object) => withoutNulls(row) as unknown as Delivery;

/** Creates the store of webhooks in Postgres. */
export function createWebhookStore({ select, transaction }: Database): WebhookStore {
  const findDelivery: WebhookStore['findDelivery'] = async (workspaceId, id) => {
    if (!uuidPattern.test(id)) return undefined;
    const [row] = await select(
      Prisma.sql`
        SELECT ${deliveryColumns} FROM delivery WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid
          AND EXISTS (SELECT FROM delivery_endpoint WHERE id = endpoint_id AND deleted_at IS NULL)`,
      { workspaceId },
    );
    return row && toDelivery(row);
  };
  const read = async (workspaceId: string, where: Prisma.Sql) => {
    const rows = await select(
      Prisma.sql`
        SELECT ${webhookColumns} FROM delivery_endpoint
        WHERE workspace_id = ${workspaceId}::uuid AND deleted_at IS NULL AND ${where} ORDER BY created_at, id`,
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
        WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL
        RETURNING ${webhookColumns}`,
      { workspaceId },
    );
    return row && toWebhook(row);
  };

  return {
    async findCampaigns(workspaceId, codes) {
      const rows = await select<{ id: string; code: string }>(
        Prisma.sql`
          SELECT id, code FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND code = ANY (${[...codes]}::text[])`,
        { workspaceId },
      );
      return new Map(rows.map(({ id, code }) => [code, id]));
    },

    create: (workspaceId, webhook) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const where = { workspaceId, deletedAt: null };
          requireRoom('webhooks', await tx.deliveryEndpoint.count({ where }));
          const { id, url, description, events, statuses, campaignIds, includesImports, headerNames } =
            webhook;
          await tx.deliveryEndpoint.create({
            data: {
              id,
              workspaceId,
              url,
              description: description === '' ? null : (description ?? null),
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
            WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid AND deleted_at IS NULL
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

    async listDeliveries(workspaceId, { webhookId, state, leadId, statusCode, from, to }, limit, after) {
      const conditions = [
        Prisma.sql`workspace_id = ${workspaceId}::uuid AND endpoint_id = ${webhookId}::uuid`,
      ];
      if (state !== undefined) conditions.push(Prisma.sql`state = ${state}`);
      if (leadId !== undefined) conditions.push(Prisma.sql`lead_id = ${leadId}::uuid`);
      if (statusCode !== undefined) conditions.push(Prisma.sql`status_code = ${statusCode}::int`);
      if (from !== undefined) conditions.push(Prisma.sql`created_at >= ${from.toISOString()}::timestamptz`);
      if (to !== undefined) conditions.push(Prisma.sql`created_at < ${to.toISOString()}::timestamptz`);
      if (after !== undefined) {
        conditions.push(
          Prisma.sql`(created_at, id) < (${after.createdAt.toISOString()}::timestamptz, ${after.id}::uuid)`,
        );
      }
      const rows = await select(
        Prisma.sql`
          SELECT ${deliveryColumns} FROM delivery WHERE ${Prisma.join(conditions, ' AND ')}
          ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
        { workspaceId },
      );
      return rows.map(toDelivery);
    },

    findDelivery,

    async addTest(workspaceId, webhookId) {
      const [row] = await select(
        Prisma.sql`
          INSERT INTO delivery (id, workspace_id, endpoint_id, type, state, next_attempt_at)
          VALUES (${newId()}::uuid, ${workspaceId}::uuid, ${webhookId}::uuid, ${testEventType}, 'waiting', now())
          RETURNING ${deliveryColumns}`,
        { workspaceId },
      );
      return toDelivery(row as object);
    },

    async resend(workspaceId, id) {
      const [row] = await select(
        Prisma.sql`
          UPDATE delivery SET ${waitingAgain} WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid
          RETURNING ${deliveryColumns}`,
        { workspaceId },
      );
      return row && toDelivery(row);
    },

    async recover(workspaceId, webhookId, { since, until }, max) {
      const rows = await select(
        Prisma.sql`
          UPDATE delivery SET ${waitingAgain} WHERE id IN (
            SELECT id FROM delivery WHERE workspace_id = ${workspaceId}::uuid AND endpoint_id = ${webhookId}::uuid
              AND state IN ('failed', 'skipped') AND created_at >= ${since.toISOString()}::timestamptz
              AND created_at < ${until.toISOString()}::timestamptz
            LIMIT ${max} FOR UPDATE
          ) RETURNING id`,
        { workspaceId },
      );
      return rows.length;
    },
  };
}

/** Skips what still waits from before a webhook was disabled, so that enabling it sends only new events. */
async function skipWaiting(tx: Transaction, workspaceId: string, id: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE delivery SET state = 'skipped', next_attempt_at = NULL, lease_id = NULL
    FROM delivery_endpoint AS endpoint
    WHERE endpoint.id = ${id}::uuid AND endpoint.workspace_id = ${workspaceId}::uuid
      AND endpoint.disabled_at IS NOT NULL AND delivery.endpoint_id = endpoint.id AND delivery.state = 'waiting'`;
}

function assignmentsOf(changes: WebhookUpdate): Prisma.Sql[] {
  const assignments: Prisma.Sql[] = [];
  const set = (column: string, value: Prisma.Sql) =>
    assignments.push(Prisma.sql`${Prisma.raw(column)} = ${value}`);
  const { url, description, events, statuses, campaignIds, includesImports, headerNames, headers, enabled } =
    changes;
  if (url !== undefined) set('url', Prisma.sql`${url}`);
  if (description !== undefined) set('description', Prisma.sql`nullif(${description}, '')`);
  if (events !== undefined) set('event_types', Prisma.sql`${[...events]}::text[]`);
  if (statuses !== undefined) set('statuses', Prisma.sql`${[...statuses]}::lead_status[]`);
  if (campaignIds !== undefined) set('campaign_ids', Prisma.sql`${[...campaignIds]}::uuid[]`);
  if (includesImports !== undefined) set('includes_imports', Prisma.sql`${includesImports}`);
  if (headerNames !== undefined) set('header_names', Prisma.sql`${[...headerNames]}::text[]`);
  if (headers !== undefined) set('headers', Prisma.sql`${headers}::text`);
  if (enabled === true) {
    assignments.push(Prisma.sql`
      enabled_at = CASE WHEN disabled_at IS NULL THEN enabled_at ELSE now() END,
      failures = CASE WHEN disabled_at IS NULL THEN failures ELSE 0 END,
      failing_since = CASE WHEN disabled_at IS NULL THEN failing_since END,
      disabled_at = NULL, disabled_reason = NULL`);
  }
  if (enabled === false) {
    assignments.push(Prisma.sql`
      disabled_at = coalesce(disabled_at, now()), disabled_reason = coalesce(disabled_reason, 'user')`);
  }
  return assignments;
}
