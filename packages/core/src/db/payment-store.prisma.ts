import { isOutage, LeadsError } from '../errors.ts';
import type { LeadScope } from '../lead/lead-scope.ts';
import type { StatusChangeFrom } from '../lead/lead-store.ts';
import { requireRoom } from '../limits/caps.ts';
import { type Payment, paymentFailures, type PaymentLead } from '../payout/payment.schema.ts';
import type { PaymentStore } from '../payout/payment-store.ts';
import { firstId } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { arrayValues, statusChangeColumns } from './lead-columns.ts';
import { statusChangeOfMany } from './lead-changes.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

const columns = Prisma.sql`
  id, number, user_id AS "userId", created_by_id AS "createdBy", from_time AS "from", to_time AS "to",
  (SELECT code FROM campaign WHERE campaign.id = payment.campaign_id) AS "campaignCode", currency, date::text AS date, note,
  state, total, leads, trim_scale(amount)::text AS amount, skipped, returned, kept, created_at AS "createdAt",
  last_error AS failure, retry_at AS "retryAt",
  cancelled_at AS "cancelledAt", cancelled_by_id AS "cancelledBy", cancel_reason AS "cancelReason"`;

function toPayment(row: object): Payment {
  const { failure, ...payment } = Object.fromEntries(
    Object.entries(withoutNulls(row)).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : (value as unknown),
    ]),
  ) as unknown as Omit<Payment, 'failure'> & { failure?: keyof typeof paymentFailures };
  return { ...payment, ...(failure !== undefined && { failure: paymentFailures[failure] }) };
}

