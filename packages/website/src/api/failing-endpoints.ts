import type { EndpointKind, PostbackView, WebhookView } from '@leads/core/delivery';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

const refreshMs = 60_000;
const dayMs = 24 * 60 * 60 * 1000;

/** A webhook or postback that has failed for 24 h, or that the service has disabled. */
export interface FailingEndpoint {
  readonly id: string;
  readonly kind: EndpointKind;
  /** The description, or without one the host. */
  readonly name: string;
  readonly disabledReason: 'receiver' | 'failing' | undefined;
  /** The start of the incident. */
  readonly since: string;
}

/** Queries the failing endpoints of a kind that the user manages. */
export const failingEndpointsQuery = (kind: EndpointKind) =>
  queryOptions({
    queryKey: ['failing-endpoints', kind],
    queryFn: ({ signal }) => call<(WebhookView | PostbackView)[]>(`/console/${kind}s`, { signal }),
    select: (endpoints) =>
      endpoints.flatMap((endpoint): FailingEndpoint | [] => {
        const { id, url, description, disabledReason, disabledAt, failingSince } = endpoint;
        const since = disabledAt ?? failingSince;
        if (since === undefined || disabledReason === 'user') return [];
        if (disabledReason === undefined && Date.now() - Date.parse(since) < dayMs) return [];
        return { id, kind, name: description ?? new URL(url).host, disabledReason, since };
      }),
    refetchInterval: refreshMs,
    staleTime: refreshMs,
  });
