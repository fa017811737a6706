import type { Principal } from '../credential/principal.ts';
import { newId } from '../uuid.ts';
import { checkWebhook } from './check-webhook.ts';
import { textOrNone } from './endpoint.ts';
import { toWebhookView } from './webhook.ts';
import { createWebhookSecret } from './webhook-signature.ts';
import { requireSecrets, type WebhookSettings } from './webhook-settings.ts';
import type { WebhookStore } from './webhook-store.ts';
import type { NewWebhook, WebhookView } from './webhook.schema.ts';

/**
 * Creates an enabled webhook with a new secret.
 *
 * @throws LeadsError `invalid_input`, `limit_reached`; `conflict` without DELIVERIES_SECRET.
 */
export async function createWebhook(
  webhooks: Pick<WebhookStore, 'create' | 'findCampaigns'>,
  settings: WebhookSettings,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  { headers = {}, campaignCodes = [], ...body }: NewWebhook,
): Promise<{ webhook: WebhookView; secret: string }> {
  const secrets = requireSecrets(settings);
  const campaignIds = await checkWebhook(webhooks, settings, workspaceId, {
    url: body.url,
    headers,
    campaignCodes,
  });
  const id = newId();
  const secret = createWebhookSecret();
  const headerNames = Object.keys(headers);
  const webhook = await webhooks.create(workspaceId, {
    id,
    url: body.url,
    description: textOrNone(body.description),
    events: body.events,
    statuses: body.statuses ?? [],
    campaignIds: campaignIds ?? [],
    includesImports: body.includesImports ?? false,
    headerNames,
    headers: headerNames.length === 0 ? undefined : secrets.seal(JSON.stringify(headers), id),
    secret: secrets.seal(secret, id),
  });
  return { webhook: toWebhookView(webhook), secret };
}
