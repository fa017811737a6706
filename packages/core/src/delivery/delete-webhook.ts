import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { toWebhookView } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';
import type { WebhookView } from './webhook.schema.ts';

/** Deletes a webhook and its deliveries. @throws LeadsError `not_found` */
export async function deleteWebhook(
  webhooks: Pick<WebhookStore, 'remove'>,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  id: string,
): Promise<WebhookView> {
  const webhook = await webhooks.remove(workspaceId, id);
  if (webhook === undefined) throw new LeadsError('not_found');
  return toWebhookView(webhook);
}
