import { rolesWith } from '../credential/roles.ts';
import type {
  AttemptOutcome,
  ClaimedDelivery,
  DeliveryQueue,
  DueEndpoint,
} from '../delivery/delivery-queue.ts';
import { newId } from '../uuid.ts';
import type { Database } from './client.ts';
import { hasIncident } from './delivery-endpoints.ts';
import { Prisma } from './generated/client.ts';
import { changesOfEvents, eventsFrom } from './lead-events.ts';
import { overtakes } from './delivery-store.prisma.ts';
import { changeColumnsWithAliases, everyColumn } from './lead-rows.ts';
import { withoutNulls } from './without-nulls.ts';

/**
 * The rule by which a failing endpoint is disabled. It had no success for some days, and a minimum of failures over a
 * minimum of time. An endpoint with few events is therefore not disabled for one bad hour.
 */
const failing = { withoutSuccess: '3 days', failures: 20, over: '12 hours' } as const;

/** A success is recorded at the endpoint at most this often, unless the endpoint was failing. */
const successInterval = '5 seconds';

/**
 * Whether no earlier status of the lead is about to be sent to the same postback. The statuses of a lead are sent to a
 * postback one after the other, so that each request is compared with the one before. A retry does not block later ones.
 */
const isInTurn = Prisma.sql`(target.kind = 'webhook' OR NOT EXISTS (
  SELECT FROM delivery AS earlier
  WHERE earlier.lead_id = delivery.lead_id AND earlier.endpoint_id = delivery.endpoint_id
    AND earlier.version < delivery.version AND earlier.state = 'waiting'
    AND (earlier.attempts = 0 OR earlier.lease_id IS NOT NULL)))`;

/**
 * Whether the delivery `newer` is no longer in the queue for its first attempt. If two processes plan at the same time, an
 * earlier status of the lead can come into the queue after that.
 */
const hasBegun = Prisma.sql`(newer.state <> 'waiting' OR newer.attempts > 0 OR newer.lease_id IS NOT NULL)`;

/**
 * The settings of a postback as JSON; null for a webhook. The last request has no hash if its attempt failed, because the
 * receiver may have applied it. The next status is then sent, whatever was delivered before.
 */
const postbackOfClaim = Prisma.sql`CASE WHEN kind = 'postback' THEN jsonb_build_object(
  'method', method, 'bodyFormat', body_format, 'body', body, 'statuses', statuses,
  'sendsWithoutS1', sends_without_s1, 'answerContains', answer_contains,
  'lastRequestHash', (
    SELECT request_hash FROM delivery AS last
    WHERE last.lead_id = delivery.lead_id AND last.endpoint_id = delivery.endpoint_id
      AND last_attempt_at IS NOT NULL AND NOT delivery.is_resent
    ORDER BY last_attempt_at DESC LIMIT 1),
  'isOvertaken', NOT delivery.is_resent AND EXISTS (
    SELECT FROM delivery AS newer WHERE ${overtakes} AND (delivery.attempts > 0 OR ${hasBegun}))
) END`;

function toClaimed(row: object): ClaimedDelivery {
  const { postback, ...claimed } = withoutNulls(row) as unknown as ClaimedDelivery;
  return { ...claimed, ...(postback !== undefined && { postback: withoutNulls(postback) }) };
}

