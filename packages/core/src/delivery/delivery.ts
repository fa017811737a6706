import { LeadsError } from '../errors.ts';
import type { DeliveryView } from './delivery.schema.ts';
import type { Delivery, DeliveryStore } from './delivery-store.ts';
import { type EndpointKind, type EndpointMember, endpointsVisibleTo } from './endpoint.ts';
import { webhookMessageId } from './message-id.ts';

/** Returns the representation of a delivery. */
export function toDeliveryView(delivery: Delivery): DeliveryView {
  const { id, kind, endpointId, url, type, state, attempts, createdAt, ...others } = delivery;
  const { nextAttemptAt, lastAttemptAt, ...optional } = others;
  const given = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    id,
    ...(kind === 'webhook'
      ? { webhookId: endpointId, messageId: webhookMessageId(delivery) }
      : { postbackId: endpointId }),
    host: new URL(url).host,
    event: type,
    state,
    attempts,
    ...(Object.fromEntries(given) as Partial<DeliveryView>),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: nextAttemptAt.toISOString() }),
    ...(lastAttemptAt !== undefined && { lastAttemptAt: lastAttemptAt.toISOString() }),
    createdAt: createdAt.toISOString(),
  };
}

/** @throws LeadsError `not_found` if the member can see no such webhook or postback. */
export async function requireEndpoint(
  deliveries: Pick<DeliveryStore, 'findEndpoint'>,
  member: EndpointMember,
  kind: EndpointKind,
  id: string,
) {
  const endpoint = await deliveries.findEndpoint(endpointsVisibleTo(member), kind, id);
  if (endpoint === undefined) throw new LeadsError('not_found');
  return endpoint;
}

/** @throws LeadsError `not_found`; `conflict` if the webhook or the postback is disabled. */
export async function requireEnabledEndpoint(
  deliveries: Pick<DeliveryStore, 'findEndpoint'>,
  member: EndpointMember,
  kind: EndpointKind,
  id: string,
): Promise<void> {
  const { disabledAt } = await requireEndpoint(deliveries, member, kind, id);
  if (disabledAt === undefined) return;
  throw new LeadsError('conflict', { message: `The ${kind} is disabled: enable it first` });
}
