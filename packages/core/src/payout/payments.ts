import { isDeepStrictEqual } from 'node:util';
import { type Principal, requirePermission } from '../credential/principal.ts';
import { toRecord } from '../csv/csv-cell.ts';
import { LeadsError } from '../errors.ts';
import { idempotentId, keyOwnerOf } from '../lead/idempotency.ts';
import { visibleTo } from '../lead/lead-scope.ts';
import { spanOfDays } from '../overview/get-overview.ts';
import type { Span } from '../overview/overview-store.ts';
import { pageLimit } from '../paging.ts';
import { readTimePage } from '../time-page.ts';
import { newId, uuidPattern } from '../uuid.ts';
import {
  maxPaidLeads,
  type NewPayment,
  type Payment,
  type PaymentLead,
  type PaymentLeadQuery,
  type PaymentQuery,
} from './payment.schema.ts';
import type { ChangedPayment, PaymentStore } from './payment-store.ts';

/**
 * Creates a payment for the Approved leads of a publisher in a range of days. A background job marks them as Paid.
 *
 * @param idempotencyKey a repeated request with the same key returns the payment of the first request.
 * @throws LeadsError `forbidden` for a publisher; `invalid_input` for an invalid day or time zone; `conflict` if there is
 *   no lead to pay; `limit_reached`; `idempotency_key_reused` for another payment under the same key.
 */
export async function createPayment(
  payments: Pick<PaymentStore, 'create'>,
  principal: Principal,
  given: NewPayment,
  idempotencyKey?: string,
): Promise<ChangedPayment> {
  requirePermission(principal, 'createPayments');
  const { from, to } = spanOf(given);
  const { currency, date, campaignCode, note } = given;
  // Postgres has no year 0.
  if (date < '1970-01-01') throw dateFault();
  const { workspaceId, userId: createdBy } = principal;
  const userId = given.userId.toLowerCase();
  const id =
    idempotencyKey === undefined ? newId() : idempotentId(keyOwnerOf(principal), `payment ${idempotencyKey}`);
  const created = await payments.create(
    {
      id,
      workspaceId,
      userId,
      createdBy,
      from,
      to,
      currency,
      date,
      ...(campaignCode !== undefined && { campaignCode }),
      ...(note !== undefined && { note }),
    },
    maxPaidLeads,
  );
  const { payment } = created;
  const isSame = isDeepStrictEqual(
    [payment.userId, payment.createdBy, payment.from, payment.to, payment.currency, payment.date],
    [userId, createdBy, from.toISOString(), to.toISOString(), currency, date],
  );
  if (!isSame || payment.campaignCode !== campaignCode || payment.note !== note) {
    throw new LeadsError('idempotency_key_reused');
  }
  return created;
}

const dateFault = () =>
  new LeadsError('invalid_input', {
    fields: [{ at: 'body', path: '/date', reason: 'must be a day since 1970' }],
  });

function spanOf({ from, to, zone }: NewPayment): Span {
  try {
    return spanOfDays({ from, to, ...(zone !== undefined && { zone }) });
  } catch (error) {
    if (!(error instanceof LeadsError)) throw error;
    // The statement reports its query parameters. Here, they are fields of the body.
    throw new LeadsError('invalid_input', {
      fields: error.fields.map(({ path = '', reason }) => ({ at: 'body', path: `/${path}`, reason })),
    });
  }
}

/**
 * Lists payments, newest first. A publisher gets only the payments to it.
 *
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `invalid_cursor`
 */
export async function listPayments(
  payments: Pick<PaymentStore, 'list'>,
  principal: Principal,
  { user, ...page }: PaymentQuery,
): Promise<{ entries: Payment[]; nextCursor?: string }> {
  const { workspaceId, userId = user?.toLowerCase() } = visibleTo(principal);
  if (user !== undefined && user.toLowerCase() !== userId) return { entries: [] };
  return readTimePage(
    page,
    (limit, after) => payments.list({ workspaceId, userId }, limit, after),
    ({ createdAt, id }) => ({ at: new Date(createdAt), id }),
  );
}

/**
 * Returns a payment with one page of its leads.
 *
 * @throws LeadsError `not_found` for a payment that does not exist or that the principal cannot see; `invalid_cursor`.
 */
export async function getPayment(
  payments: Pick<PaymentStore, 'find' | 'listLeads'>,
  principal: Principal,
  id: string,
  { limit = String(pageLimit.default), cursor }: PaymentLeadQuery,
): Promise<{ payment: Payment; leads: PaymentLead[]; nextCursor?: string }> {
  const payment = await findPayment(payments, principal, id);
  if (cursor !== undefined && !uuidPattern.test(cursor)) {
    throw new LeadsError('invalid_cursor', {
      fields: [{ at: 'query', path: 'cursor', reason: 'must come from a page of the same list' }],
    });
  }
  const { workspaceId } = principal;
  const found = await payments.listLeads({ workspaceId, id: payment.id }, Number(limit) + 1, cursor);
  const leads = found.slice(0, Number(limit));
  const last = leads.at(-1);
  return {
    payment,
    leads,
    ...(found.length > leads.length && last !== undefined && { nextCursor: last.id }),
  };
}

async function findPayment(
  payments: Pick<PaymentStore, 'find'>,
  principal: Principal,
  id: string,
): Promise<Payment> {
  const payment = uuidPattern.test(id) ? await payments.find(visibleTo(principal), id) : undefined;
  if (payment === undefined) throw new LeadsError('not_found');
  return payment;
}

/**
 * Writes the leads of a payment as CSV (RFC 4180) with a header line.
 *
 * @returns the payment, and the file in pieces.
 * @throws LeadsError `not_found` as {@link getPayment} does.
 */
export async function exportPayment(
  payments: Pick<PaymentStore, 'find' | 'listLeads'>,
  principal: Principal,
  id: string,
): Promise<{ payment: Payment; csv: AsyncGenerator<string, void, undefined> }> {
  const payment = await findPayment(payments, principal, id);
  const { workspaceId } = principal;
  async function* records(): AsyncGenerator<string, void, undefined> {
    yield toRecord(['leadId', 'amount', 'currency', 'state']);
    for (let afterId: string | undefined; ; ) {
      const leads = await payments.listLeads({ workspaceId, id: payment.id }, pageLimit.maximum, afterId);
      const last = leads.at(-1);
      if (last === undefined) return;
      yield leads.map((lead) => toRecord([lead.id, lead.amount, payment.currency, lead.state])).join('');
      afterId = last.id;
    }
  }
  return { payment, csv: records() };
}

/**
 * Cancels a payment. A background job changes its leads back to Approved, with the same payout. A cancelled payment stays
 * as it is.
 *
 * @throws LeadsError `forbidden` for a user that is not an owner; `not_found`.
 */
export async function cancelPayment(
  payments: Pick<PaymentStore, 'cancel'>,
  principal: Principal,
  id: string,
  reason: string,
): Promise<ChangedPayment> {
  requirePermission(principal, 'cancelPayments');
  const { workspaceId, userId } = principal;
  const cancelled = uuidPattern.test(id)
    ? await payments.cancel({ workspaceId, id }, { userId, reason })
    : undefined;
  if (cancelled === undefined) throw new LeadsError('not_found');
  return cancelled;
}