/** Creates the queue of deliveries in Postgres. */
export function createDeliveryQueue({ select }: Database): DeliveryQueue {
  return {
    async plan(maxRows) {
      // The outbox is empty most of the time. This query is cheaper than the function.
      const [oldest] = await select<{ lateSeconds: number }>(
        Prisma.sql`
          SELECT extract(epoch FROM now() - created_at)::float8 AS "lateSeconds" FROM delivery_outbox ORDER BY id LIMIT 1`,
        { name: 'oldest_change' },
      );
      if (oldest === undefined) return { statements: 0, lateSeconds: 0 };
      const [row] = await select<{ statements: number }>(
        Prisma.sql`SELECT plan_deliveries(${maxRows}::int) AS statements`,
      );
      return { statements: row?.statements ?? 0, ...oldest };
    },

    dueEndpoints() {
      return select<DueEndpoint>(
        Prisma.sql`
          SELECT id, workspace_id AS "workspaceId" FROM delivery_endpoint AS endpoint
          WHERE disabled_at IS NULL AND deleted_at IS NULL AND EXISTS (
            SELECT FROM delivery WHERE endpoint_id = endpoint.id AND state = 'waiting' AND next_attempt_at <= now())`,
        { name: 'due_endpoints' },
      );
    },

    async claim(room, leaseMs) {
      const rows = await select(
        Prisma.sql`
          WITH due AS MATERIALIZED (
            SELECT due.* FROM unnest(${[...room.keys()]}::uuid[], ${[...room.values()]}::int[]) AS slot (endpoint_id, free)
            JOIN delivery_endpoint AS target ON target.id = slot.endpoint_id
            CROSS JOIN LATERAL (
              SELECT id, next_attempt_at AS due_at FROM delivery
              WHERE endpoint_id = slot.endpoint_id AND state = 'waiting' AND next_attempt_at <= now() AND ${isInTurn}
              ORDER BY next_attempt_at LIMIT slot.free FOR UPDATE SKIP LOCKED
            ) AS due
          )
          UPDATE delivery SET
            lease_id = ${newId()}::uuid, next_attempt_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
          FROM due, delivery_endpoint AS endpoint
          WHERE delivery.id = due.id AND endpoint.id = delivery.endpoint_id
          RETURNING delivery.id, delivery.workspace_id AS "workspaceId", endpoint_id AS "endpointId",
            lease_id AS "leaseId", type, lead_id AS "leadId", version, attempts, url, secret, headers,
            extract(epoch FROM now() - due_at)::float8 AS "lateSeconds",
            CASE WHEN previous_secret_until > now() THEN previous_secret END AS "previousSecret",
            ${postbackOfClaim} AS postback`,
        { name: 'claim_deliveries' },
      );
      return rows.map(toClaimed);
    },

    async readEvents(workspaceId, events) {
      const ids = [...new Set(events.map(({ leadId }) => leadId))];
      if (ids.length === 0) return () => undefined;
      const leads = await select<Record<string, unknown>>(
        Prisma.sql`
          SELECT ${everyColumn} FROM lead WHERE id = ANY(${ids}::uuid[]) AND workspace_id = ${workspaceId}::uuid`,
        { name: 'leads_of_deliveries', workspaceId },
      );
      const changes = leads.some(({ version }) => (version as number) > 1)
        ? await select<Record<string, unknown>>(
            Prisma.sql`SELECT lead_id AS "leadId", ${changeColumnsWithAliases} FROM ${changesOfEvents(events)}`,
            { name: 'changes_of_deliveries', workspaceId },
          )
        : [];
      return eventsFrom(leads, changes);
    },

    async complete(outcomes) {
      const health = healthOf(outcomes);
      const each = <Value>(value: (endpoint: EndpointHealth) => Value) => health.map(value);
      // One statement, because a transaction of several takes several round trips.
      const rows = await select<{ id: string; reason: string | null }>(
        Prisma.sql`
          WITH recorded AS (${recordOutcomes(outcomes)}), health AS (
            SELECT health.*, endpoint.disabled_at IS NULL AS was_enabled, NOT has_success
              AND endpoint.failures + failed >= ${failing.failures}
              AND endpoint.failing_since <= now() - ${failing.over}::interval
              AND greatest(last_success_at, enabled_at) <= now() - ${failing.withoutSuccess}::interval AS is_failing
            FROM unnest(
              ${each(({ id }) => id)}::uuid[], ${each(({ hasSuccess }) => hasSuccess)}::boolean[],
              ${each(({ failed }) => failed)}::int[], ${each(({ isUnwanted }) => isUnwanted)}::boolean[]
            ) AS health (id, has_success, failed, is_unwanted)
            JOIN delivery_endpoint AS endpoint ON endpoint.id = health.id
            WHERE NOT has_success OR is_unwanted OR failures > 0 OR last_success_at IS NULL
              OR last_success_at < now() - ${successInterval}::interval
            -- Locked in one order, so that two statements cannot deadlock.
            ORDER BY health.id FOR NO KEY UPDATE OF endpoint
          ), judged AS (
            SELECT *, CASE WHEN is_failing THEN 'failing' WHEN is_unwanted THEN 'receiver' END AS reason FROM health
          )
          UPDATE delivery_endpoint AS endpoint SET
            failures = CASE WHEN has_success THEN 0 ELSE failures + failed END,
            failing_since = CASE WHEN NOT has_success THEN coalesce(failing_since, now()) END,
            last_success_at = CASE WHEN has_success THEN now() ELSE last_success_at END,
            disabled_at = CASE WHEN reason IS NULL THEN disabled_at ELSE coalesce(disabled_at, now()) END,
            disabled_reason = coalesce(disabled_reason, reason)
          FROM judged WHERE endpoint.id = judged.id
          RETURNING endpoint.id, CASE WHEN was_enabled THEN reason END AS reason`,
        { name: 'complete_deliveries' },
      );
      return rows.flatMap(({ id, reason }) => (reason === null ? [] : id));
    },

    async backlog() {
      const [row] = await select<{ waiting: number; lagSeconds: number }>(Prisma.sql`
        SELECT count(*)::float8 AS waiting, extract(epoch FROM now() - least(
          min(delivery.created_at) FILTER (WHERE attempts = 0), (SELECT min(created_at) FROM delivery_outbox), now()
        ))::float8 AS "lagSeconds"
        FROM delivery JOIN delivery_endpoint AS endpoint ON endpoint.id = endpoint_id
        WHERE state = 'waiting' AND disabled_at IS NULL AND deleted_at IS NULL`);
      return row ?? { waiting: 0, lagSeconds: 0 };
    },

    async createNotices() {
      const rows = await select(Prisma.sql`
        WITH noticed AS (
          UPDATE delivery_endpoint SET noticed_at = coalesce(disabled_at, failing_since) WHERE id IN (
            SELECT id FROM delivery_endpoint
            WHERE ${hasIncident} AND noticed_at IS DISTINCT FROM coalesce(disabled_at, failing_since)
            FOR UPDATE SKIP LOCKED
          ) RETURNING id, workspace_id, user_id
        )
        INSERT INTO delivery_notice (endpoint_id, user_id, workspace_id)
        SELECT noticed.id, member.user_id, noticed.workspace_id
        FROM noticed JOIN member ON member.workspace_id = noticed.workspace_id
          AND CASE WHEN noticed.user_id IS NULL THEN member.role = ANY(${rolesWith.manageEndpoints}::member_role[])
            ELSE member.user_id = noticed.user_id END
        ON CONFLICT (endpoint_id, user_id) DO UPDATE SET attempts = 0, next_attempt_at = now(), lease_id = NULL
        RETURNING endpoint_id`);
      return rows.length;
    },

    async skipDisabled(max) {
      const rows = await select(Prisma.sql`
        UPDATE delivery SET state = 'skipped', next_attempt_at = NULL, lease_id = NULL WHERE id IN (
          SELECT waiting.id FROM delivery_endpoint AS endpoint CROSS JOIN LATERAL (
            SELECT id FROM delivery WHERE endpoint_id = endpoint.id AND state = 'waiting'
            LIMIT ${max} FOR UPDATE SKIP LOCKED
          ) AS waiting
          WHERE disabled_at IS NOT NULL LIMIT ${max}
        ) RETURNING id`);
      return rows.length;
    },

    async deleteOld(before, max) {
      // For each endpoint, because its index is ordered by time. The whole log may hold millions of rows.
      const rows = await select(Prisma.sql`
        DELETE FROM delivery WHERE id IN (
          SELECT old.id FROM delivery_endpoint AS endpoint CROSS JOIN LATERAL (
            SELECT id FROM delivery
            WHERE endpoint_id = endpoint.id AND (state <> 'waiting' OR endpoint.deleted_at IS NOT NULL)
              AND created_at < CASE WHEN endpoint.deleted_at IS NULL
                THEN ${before.toISOString()}::timestamptz ELSE 'infinity' END
            ORDER BY created_at LIMIT ${max} FOR UPDATE SKIP LOCKED
          ) AS old
          LIMIT ${max}
        ) RETURNING id`);
      if (rows.length === 0) {
        await select(Prisma.sql`
          DELETE FROM delivery_endpoint AS endpoint WHERE deleted_at IS NOT NULL
            AND NOT EXISTS (SELECT FROM delivery WHERE endpoint_id = endpoint.id)`);
      }
      return rows.length;
    },
  };
}

