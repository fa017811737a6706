import { type FieldError, LeadsError } from '../errors.ts';
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
 * Checks what the schema of a postback cannot: its templates, if they are given, and its campaign.
 *
 * @returns the id of the campaign; undefined for all campaigns.
 * @throws LeadsError `invalid_input` that names every wrong field.
 */
export async function checkPostback(
  postbacks: Pick<PostbackStore, 'findCampaigns'>,
  settings: Pick<WebhookSettings, 'destinations'>,
  workspaceId: string,
  {
    campaignCode,
    templates,
  }: { readonly campaignCode?: string | undefined; readonly templates?: PostbackTemplates },
  isOfUser: boolean,
): Promise<string | undefined> {
  const fields = templates === undefined ? [] : faultsOfTemplates(settings, templates, isOfUser);
  const campaignId =
    campaignCode === undefined
      ? undefined
      : (await postbacks.findCampaigns(workspaceId, [campaignCode])).get(campaignCode);
  if (campaignCode !== undefined && campaignId === undefined) {
    const reason = 'must be the code of a campaign of the workspace';
    fields.push({ at: 'body', path: '/campaignCode', reason });
  }
  if (fields.length > 0) throw new LeadsError('invalid_input', { fields });
  return campaignId;
}
