import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { findLead } from '../lead/get-lead.ts';
import type { LeadStore } from '../lead/lead-store.ts';
import { parseTime } from '../parse-time.ts';
import { readTimePage } from '../time-page.ts';
import type { DeliveryQuery, DeliveryView, LeadDeliveryQuery } from './delivery.schema.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { type EndpointKind, type EndpointMember, endpointsVisibleTo } from './endpoint.ts';
import { requireEndpoint, toDeliveryView } from './delivery.ts';

interface DeliveryPage {
  readonly deliveries: DeliveryView[];
  /** The cursor of the next page, if there is one. */
  readonly nextCursor?: string;
}

/**
 * Lists the deliveries of a webhook or a postback, newest first.
 *
 * @throws LeadsError `not_found`, `invalid_cursor`; `invalid_input` as {@link parseTime}
 */
export async function listDeliveries(
  deliveries: Pick<DeliveryStore, 'findEndpoint' | 'list'>,
  member: EndpointMember,
  kind: EndpointKind,
  endpointId: string,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  await requireEndpoint(deliveries, member, kind, endpointId);
  return pageOf(deliveries, member, query, endpointId);
}

/**
 * Lists the deliveries of a lead to the webhooks and postbacks that the principal can see, newest first.
 *
 * @throws LeadsError `not_found` for a lead that the principal cannot see; `invalid_cursor`; `invalid_input` as {@link parseTime}
 */
export async function listLeadDeliveries(
  { leads, deliveries }: { leads: LeadStore; deliveries: Pick<DeliveryStore, 'list'> },
  principal: Principal,
  leadId: string,
  query: LeadDeliveryQuery,
): Promise<DeliveryPage> {
  const { id } = await findLead(leads, principal, leadId);
  return pageOf(deliveries, principal, { ...query, leadId: id });
}

async function pageOf(
  store: Pick<DeliveryStore, 'list'>,
  member: EndpointMember,
  { limit, cursor, state, leadId, statusCode, from, to }: DeliveryQuery,
  endpointId?: string,
): Promise<DeliveryPage> {
  const selection = {
    endpointId,
    state,
    leadId,
    statusCode: statusCode === undefined ? undefined : Number(statusCode),
    from: from === undefined ? undefined : parseTime(from, { at: 'query', path: 'from' }),
    to: to === undefined ? undefined : parseTime(to, { at: 'query', path: 'to' }),
  };
  const { entries, ...page } = await readTimePage(
    { limit, cursor },
    (max, after) =>
      store.list(endpointsVisibleTo(member), selection, max, after && { createdAt: after.at, id: after.id }),
    ({ createdAt: at, id }) => ({ at, id }),
  );
  return { deliveries: entries.map(toDeliveryView), ...page };
}

/**
 * Returns one delivery.
 *
 * @param readEvent returns the event of a version of a lead. With it, the delivery of an event to a webhook has its
 *   request. The log has no copy of that request, so that an erased lead is not in it.
 * @throws LeadsError `not_found`
 */
export async function getDelivery(
  deliveries: Pick<DeliveryStore, 'find'>,
  member: EndpointMember,
  id: string,
  readEvent?: (leadId: string, version: number) => Promise<LeadEvent>,
): Promise<DeliveryView> {
  const delivery = await deliveries.find(endpointsVisibleTo(member), id);
  if (delivery === undefined) throw new LeadsError('not_found');
  const { kind, url, leadId, version } = delivery;
  const view = toDeliveryView(delivery);
  if (readEvent === undefined || kind !== 'webhook') return view;
  if (leadId === undefined || version === undefined) return view;
  return { ...view, request: `POST ${url}\n\n${JSON.stringify(await readEvent(leadId, version))}` };
}