const ofScope = ({ workspaceId, userId }: LeadScope) =>
  Prisma.sql`workspace_id = ${workspaceId}::uuid ${userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${userId}::uuid`}`;

/** The condition of the partial index of payments in progress. */
const isInProgress = Prisma.sql`state = ANY (ARRAY['paying'::text, 'cancelling'::text])`;

/** A payment in progress. */
interface PaymentInProgress {
  readonly id: string;
  readonly workspaceId: string;
  readonly number: number;
  readonly state: 'paying' | 'cancelling';
  readonly currency: string;
  readonly createdBy: string;
  readonly cancelledBy: string | null;
  readonly cancelReason: string | null;
  readonly afterId: string | null;
}

/** Creates the store of payments in Postgres. */
export function createPaymentStore({ select, transaction }: Database): PaymentStore {
  return {
    create: (payment, maxLeads) =>
      transaction(
        async (tx) => {
          const { id, workspaceId, userId, createdBy, from, to, campaignCode, currency, date } = payment;
          await lockWorkspace(tx, workspaceId);
          const repeated = await findIn(tx, workspaceId, id);
          if (repeated !== undefined) return { payment: repeated, isChanged: false };
          // A step locks its payment first and its leads afterwards. The same order prevents deadlocks.
          const running = await tx.$queryRaw<object[]>`
            SELECT id FROM payment
            WHERE workspace_id = ${workspaceId}::uuid AND ${isInProgress}
            ORDER BY id FOR UPDATE`;
          requireRoom('runningPayments', running.length);
          const [campaign] =
            campaignCode === undefined
              ? []
              : await tx.campaign.findMany({ where: { workspaceId, code: campaignCode } });
          if (campaignCode !== undefined && campaign === undefined) throw nothingToPay();
          const payable = Prisma.sql`
            lead.workspace_id = ${workspaceId}::uuid AND lead.user_id = ${userId}::uuid AND lead.status = 'Approved'
            AND lead.created_at >= ${from.toISOString()}::timestamptz AND lead.created_at < ${to.toISOString()}::timestamptz
            AND lead.payout_currency = ${currency}
            ${campaign === undefined ? Prisma.empty : Prisma.sql`AND lead.campaign_id = ${campaign.id}::uuid`}`;
          const [first] = await tx.$queryRaw<object[]>`SELECT id FROM lead WHERE ${payable} LIMIT 1`;
          // An unknown user has no leads, too.
          if (first === undefined) throw nothingToPay();
          // A lead that a user has changed back to Approved leaves its earlier payment.
          await tx.$queryRaw`
            WITH freed AS (
              UPDATE payment_lead AS earlier SET state = 'returned' FROM lead
              WHERE earlier.lead_id = lead.id AND earlier.state = 'paid' AND ${payable}
              RETURNING earlier.payment_id
            )
            UPDATE payment SET returned = returned + freed.leads
            FROM (SELECT payment_id, count(*)::int AS leads FROM freed GROUP BY payment_id) AS freed
            WHERE payment.id = freed.payment_id`;
          await tx.$executeRaw`
            INSERT INTO payment (
              id, workspace_id, number, user_id, created_by_id, from_time, to_time, campaign_id, currency, date, note,
              created_at
            )
            SELECT ${id}::uuid, ${workspaceId}::uuid, coalesce(max(number), 0) + 1, ${userId}::uuid, ${createdBy}::uuid,
              ${from.toISOString()}::timestamptz, ${to.toISOString()}::timestamptz, ${campaign?.id ?? null}::uuid,
              ${currency}, ${date}::date, ${payment.note ?? null}, clock_timestamp()
            FROM payment WHERE workspace_id = ${workspaceId}::uuid`;
          // Another payment in progress keeps the leads that it is about to pay.
          const [added] = await tx.$queryRaw<{ leads: number }[]>`
            WITH added AS (
              INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount)
              SELECT ${id}::uuid, lead.id, ${workspaceId}::uuid, lead.payout_amount FROM lead
              WHERE ${payable} AND NOT EXISTS (
                SELECT FROM payment_lead AS other
                WHERE other.lead_id = lead.id AND other.state = ANY (ARRAY['planned'::text, 'paid'::text])
              )
              LIMIT ${maxLeads + 1}
              RETURNING 1
            ) SELECT count(*)::int AS leads FROM added`;
          const total = added?.leads ?? 0;
          if (total === 0) throw nothingToPay();
          if (total > maxLeads) {
            throw new LeadsError('limit_reached', {
              message: `A payment may have ${maxLeads.toLocaleString('en')} leads: choose fewer days, or a campaign`,
            });
          }
          await tx.$executeRaw`UPDATE payment SET total = ${total} WHERE id = ${id}::uuid`;
          return { payment: (await findIn(tx, workspaceId, id)) as Payment, isChanged: true };
        },
        { workspaceId: payment.workspaceId },
      ),

    async list(scope, limit, after) {
      const rows = await select<object>(
        Prisma.sql`
          SELECT ${columns} FROM payment WHERE ${ofScope(scope)} ${
            after === undefined
              ? Prisma.empty
              : Prisma.sql`AND (created_at, id) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`
          }
          ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
        { workspaceId: scope.workspaceId },
      );
      return rows.map(toPayment);
    },

    async find(scope, id) {
      const [row] = await select<object>(
        Prisma.sql`SELECT ${columns} FROM payment WHERE ${ofScope(scope)} AND id = ${id}::uuid`,
        { workspaceId: scope.workspaceId },
      );
      return row && toPayment(row);
    },

    listLeads: ({ workspaceId, id }, limit, afterId = firstId) =>
      select<PaymentLead & Record<string, unknown>>(
        Prisma.sql`
          SELECT lead_id AS id, trim_scale(amount)::text AS amount, state FROM payment_lead
          WHERE workspace_id = ${workspaceId}::uuid AND payment_id = ${id}::uuid AND lead_id > ${afterId}::uuid
          ORDER BY lead_id LIMIT ${limit}`,
        { workspaceId },
      ),

    cancel: ({ workspaceId, id }, { userId, reason }) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const [found] = await tx.$queryRaw<{ state: Payment['state'] }[]>`
            SELECT state FROM payment WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid FOR UPDATE`;
          const isChanged = found?.state === 'paying' || found?.state === 'paid';
          if (isChanged) {
            // Leads that are not paid yet stay Approved. A payment without paid leads has nothing to return.
            await tx.$executeRaw`
              WITH left_out AS (
                UPDATE payment_lead SET state = 'skipped' WHERE payment_id = ${id}::uuid AND state = 'planned' RETURNING 1
              )
              UPDATE payment SET
                state = CASE WHEN leads = returned THEN 'cancelled' ELSE 'cancelling' END, after_id = NULL,
                skipped = skipped + (SELECT count(*)::int FROM left_out), cancelled_at = clock_timestamp(),
                cancelled_by_id = ${userId}::uuid, cancel_reason = ${reason}, ${withoutFailure}
              WHERE id = ${id}::uuid`;
          }
          const payment = await findIn(tx, workspaceId, id);
          return payment && { payment, isChanged };
        },
        { workspaceId },
      ),

    async step(limit) {
      let claimed: PaymentInProgress | undefined;
      try {
        await transaction(async (tx) => {
          claimed = await claimIn(tx);
          if (claimed !== undefined) await changeNext(tx, claimed, limit);
        });
        return claimed && { paymentId: claimed.id, workspaceId: claimed.workspaceId };
      } catch (error) {
        // Without the database, the failure of no payment can be stored.
        if (claimed === undefined || !(error instanceof Error)) throw error;
        const { id, workspaceId } = claimed;
        const cause = isOutage(error) ? 'unavailable' : 'rejected';
        await transaction((tx) => delay(tx, id, cause), { workspaceId });
        return { paymentId: id, workspaceId, error };
      }
    },

    async oldestStepAt() {
      const [row] = await select<{ at: Date }>(
        Prisma.sql`SELECT last_step_at AS at FROM payment WHERE ${isInProgress} ORDER BY last_step_at LIMIT 1`,
      );
      return row?.at;
    },
  };
}