/** Returns the statement that stores the outcomes whose lease still holds. */
function recordOutcomes(given: readonly AttemptOutcome[]): Prisma.Sql {
  // In the order of their ids, so that two statements cannot deadlock.
  const outcomes = given.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const each = <Value>(value: (outcome: AttemptOutcome) => Value) => outcomes.map(value);
  return Prisma.sql`
    UPDATE delivery SET
      state = outcome.state, attempts = outcome.attempts, lease_id = NULL,
      next_attempt_at = now() + outcome.retry_ms * interval '1 millisecond',
      last_attempt_at = CASE WHEN has_attempt THEN now() ELSE last_attempt_at END,
      duration_ms = CASE WHEN has_attempt THEN outcome.duration_ms ELSE delivery.duration_ms END,
      status_code = CASE WHEN has_attempt THEN outcome.status_code ELSE delivery.status_code END,
      error = CASE WHEN has_attempt THEN outcome.error ELSE delivery.error END,
      answer = CASE WHEN has_attempt THEN outcome.answer ELSE delivery.answer END,
      request = CASE WHEN has_attempt THEN outcome.request ELSE delivery.request END,
      request_hash = coalesce(outcome.request_hash, delivery.request_hash), skip_reason = outcome.skip_reason
    FROM unnest(
      ${each(({ id }) => id)}::uuid[], ${each(({ leaseId }) => leaseId)}::uuid[], ${each(({ state }) => state)}::text[],
      ${each(({ attempts }) => attempts)}::int[], ${each(({ retryMs }) => retryMs ?? null)}::float8[],
      ${each(({ attempt }) => attempt !== undefined)}::boolean[],
      ${each(({ attempt }) => attempt?.durationMs ?? null)}::int[],
      ${each(({ attempt }) => attempt?.statusCode ?? null)}::int[], ${each(({ attempt }) => attempt?.error ?? null)}::text[],
      ${each(({ attempt }) => attempt?.answer ?? null)}::text[], ${each(({ attempt }) => attempt?.request ?? null)}::text[],
      ${each(({ attempt }) => attempt?.requestHash ?? null)}::text[], ${each(({ skipReason }) => skipReason ?? null)}::text[]
    ) AS outcome (id, lease_id, state, attempts, retry_ms, has_attempt, duration_ms, status_code, error, answer, request,
      request_hash, skip_reason)
    WHERE delivery.id = outcome.id AND delivery.lease_id = outcome.lease_id`;
}

/** The attempts of one endpoint. */
interface EndpointHealth {
  readonly id: string;
  readonly hasSuccess: boolean;
  /** The number of failures, if there was no success. */
  readonly failed: number;
  /** Whether the receiver wants no more deliveries. */
  readonly isUnwanted: boolean;
}

function healthOf(outcomes: readonly AttemptOutcome[]): EndpointHealth[] {
  const byId = new Map<string, EndpointHealth>();
  for (const { endpointId: id, attempt } of outcomes) {
    if (attempt === undefined) continue;
    const before = byId.get(id);
    const hasSuccess = attempt.isSuccess || before?.hasSuccess === true;
    byId.set(id, {
      id,
      hasSuccess,
      failed: hasSuccess ? 0 : (before?.failed ?? 0) + 1,
      isUnwanted: attempt.isDisableRequested || before?.isUnwanted === true,
    });
  }
  return [...byId.values()];
}
