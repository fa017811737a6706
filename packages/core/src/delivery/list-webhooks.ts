import type { Principal } from '../credential/principal.ts';
import { requireWebhook, toWebhookView } from './webhook.ts';
import type { WebhookStore } from './webhook-store.ts';
import type { WebhookView } from './webhook.schema.ts';

/** Lists the webhooks of the principal's workspace, oldest first. */
export async function listWebhooks(
  webhooks: Pick<WebhookStore, 'list'>,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
): Promise<WebhookView[]> {
  return (await webhooks.list(workspaceId)).map(toWebhookView);
}

/** Returns one webhook. @throws LeadsError `not_found` */
export async function getWebhook(
  webhooks: Pick<WebhookStore, 'find'>,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  id: string,
): Promise<WebhookView> {
  return toWebhookView(await requireWebhook(webhooks, workspaceId, id));
}
