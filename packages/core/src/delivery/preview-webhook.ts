import type { LeadEvent } from '../event/lead-event.schema.ts';
import { LeadsError } from '../errors.ts';
import { faultsOfDestination } from './check-webhook.ts';
import { webhookMessageId } from './message-id.ts';
import { fixedWebhookHeaders, signatureTime } from './webhook-signature.ts';
import type { WebhookSettings } from './webhook-settings.ts';
import type { WebhookPreview, WebhookRequest } from './webhook.schema.ts';

/**
 * Returns the request of a webhook for the newest event of a lead, without a signature.
 *
 * @param readEvent returns the event of the current version of a lead. @throws LeadsError `not_found`
 * @throws LeadsError `invalid_input` that names every wrong field; `not_found` for a lead that the caller cannot see.
 */
export async function previewWebhook(
  readEvent: (leadId: string) => Promise<LeadEvent>,
  settings: Pick<WebhookSettings, 'destinations'>,
  { url, headerNames = [], leadId }: WebhookPreview,
): Promise<WebhookRequest> {
  const fields = faultsOfDestination(settings, { url, headerNames }, 'headerNames');
  if (fields.length > 0) throw new LeadsError('invalid_input', { fields });
  const event = await readEvent(leadId);
  return {
    method: 'POST',
    url,
    headers: {
      ...Object.fromEntries(headerNames.map((name) => [name, '(hidden)'])),
      ...fixedWebhookHeaders,
      'webhook-id': webhookMessageId({ id: event.id, leadId, version: event.data.lead.version }),
      'webhook-timestamp': signatureTime(new Date()),
      'webhook-signature': 'v1,(signature)',
    },
    body: JSON.stringify(event),
  };
}
