import type { FieldError } from '../errors.ts';
import { DestinationError } from './destination.ts';
import { parseBodyTemplate, type PostbackTemplates } from './postback-request.ts';
import { parsePostbackTemplate, type PostbackTemplate, PostbackTemplateError } from './postback-template.ts';
import type { WebhookSettings } from './webhook-settings.ts';
import type { PostbackStore } from './postback-store.ts';

/**
 * Checks the templates of a postback.
 *
 * @param isOfUser whether it is of a user. Its templates then must not have personal data.
 * @returns the wrong fields.
 */
export function faultsOfTemplates(
  { destinations }: Pick<WebhookSettings, 'destinations'>,
  { url, method, bodyFormat, body }: PostbackTemplates,
  isOfUser: boolean,
): FieldError[] {
  const fields: FieldError[] = [];
  const check = (path: string, parse: () => PostbackTemplate) => {
    try {
      const [personal] = parse().personalMacros;
      if (isOfUser && personal !== undefined) {
        const reason = `must not have {${personal}}: only postbacks of the workspace can send personal data`;
        fields.push({ at: 'body', path, reason });
      }
    } catch (error) {
      if (!(error instanceof PostbackTemplateError) && !(error instanceof DestinationError)) throw error;
      fields.push({ at: 'body', path, reason: error.message });
    }
  };
  check('/url', () => {
    const template = parsePostbackTemplate(url);
    destinations.checkUrl(template.render({}));
    return template;
  });
  if (body !== undefined && bodyFormat !== undefined) {
    check('/body', () => parseBodyTemplate(bodyFormat, body));
  }
  if ((body === undefined) !== (bodyFormat === undefined)) {
    fields.push({ at: 'body', path: '/bodyFormat', reason: 'must be given with a body, and not without' });
  }
  if (body !== undefined && method !== 'POST') {
    fields.push({ at: 'body', path: '/method', reason: 'must be POST for a request with a body' });
  }
  return fields;
}

/**
 * Finds the campaign of a postback.
 *
 * @returns the id of the campaign, undefined for all campaigns; and the wrong fields.
 */
export async function findCampaign(
  postbacks: Pick<PostbackStore, 'findCampaigns'>,
  workspaceId: string,
  campaignCode: string | undefined,
): Promise<{ readonly campaignId: string | undefined; readonly faults: readonly FieldError[] }> {
  if (campaignCode === undefined) return { campaignId: undefined, faults: [] };
  const campaignId = (await postbacks.findCampaigns(workspaceId, [campaignCode])).get(campaignCode);
  const reason = 'must be the code of a campaign of the workspace';
  return {
    campaignId,
    faults: campaignId === undefined ? [{ at: 'body', path: '/campaignCode', reason }] : [],
  };
}
