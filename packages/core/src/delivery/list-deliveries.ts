import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { pageLimit } from '../paging.ts';
import { uuidPattern } from '../uuid.ts';
import type { DeliveryQuery, DeliveryView } from './delivery.schema.ts';
import { requireWebhook, toDeliveryView } from './webhook.ts';
import type { DeliveryPosition, WebhookStore } from './webhook-store.ts';

/**
 * Lists the deliveries of a webhook, newest first.
 *
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `not_found`, `invalid_cursor`
 */
export async function listDeliveries(
  webhooks: Pick<WebhookStore, 'find' | 'listDeliveries'>,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  webhookId: string,
  { limit: limitText, cursor, state, leadId, statusCode, from, to }: DeliveryQuery,
): Promise<{ deliveries: DeliveryView[]; nextCursor?: string }> {
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
    deliveries: page.map(toDeliveryView),
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
