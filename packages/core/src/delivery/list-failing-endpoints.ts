import { type EndpointMember, endpointsVisibleTo } from './endpoint.ts';
import type { FailingEndpoint } from './endpoint.schema.ts';
import type { DeliveryStore, StoredFailingEndpoint } from './delivery-store.ts';

function toFailingEndpoint(stored: StoredFailingEndpoint): FailingEndpoint {
  const { id, kind, url, description, disabledReason, since } = stored;
  return {
    id,
    kind,
    name: description ?? new URL(url).host,
    ...(disabledReason !== undefined && { disabledReason }),
    since: since.toISOString(),
  };
}

/**
 * Lists the webhooks and postbacks that the member can see, and that have failed for 24 h or that the service has
 * disabled: webhooks first, and the oldest first.
 */
export async function listFailingEndpoints(
  deliveries: Pick<DeliveryStore, 'listFailing'>,
  member: EndpointMember,
): Promise<FailingEndpoint[]> {
  const failing = await deliveries.listFailing(endpointsVisibleTo(member));
  return failing.map(toFailingEndpoint);
}
