import type { NewPayment, Payment, PaymentWithLeads } from '@leads/core/payout';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, nextCursorOf, openStream, send } from './client.ts';
import { paymentsRequest } from './first-requests.ts';

const path = '/console/payments';

/** The number of leads in one response. */
const leadsSize = '50';
/** The interval of requests while a payment is in progress, in milliseconds. */
const progressMs = 1_000;

/** The key of all queries of payments. */
export const paymentsKey = ['payments'];

/** Whether the leads of a payment still change. */
export const isInProgress = ({ state }: Pick<Payment, 'state'>) =>
  state === 'paying' || state === 'cancelling';

/** Queries the payments, newest first. A payment in progress is read again. @param user only payments to this user. */
export const paymentsQuery = (user: string | undefined) =>
  infiniteQueryOptions({
    queryKey: [...paymentsKey, 'list', user],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const { path: listPath, ...request } = paymentsRequest({ user, cursor: pageParam });
      const response = await send(listPath, { ...request, signal });
      return { payments: (await response.json()) as Payment[], nextCursor: nextCursorOf(response) };
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ payments }) => payments.some(isInProgress)) === true && progressMs,
  });

/** Queries a payment. A payment in progress is read again. */
export const paymentQuery = (id: string) =>
  queryOptions({
    queryKey: [...paymentsKey, 'one', id],
    queryFn: async ({ signal }) =>
      (await call<PaymentWithLeads>(`${path}/${id}`, { query: { limit: '1' }, signal })).payment,
    refetchInterval: ({ state: { data } }) => data !== undefined && isInProgress(data) && progressMs,
  });

/** Queries the leads of a payment, which are read again when its state changes. */
export const paymentLeadsQuery = ({ id, state }: Payment) =>
  infiniteQueryOptions({
    queryKey: [...paymentsKey, 'leads', id, state],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const query = { limit: leadsSize, cursor: pageParam };
      const response = await send(`${path}/${id}`, { query, signal });
      const { leads } = (await response.json()) as PaymentWithLeads;
      return { leads, nextCursor: nextCursorOf(response) };
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Creates a payment. A repeated call with the same key creates no second payment. */
export async function createPayment({
  idempotencyKey,
  ...body
}: NewPayment & { idempotencyKey: string }): Promise<Payment> {
  const headers = { 'idempotency-key': idempotencyKey };
  return (await call<{ payment: Payment }>(path, { method: 'POST', headers, body })).payment;
}

export function cancelPayment(id: string, reason: string): Promise<unknown> {
  return call(`${path}/${id}/cancel`, { method: 'POST', body: { reason } });
}

/** Returns the leads of a payment as a CSV file. There can be 100,000, so that it has no time limit. */
export async function paymentFile(id: string): Promise<Blob> {
  const headers = { accept: 'text/csv, application/problem+json;q=0.9' };
  const { signal } = new AbortController();
  return new Response(await openStream(`${path}/${id}`, { headers, signal })).blob();
}
