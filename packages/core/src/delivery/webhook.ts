import { LeadsError } from '../errors.ts';
import { stateView } from './endpoint.ts';
import type { Webhook, WebhookStore } from './webhook-store.ts';
import type { WebhookView } from './webhook.schema.ts';

/** Returns the representation of a webhook. */
export function toWebhookView(webhook: Webhook): WebhookView {
  const { description, previousSecretUntil } = webhook;
  const isRotating = previousSecretUntil !== undefined && previousSecretUntil.getTime() > Date.now();
  return {
    url: webhook.url,
    events: [...webhook.events],
    statuses: [...webhook.statuses],
    campaignCodes: [...webhook.campaignCodes],
    includesImports: webhook.includesImports,
    headerNames: [...webhook.headerNames],
    ...(description !== undefined && { description }),
    ...(isRotating && { previousSecretUntil: previousSecretUntil.toISOString() }),
    ...stateView(webhook),
  };
}

/** @throws LeadsError `not_found` if there is no such webhook. */
export async function requireWebhook(
  webhooks: Pick<WebhookStore, 'find'>,
  workspaceId: string,
  id: string,
): Promise<Webhook> {
  const webhook = await webhooks.find(workspaceId, id);
  if (webhook === undefined) throw new LeadsError('not_found');
  return webhook;
}
