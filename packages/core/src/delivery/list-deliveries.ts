import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { readTimePage } from '../time-page.ts';
import type { DeliveryQuery, DeliveryView } from './delivery.schema.ts';
import type { PostbackDeliveryQuery, PostbackDeliveryView } from './postback.schema.ts';
import { requireWebhook, toDeliveryView, toPostbackDeliveryView } from './webhook.ts';
import type { Delivery, WebhookStore } from './webhook-store.ts';

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
  { limit, cursor, state, leadId, statusCode, from, to }: PostbackDeliveryQuery,
): Promise<{ deliveries: Delivery[]; nextCursor?: string }> {
  const selection = {
    webhookId,
    state,
    leadId,
    statusCode: statusCode === undefined ? undefined : Number(statusCode),
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
  const { entries: deliveries, ...page } = await readTimePage(
    { limit, cursor },
    async (max, after) => {
      await requireWebhook(webhooks, workspaceId, webhookId);
      return webhooks.listDeliveries(
        workspaceId,
        selection,
        max,
        after && { createdAt: after.at, id: after.id },
      );
    },
    ({ createdAt: at, id }) => ({ at, id }),
  );
  return { deliveries, ...page };
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
