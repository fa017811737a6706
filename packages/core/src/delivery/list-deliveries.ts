import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { pageLimit } from '../paging.ts';
import { uuidPattern } from '../uuid.ts';
import type { DeliveryQuery, DeliveryView } from './delivery.schema.ts';
import type { PostbackDeliveryQuery, PostbackDeliveryView } from './postback.schema.ts';
import { requireWebhook, toDeliveryView, toPostbackDeliveryView } from './webhook.ts';
import type { Delivery, DeliveryPosition, WebhookStore } from './webhook-store.ts';

type Log = Pick<WebhookStore, 'listDeliveries'> & {
  find(workspaceId: string, id: string): Promise<unknown>;
};

/**
 * Lists the deliveries of a webhook, newest first.
 *
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `not_found`, `invalid_cursor`
 */
export async function listDeliveries(
  webhooks: Log,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  webhookId: string,
  query: DeliveryQuery,
): Promise<{ deliveries: DeliveryView[]; nextCursor?: string }> {
  const { deliveries, ...page } = await pageOf(webhooks, workspaceId, webhookId, query);
  return { deliveries: deliveries.map(toDeliveryView), ...page };
}

/** Lists the deliveries of a postback, as {@link listDeliveries} does. */
export async function listPostbackDeliveries(
  log: Log,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  postbackId: string,
  query: PostbackDeliveryQuery,
): Promise<{ deliveries: PostbackDeliveryView[]; nextCursor?: string }> {
  const { deliveries, ...page } = await pageOf(log, workspaceId, postbackId, query);
  return { deliveries: deliveries.map(toPostbackDeliveryView), ...page };
}

async function pageOf(
  webhooks: Log,
  workspaceId: string,
  webhookId: string,
  { limit: limitText, cursor, state, leadId, statusCode, from, to }: PostbackDeliveryQuery,
): Promise<{ deliveries: Delivery[]; nextCursor?: string }> {
  const limit = limitText === undefined ? pageLimit.default : Number(limitText);
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  await requireWebhook(webhooks, workspaceId, webhookId);
  const selection = {
    webhookId,
    state,
    leadId,
    statusCode: statusCode === undefined ? undefined : Number(statusCode),
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
  const found = await webhooks.listDeliveries(workspaceId, selection, limit + 1, after);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    deliveries: page,
    ...(found.length > limit && last !== undefined && { nextCursor: encodeCursor(last) }),
  };
}

/** Returns one delivery. @throws LeadsError `not_found` */
export async function getDelivery(
  webhooks: Pick<WebhookStore, 'findDelivery'>,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  id: string,
): Promise<DeliveryView> {
  const delivery = await webhooks.findDelivery(workspaceId, id);
  if (delivery === undefined) throw new LeadsError('not_found');
  return toDeliveryView(delivery);
}

function encodeCursor({ createdAt, id }: DeliveryPosition): string {
  return `${createdAt.getTime()}.${id}`;
}

function decodeCursor(text: string): DeliveryPosition {
  const [timeMs = '', id = '', ...others] = text.split('.');
  if (!/^\d{1,14}$/.test(timeMs) || !uuidPattern.test(id) || others.length > 0) {
    throw new LeadsError('invalid_cursor', {
      fields: [{ at: 'query', path: 'cursor', reason: 'must come from a page of the same list' }],
    });
  }
  return { createdAt: new Date(Number(timeMs)), id };
}
