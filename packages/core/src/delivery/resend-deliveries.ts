import { LeadsError } from '../errors.ts';
import { parseTime } from '../parse-time.ts';
import type { DeliveryView, Recovery } from './delivery.schema.ts';
import { requireEnabledEndpoint, toDeliveryView } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { type EndpointKind, type EndpointMember, endpointsVisibleTo } from './endpoint.ts';

/** The number of deliveries that one statement makes wait again. */
const batchSize = 5_000;

/** Queues a test of a webhook or a postback. @throws LeadsError `not_found`; `conflict` if it is disabled. */
export async function sendTest(
  deliveries: Pick<DeliveryStore, 'findEndpoint' | 'addTest'>,
  member: EndpointMember,
  kind: EndpointKind,
  id: string,
): Promise<DeliveryView> {
  await requireEnabledEndpoint(deliveries, member, kind, id);
  return toDeliveryView(await deliveries.addTest(member.workspaceId, kind, id));
}

/**
 * Sends a delivery again, whatever its state. A webhook gets the same `webhook-id`. A postback gets the status of the
 * delivery, even if the lead has a newer one.
 *
 * @throws LeadsError `not_found`; `conflict` if the webhook or the postback is disabled.
 */
export async function resendDelivery(
  deliveries: Pick<DeliveryStore, 'findEndpoint' | 'find' | 'resend'>,
  member: EndpointMember,
  id: string,
): Promise<DeliveryView> {
  const scope = endpointsVisibleTo(member);
  const found = await deliveries.find(scope, id);
  if (found === undefined) throw new LeadsError('not_found');
  await requireEnabledEndpoint(deliveries, member, found.kind, found.endpointId);
  const delivery = await deliveries.resend(scope, id);
  if (delivery === undefined) throw new LeadsError('not_found');
  return toDeliveryView(delivery);
}

/**
 * Sends the failed and skipped deliveries of a time range again.
 *
 * @returns their number.
 * @throws LeadsError `not_found`; `conflict` if the webhook or the postback is disabled; `invalid_input` as
 *   {@link parseTime}.
 */
export async function recoverDeliveries(
  deliveries: Pick<DeliveryStore, 'findEndpoint' | 'recover'>,
  member: EndpointMember,
  kind: EndpointKind,
  id: string,
  { since, until }: Recovery,
): Promise<number> {
  await requireEnabledEndpoint(deliveries, member, kind, id);
  const range = {
    since: parseTime(since, { at: 'body', path: '/since' }),
    until: until === undefined ? new Date() : parseTime(until, { at: 'body', path: '/until' }),
  };
  for (let total = 0; ; ) {
    const count = await deliveries.recover(member.workspaceId, id, range, batchSize);
    total += count;
    if (count < batchSize) return total;
  }
}