/** Locks the payment in progress that has waited longest. The lock is the claim: another process skips the row. */
async function claimIn(tx: Transaction): Promise<PaymentInProgress | undefined> {
  const [payment] = await tx.$queryRaw<PaymentInProgress[]>`
    SELECT id, workspace_id AS "workspaceId", number, state, currency, created_by_id AS "createdBy",
      cancelled_by_id AS "cancelledBy", cancel_reason AS "cancelReason", after_id AS "afterId"
    FROM payment
    WHERE ${isInProgress} AND (retry_at IS NULL OR retry_at <= clock_timestamp())
    ORDER BY last_step_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (payment !== undefined) {
    await tx.$queryRaw`SELECT FROM set_config('leads.workspace', ${payment.workspaceId}, true)`;
  }
  return payment;
}

/** The pauses after failures of a payment, in seconds. They double from the first to the longest one. */
const retrySeconds = { first: 5, longest: 900 };

/** Delays the next step of a payment whose step has failed. */
async function delay(tx: Transaction, id: string, cause: keyof typeof paymentFailures): Promise<void> {
  await tx.$executeRaw`
    UPDATE payment SET
      failures = failures + 1, last_error = ${cause},
      retry_at = clock_timestamp()
        + least(${retrySeconds.first}::float8 * 2 ^ least(failures, 30), ${retrySeconds.longest}::float8) * interval '1 second'
    WHERE id = ${id}::uuid AND ${isInProgress}`;
}

/** The columns of a payment that makes progress. */
const withoutFailure = Prisma.sql`failures = 0, last_error = NULL, retry_at = NULL`;

const nothingToPay = () =>
  new LeadsError('conflict', {
    message:
      'There is no approved lead with a payout in this currency to pay: choose other days, another publisher or another currency, or wait for the payment in progress',
  });

async function findIn(tx: Transaction, workspaceId: string, id: string): Promise<Payment | undefined> {
  const [row] = await tx.$queryRaw<object[]>`
    SELECT ${columns} FROM payment WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid`;
  return row && toPayment(row);
}

/** Changes the next leads of a payment, and adds them to its counts. A lead that has changed since keeps its status. */
async function changeNext(tx: Transaction, payment: PaymentInProgress, limit: number): Promise<void> {
  const { id, workspaceId, number, currency } = payment;
  const isPaying = payment.state === 'paying';
  const next = await tx.$queryRaw<{ id: string }[]>`
    SELECT lead_id AS id FROM payment_lead
    WHERE payment_id = ${id}::uuid AND lead_id > ${payment.afterId ?? firstId}::uuid
      AND state = ${isPaying ? 'planned' : 'paid'}
    ORDER BY lead_id LIMIT ${limit}`;
  const ids = next.map((lead) => lead.id);
  // Locked by a statement of its own, because the next one must see the leads and the histories after the lock. The order
  // is that of all changes of leads, which prevents deadlocks.
  await tx.$queryRaw`
    SELECT id FROM lead WHERE workspace_id = ${workspaceId}::uuid AND id = ANY(${ids}::uuid[])
    ORDER BY id FOR NO KEY UPDATE`;
  const unchanged = isPaying
    ? Prisma.sql`lead.status = 'Approved' AND lead.payout_amount = planned.amount AND lead.payout_currency = ${currency}`
    : Prisma.sql`lead.status = 'Paid' AND NOT EXISTS (
        SELECT FROM lead_change AS later
        WHERE later.lead_id = lead.id AND later.version > planned.version AND later.to_status IS NOT NULL
      )`;
  const changeable = await tx.$queryRaw<{ id: string }[]>`
    SELECT lead.id FROM lead JOIN payment_lead AS planned ON planned.lead_id = lead.id AND planned.payment_id = ${id}::uuid
    WHERE lead.workspace_id = ${workspaceId}::uuid AND lead.id = ANY(${ids}::uuid[]) AND ${unchanged} ORDER BY lead.id`;
  const createdAt = new Date();
  const changes = changeable.map(
    (lead): StatusChangeFrom => ({
      id: lead.id,
      from: [isPaying ? 'Approved' : 'Paid'],
      to: isPaying ? 'Paid' : 'Approved',
      userId: (isPaying ? payment.createdBy : payment.cancelledBy) ?? undefined,
      reason: isPaying ? `Payment ${number}` : `Payment ${number} canceled: ${payment.cancelReason ?? ''}`,
      createdAt,
    }),
  );
  const values = [...arrayValues(statusChangeColumns, changes), workspaceId];
  const changed =
    changes.length === 0 ? [] : await tx.$queryRawUnsafe<{ id: string }[]>(statusChangeOfMany, ...values);
  const changedIds = changed.map((lead) => lead.id);
  const [done, left] = isPaying ? ['paid', 'skipped'] : ['returned', 'kept'];
  await tx.$executeRaw`
    WITH settled AS (
      UPDATE payment_lead AS planned SET
        state = CASE WHEN planned.lead_id = ANY(${changedIds}::uuid[]) THEN ${done}::text ELSE ${left}::text END,
        version = CASE WHEN ${isPaying}::boolean THEN (
          SELECT version FROM lead WHERE lead.id = planned.lead_id AND lead.id = ANY(${changedIds}::uuid[])
        ) ELSE planned.version END
      WHERE planned.payment_id = ${id}::uuid AND planned.lead_id = ANY(${ids}::uuid[])
      RETURNING planned.state, planned.amount
    ), counted AS (
      SELECT count(*) FILTER (WHERE state = 'paid')::int AS paid,
        coalesce(sum(amount) FILTER (WHERE state = 'paid'), 0) AS amount,
        count(*) FILTER (WHERE state = 'skipped')::int AS skipped,
        count(*) FILTER (WHERE state = 'returned')::int AS returned,
        count(*) FILTER (WHERE state = 'kept')::int AS kept
      FROM settled
    )
    UPDATE payment SET
      leads = payment.leads + counted.paid, amount = payment.amount + counted.amount,
      skipped = payment.skipped + counted.skipped, returned = payment.returned + counted.returned,
      kept = payment.kept + counted.kept, after_id = ${ids.at(-1) ?? payment.afterId}::uuid,
      last_step_at = clock_timestamp(), ${withoutFailure},
      state = CASE WHEN ${ids.length < limit}::boolean THEN ${isPaying ? 'paid' : 'cancelled'}::text ELSE payment.state END
    FROM counted WHERE payment.id = ${id}::uuid`;
}
