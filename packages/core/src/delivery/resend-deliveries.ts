import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { DeliveryView, Recovery } from './delivery.schema.ts';
import type { PostbackDeliveryView } from './postback.schema.ts';
import type { PostbackLog } from './postback-store.ts';
import { requireWebhook, toDeliveryView, toPostbackDeliveryView } from './webhook.ts';
import type { Webhook, WebhookStore } from './webhook-store.ts';

type Member = Pick<Principal, 'workspaceId'>;

/** The number of deliveries that one statement makes wait again. */
const batchSize = 5_000;

/** Queues a test event. @throws LeadsError `not_found`; `conflict` if the webhook is disabled. */
export async function testWebhook(
  webhooks: Pick<WebhookStore, 'find' | 'addTest'>,
  { workspaceId }: Member,
  id: string,
): Promise<DeliveryView> {
  requireEnabled(await requireWebhook(webhooks, workspaceId, id));
  return toDeliveryView(await webhooks.addTest(workspaceId, id));
}

/** Queues a test of a postback. @throws LeadsError `not_found`; `conflict` if the postback is disabled. */
export async function testPostback(
  log: Pick<PostbackLog, 'find' | 'addTest'>,
  { workspaceId }: Member,
  id: string,
): Promise<PostbackDeliveryView> {
  requireEnabled(await requireWebhook(log, workspaceId, id), 'postback');
  return toPostbackDeliveryView(await log.addTest(workspaceId, id));
}

/**
 * Sends a delivery again, with the same `webhook-id`.
 *
 * @throws LeadsError `not_found`; `conflict` if the webhook is disabled.
 */
export async function resendDelivery(
  webhooks: Pick<WebhookStore, 'find' | 'findDelivery' | 'resend'>,
  { workspaceId }: Member,
  id: string,
): Promise<DeliveryView> {
  const found = await webhooks.findDelivery(workspaceId, id);
  if (found === undefined) throw new LeadsError('not_found');
  requireEnabled(await requireWebhook(webhooks, workspaceId, found.webhookId));
  const delivery = await webhooks.resend(workspaceId, id);
  if (delivery === undefined) throw new LeadsError('not_found');
  return toDeliveryView(delivery);
}

/**
 * Sends the failed and skipped deliveries of a time range again.
 *
 * @returns their number.
 * @throws LeadsError `not_found`; `conflict` if the webhook is disabled.
 */
export async function recoverDeliveries(
  webhooks: Pick<WebhookStore, 'find' | 'recover'>,
  { workspaceId }: Member,
  id: string,
  range: Recovery,
): Promise<number> {
  requireEnabled(await requireWebhook(webhooks, workspaceId, id));
  return recoverEach(webhooks, workspaceId, id, range);
}

/** Sends the failed and skipped deliveries of a postback again, as {@link recoverDeliveries} does. */
export async function recoverPostback(
  log: Pick<PostbackLog, 'find' | 'recover'>,
  { workspaceId }: Member,
  id: string,
  range: Recovery,
): Promise<number> {
  requireEnabled(await requireWebhook(log, workspaceId, id), 'postback');
  return recoverEach(log, workspaceId, id, range);
}

async function recoverEach(
  webhooks: Pick<WebhookStore, 'recover'>,
  workspaceId: string,
  id: string,
  { since, until }: Recovery,
): Promise<number> {
  const range = { since: new Date(since), until: until === undefined ? new Date() : new Date(until) };
  for (let total = 0; ; ) {
    const count = await webhooks.recover(workspaceId, id, range, batchSize);
    total += count;
    if (count < batchSize) return total;
  }
}

function requireEnabled({ disabledAt }: Pick<Webhook, 'disabledAt'>, kind = 'webhook'): void {
  if (disabledAt === undefined) return;
  throw new LeadsError('conflict', { message: `The ${kind} is disabled: enable it first` });
}
