import type {
  DeliveryQuery,
  DeliveryView,
  EndpointKind,
  FailingEndpoint,
  NewPostback,
  NewWebhook,
  PostbackChanges,
  PostbackPresetView,
  PostbackPreview,
  PostbackRequest,
  PostbackView,
  WebhookChanges,
  WebhookPreview,
  WebhookRequest,
  WebhookShown,
  WebhookView,
} from '@leads/core/delivery';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, nextCursorOf, send } from './client.ts';
import { failingEndpointsRequest } from './first-requests.ts';

/* Webhooks and postbacks. Their routes have the same paths, except for the kind. */

/** The number of deliveries in one response. */
const pageSize = '50';
/** Deliveries end without a request of this page, so the lists are refreshed in this interval, in milliseconds. */
const refreshMs = 5_000;

/** Every page has the banner about failing webhooks and postbacks. */
const failingRefreshMs = 60_000;

/** A webhook or a postback. */
export type Endpoint = WebhookView | PostbackView;

/** The beginning of the keys of the queries for webhooks and postbacks. */
export const endpointsKey = ['endpoints'] as const;

const pathOf = (kind: EndpointKind) => `/console/${kind}s`;

export const webhooksQuery = queryOptions({
  queryKey: [...endpointsKey, 'webhook'],
  queryFn: ({ signal }) => call<WebhookView[]>(pathOf('webhook'), { signal }),
  refetchInterval: refreshMs,
});

export const postbacksQuery = queryOptions({
  queryKey: [...endpointsKey, 'postback'],
  queryFn: ({ signal }) => call<PostbackView[]>(pathOf('postback'), { signal }),
  refetchInterval: refreshMs,
});

/** Queries the webhooks and postbacks that have failed for 24 h or that the service has disabled. */
export const failingEndpointsQuery = queryOptions({
  queryKey: [...endpointsKey, 'failing'],
  queryFn: ({ signal }) => call<FailingEndpoint[]>(failingEndpointsRequest.path, { signal }),
  refetchInterval: failingRefreshMs,
  staleTime: failingRefreshMs,
});

export function createWebhook(body: NewWebhook): Promise<WebhookShown> {
  return call(pathOf('webhook'), { method: 'POST', body });
}

export function createPostback(body: NewPostback): Promise<unknown> {
  return call(pathOf('postback'), { method: 'POST', body });
}

export function updateEndpoint(
  kind: EndpointKind,
  id: string,
  body: WebhookChanges | PostbackChanges,
): Promise<unknown> {
  return call(`${pathOf(kind)}/${id}`, { method: 'PATCH', body });
}

export function deleteEndpoint(kind: EndpointKind, id: string): Promise<unknown> {
  return call(`${pathOf(kind)}/${id}`, { method: 'DELETE' });
}

export function rotateWebhookSecret(id: string): Promise<WebhookShown> {
  return call(`${pathOf('webhook')}/${id}/rotate-secret`, { method: 'POST', body: {} });
}

export function testEndpoint(kind: EndpointKind, id: string): Promise<unknown> {
  return call(`${pathOf(kind)}/${id}/test`, { method: 'POST', body: {} });
}

/** Sends the failed and skipped deliveries since a time again. Returns their number. */
export async function recoverDeliveries(kind: EndpointKind, id: string, since: Date): Promise<number> {
  const answer = await call<{ deliveries: number }>(`${pathOf(kind)}/${id}/recover`, {
    method: 'POST',
    body: { since: since.toISOString() },
  });
  return answer.deliveries;
}

export const presetsQuery = queryOptions({
  queryKey: ['postback-presets'],
  queryFn: ({ signal }) => call<PostbackPresetView[]>(`${pathOf('postback')}/presets`, { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The request of a webhook or a postback for a lead. */
export type RenderedRequest = PostbackRequest | WebhookRequest;

/** Queries the request of a webhook or a postback for a lead. */
export const previewQuery = (kind: EndpointKind, body: PostbackPreview | WebhookPreview) =>
  queryOptions({
    queryKey: ['preview', kind, body],
    async queryFn({ signal }) {
      const path = `${pathOf(kind)}/preview`;
      return (await call<{ request: RenderedRequest }>(path, { method: 'POST', body, signal })).request;
    },
    placeholderData: keepPreviousData,
    retry: false,
  });

/** The beginning of the keys of all lists of deliveries of a webhook, of a postback, or of a lead. */
export const deliveriesKey = (id: string) => ['deliveries', id] as const;

/** The filters of a list of deliveries. */
export type DeliveryFilter = Omit<DeliveryQuery, 'limit' | 'cursor'>;

/** Queries the deliveries of a webhook or a postback that match a filter, newest first. */
export const deliveriesQuery = (kind: EndpointKind, id: string, filter: DeliveryFilter) =>
  listOfDeliveries(`${pathOf(kind)}/${id}/deliveries`, id, filter);

/** Queries the deliveries of a lead to all webhooks and postbacks that the user can see, newest first. */
export const leadDeliveriesQuery = (leadId: string) =>
  listOfDeliveries(`/console/order/leads/${leadId}/deliveries`, leadId);

/** Queries one delivery. That of an event to a webhook has its request, which the lists do not have. */
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: async ({ signal }) =>
      (await call<{ delivery: DeliveryView }>(`/console/deliveries/${id}`, { signal })).delivery,
    retry: false,
  });

const listOfDeliveries = (path: string, id: string, filter: DeliveryFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...deliveriesKey(id), filter],
    initialPageParam: undefined as string | undefined,
    async queryFn({ pageParam, signal }) {
      const response = await send(path, { query: { ...filter, limit: pageSize, cursor: pageParam }, signal });
      return { deliveries: (await response.json()) as DeliveryView[], nextCursor: nextCursorOf(response) };
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refreshMs,
  });

export function resendDelivery(id: string): Promise<unknown> {
  return call(`/console/deliveries/${id}/resend`, { method: 'POST', body: {} });
}
