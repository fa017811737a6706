import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { checkWebhook } from './check-webhook.ts';
import { textOrNone } from './endpoint.ts';
import { requireWebhook, toWebhookView } from './webhook.ts';
import { requireSecrets, type WebhookSettings } from './webhook-settings.ts';
import type { WebhookStore } from './webhook-store.ts';
import type { WebhookChanges, WebhookView } from './webhook.schema.ts';

/**
 * Changes a webhook.
 *
 * @throws LeadsError `not_found`, `invalid_input`; `conflict` for headers without DELIVERIES_SECRET.
 */
export async function updateWebhook(
  webhooks: Pick<WebhookStore, 'find' | 'update' | 'findCampaigns'>,
  settings: WebhookSettings,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  id: string,
  { headers, campaignCodes, description, ...changes }: WebhookChanges,
): Promise<WebhookView> {
  await requireWebhook(webhooks, workspaceId, id);
  const campaignIds = await checkWebhook(webhooks, settings, workspaceId, {
    ...(changes.url !== undefined && { url: changes.url }),
    ...(headers !== undefined && { headers }),
    ...(campaignCodes !== undefined && { campaignCodes }),
  });
  const headerNames = headers && Object.keys(headers);
  const webhook = await webhooks.update(workspaceId, id, {
    ...changes,
    ...(description !== undefined && { description: textOrNone(description) ?? null }),
    campaignIds,
    headerNames,
    headers:
      headerNames === undefined
        ? undefined
        : headerNames.length === 0
          ? null
          : requireSecrets(settings).seal(JSON.stringify(headers), id),
  });
  if (webhook === undefined) throw new LeadsError('not_found');
  return toWebhookView(webhook);
}
