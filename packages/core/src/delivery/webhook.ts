import { LeadsError } from '../errors.ts';
import { webhookMessageId } from './message-id.ts';
import type { DeliveryView } from './delivery.schema.ts';
import type { PostbackDeliveryView } from './postback.schema.ts';
import type { Delivery, EndpointState, Webhook } from './webhook-store.ts';
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

/** Returns the representation of the state of a webhook or a postback. */
export function stateView(state: EndpointState) {
  const { id, disabledAt, disabledReason, failures, failingSince, lastSuccessAt, createdAt, updatedAt } =
    state;
  return {
    id,
    enabled: disabledAt === undefined,
    ...(disabledReason !== undefined && { disabledReason }),
    ...(disabledAt !== undefined && { disabledAt: disabledAt.toISOString() }),
    failures,
    ...(failingSince !== undefined && { failingSince: failingSince.toISOString() }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt: lastSuccessAt.toISOString() }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Returns the representation of a delivery. */
export function toDeliveryView(delivery: Delivery): DeliveryView {
  // Only deliveries to postbacks have the other states.
  return viewOf(delivery) as DeliveryView;
}

function viewOf(delivery: Delivery) {
  const { type, nextAttemptAt, lastAttemptAt, createdAt, ...shown } = delivery;
  const { id, webhookId, state, attempts, ...optional } = shown;
  const given = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    id,
    webhookId,
    messageId: webhookMessageId(delivery),
    event: type,
    state,
    attempts,
    ...(Object.fromEntries(given) as Partial<DeliveryView>),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: nextAttemptAt.toISOString() }),
    ...(lastAttemptAt !== undefined && { lastAttemptAt: lastAttemptAt.toISOString() }),
    createdAt: createdAt.toISOString(),
  };
}

/** Returns the representation of a delivery to a postback. */
export function toPostbackDeliveryView(delivery: Delivery): PostbackDeliveryView {
  const { webhookId: postbackId, messageId: _messageId, ...shown } = viewOf(delivery);
  return { ...shown, postbackId };
}

/** @throws LeadsError `not_found` if there is no such webhook or postback. */
export async function requireWebhook<Found>(
  webhooks: { find(workspaceId: string, id: string): Promise<Found | undefined> },
  workspaceId: string,
  id: string,
): Promise<Found> {
  const webhook = await webhooks.find(workspaceId, id);
  if (webhook === undefined) throw new LeadsError('not_found');
  return webhook;
}
