import { type FieldError, LeadsError } from '../errors.ts';
import { DestinationError } from './destination.ts';
import type { WebhookSettings } from './webhook-settings.ts';
import type { WebhookStore } from './webhook-store.ts';
import { headerRules, type NewWebhook } from './webhook.schema.ts';

type Checked = Partial<Pick<NewWebhook, 'url' | 'headers' | 'campaignCodes'>>;

/**
 * Checks what the schema of a webhook cannot: the destination, the names of headers, and the campaigns.
 *
 * @returns the ids of the campaigns; undefined if none are given.
 * @throws LeadsError `invalid_input` that names every wrong field.
 */
export async function checkWebhook(
  webhooks: Pick<WebhookStore, 'findCampaigns'>,
  settings: Pick<WebhookSettings, 'destinations'>,
  workspaceId: string,
  { url, headers = {}, campaignCodes }: Checked,
): Promise<string[] | undefined> {
  const fields = faultsOfDestination(settings, { url, headerNames: Object.keys(headers) }, 'headers');
  const found = campaignCodes && (await webhooks.findCampaigns(workspaceId, campaignCodes));
  const unknown = campaignCodes?.findIndex((code) => found?.has(code) !== true) ?? -1;
  if (unknown !== -1) {
    fields.push({
      at: 'body',
      path: `/campaignCodes/${unknown}`,
      reason: 'must be the code of a campaign of the workspace',
    });
  }
  if (fields.length > 0) throw new LeadsError('invalid_input', { fields });
  return found && [...found.values()];
}

/** Returns the faults of a URL and of the names of headers. @param headersField the field that has the names. */
export function faultsOfDestination(
  { destinations }: Pick<WebhookSettings, 'destinations'>,
  { url, headerNames }: { readonly url?: string | undefined; readonly headerNames: readonly string[] },
  headersField: 'headers' | 'headerNames',
): FieldError[] {
  const fields: FieldError[] = [];
  // URL parsers remove these characters (URL Standard, 4.4), so events would go to another URL than the stored one.
  if (/[\t\n\r]/.test(url ?? '')) {
    fields.push({ at: 'body', path: '/url', reason: 'must not contain line breaks or tabs' });
  } else if (url !== undefined) {
    try {
      destinations.checkUrl(url);
    } catch (error) {
      if (!(error instanceof DestinationError)) throw error;
      fields.push({ at: 'body', path: '/url', reason: error.message });
    }
  }
  const reason = faultOfHeaders(headerNames);
  if (reason !== undefined) fields.push({ at: 'body', path: `/${headersField}`, reason });
  return fields;
}

function faultOfHeaders(names: readonly string[]): string | undefined {
  if (names.length > headerRules.max) return `must have ${headerRules.max} headers at most`;
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
    return 'must not name a header twice';
  }
  if (names.some((name) => !headerRules.name.test(name))) return 'must have valid header names';
  if (names.some((name) => headerRules.reserved.test(name))) {
    return 'must not set a header that every request has, or that concerns the connection';
  }
  return undefined;
}
