import type {
  DeliveryState,
  DeliveryView,
  NewWebhook,
  WebhookChanges,
  WebhookShown,
  WebhookView,
} from '@leads/core/delivery';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, nextCursorOf, send } from './client.ts';

/** The number of deliveries in one response. */
const pageSize = '50';
/** Deliveries end without a request of this page, so the lists are refreshed in this interval, in milliseconds. */
const refreshMs = 5_000;

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => call<WebhookView[]>('/console/webhooks', { signal }),
  refetchInterval: refreshMs,
});

export function createWebhook(body: NewWebhook): Promise<WebhookShown> {
  return call('/console/webhooks', { method: 'POST', body });
}

export function updateWebhook(id: string, body: WebhookChanges): Promise<unknown> {
  return call(`/console/webhooks/${id}`, { method: 'PATCH', body });
}

export function deleteWebhook(id: string): Promise<unknown> {
  return call(`/console/webhooks/${id}`, { method: 'DELETE' });
}

export function rotateWebhookSecret(id: string): Promise<WebhookShown> {
  return call(`/console/webhooks/${id}/rotate-secret`, { method: 'POST', body: {} });
}

export function testWebhook(id: string): Promise<unknown> {
  return call(`/console/webhooks/${id}/test`, { method: 'POST', body: {} });
}

/** Sends the failed and skipped deliveries since a time again. Returns their number. */
export async function recoverDeliveries(id: string, since: Date): Promise<number> {
  const answer = await call<{ deliveries: number }>(`/console/webhooks/${id}/recover`, {
    method: 'POST',
    body: { since: since.toISOString() },
  });
  return answer.deliveries;
}

/** The beginning of the keys of all lists of a webhook's deliveries. */
export const deliveriesKey = (webhookId: string) => ['deliveries', webhookId] as const;

/** Queries the deliveries of a webhook, newest first. @param state only deliveries in this state. */
export const deliveriesQuery = (webhookId: string, state: DeliveryState | undefined) =>
  infiniteQueryOptions({
    queryKey: [...deliveriesKey(webhookId), state],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const response = await send(`/console/webhooks/${webhookId}/deliveries`, {
        query: { state, limit: pageSize, cursor: pageParam },
        signal,
      });
      return { deliveries: (await response.json()) as DeliveryView[], nextCursor: nextCursorOf(response) };
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refreshMs,
  });

export function resendDelivery(id: string): Promise<unknown> {
  return call(`/console/deliveries/${id}/resend`, { method: 'POST', body: {} });
}
