import { may } from '../credential/roles.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { shownEvent } from '../event/lead-event.ts';
import { type FieldError, LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import { faultsOfTemplates, findCampaign } from './check-postback.ts';
import { type EndpointMember, endpointsVisibleTo, textOrNone } from './endpoint.ts';
import { requirePostback, toPostbackView } from './postback.ts';
import { type PostbackRequest, postbackValuesOf, renderPostback } from './postback-request.ts';
import type { NewPostback, PostbackChanges, PostbackPreview, PostbackView } from './postback.schema.ts';
import type { PostbackStore } from './postback-store.ts';
import { requireSecrets, type WebhookSettings } from './webhook-settings.ts';

const templateNames = ['url', 'method', 'bodyFormat', 'body'] as const;

/** @throws LeadsError `forbidden` for a publisher that asks for a postback of the workspace. */
function isOfUser({ role }: EndpointMember, owner: NewPostback['owner']): boolean {
  const managesEndpoints = may(role, 'manageEndpoints');
  if (owner === 'workspace' && !managesEndpoints) throw new LeadsError('forbidden');
  return (owner ?? (managesEndpoints ? 'workspace' : 'user')) === 'user';
}

/** @throws LeadsError `invalid_input` that names the wrong fields, if there are any. */
function requireValid(fields: readonly FieldError[]): void {
  if (fields.length > 0) throw new LeadsError('invalid_input', { fields });
}

/**
 * Creates an enabled postback.
 *
 * @throws LeadsError `invalid_input`, `limit_reached`; `conflict` without DELIVERIES_SECRET; `forbidden` for a publisher
 *   that asks for a postback of the workspace.
 */
export async function createPostback(
  postbacks: Pick<PostbackStore, 'create' | 'findCampaigns'>,
  settings: WebhookSettings,
  member: EndpointMember,
  { owner, campaignCode, answerContains, body, description, ...given }: NewPostback,
): Promise<PostbackView> {
  const ofUser = isOfUser(member, owner);
  requireSecrets(settings, 'Postbacks');
  const templates = {
    url: given.url,
    method: given.method ?? 'GET',
    bodyFormat: given.bodyFormat,
    body: textOrNone(body),
  };
  const { workspaceId, userId } = member;
  const { campaignId, faults } = await findCampaign(postbacks, workspaceId, textOrNone(campaignCode));
  requireValid([...faultsOfTemplates(settings, templates, ofUser), ...faults]);
  const created = await postbacks.create(workspaceId, {
    ...templates,
    id: newId(),
    userId: ofUser ? userId : undefined,
    campaignId,
    statuses: given.statuses ?? ['Approved'],
    includesImports: given.includesImports ?? false,
    sendsWithoutS1: given.sendsWithoutS1 ?? false,
    answerContains: textOrNone(answerContains),
    description: textOrNone(description),
  });
  return toPostbackView(created);
}

/** Changes a postback. @throws LeadsError `not_found`, `invalid_input` */
export async function updatePostback(
  postbacks: Pick<PostbackStore, 'update' | 'findCampaigns'>,
  settings: WebhookSettings,
  member: EndpointMember,
  id: string,
  { enabled, campaignCode, ...changes }: PostbackChanges,
): Promise<PostbackView> {
  const { workspaceId } = member;
  const { campaignId = null, faults } = await findCampaign(postbacks, workspaceId, textOrNone(campaignCode));
  // Otherwise a postback whose destination is not allowed any more could not be disabled.
  const changesTemplates = templateNames.some((name) => changes[name] !== undefined);
  const postback = await postbacks.update(endpointsVisibleTo(member), id, (found) => {
    const changed = { ...found, ...changes };
    const templates = {
      url: changed.url,
      method: changed.method,
      // A removed body has no format.
      bodyFormat: changes.body === '' ? undefined : changed.bodyFormat,
      body: textOrNone(changed.body),
    };
    const ofUser = found.userId !== undefined;
    requireValid([...(changesTemplates ? faultsOfTemplates(settings, templates, ofUser) : []), ...faults]);
    return {
      ...templates,
      campaignId: campaignCode === undefined ? undefined : campaignId,
      enabled,
      statuses: changed.statuses,
      includesImports: changed.includesImports,
      sendsWithoutS1: changed.sendsWithoutS1,
      answerContains: textOrNone(changed.answerContains),
      description: textOrNone(changed.description),
    };
  });
  if (postback === undefined) throw new LeadsError('not_found');
  return toPostbackView(postback);
}

/** Lists the postbacks that the member can see, oldest first. */
export async function listPostbacks(
  postbacks: Pick<PostbackStore, 'list'>,
  member: EndpointMember,
): Promise<PostbackView[]> {
  return (await postbacks.list(endpointsVisibleTo(member))).map(toPostbackView);
}

/** Returns one postback. @throws LeadsError `not_found` */
export async function getPostback(
  postbacks: Pick<PostbackStore, 'find'>,
  member: EndpointMember,
  id: string,
): Promise<PostbackView> {
  return toPostbackView(await requirePostback(postbacks, member, id));
}

/** Deletes a postback and its deliveries. @throws LeadsError `not_found` */
export async function deletePostback(
  postbacks: Pick<PostbackStore, 'remove'>,
  member: EndpointMember,
  id: string,
): Promise<PostbackView> {
  const postback = await postbacks.remove(endpointsVisibleTo(member), id);
  if (postback === undefined) throw new LeadsError('not_found');
  return toPostbackView(postback);
}

/**
 * Renders templates with a lead.
 *
 * @param readEvent returns the event of the current version of a lead. @throws LeadsError `not_found`
 * @throws LeadsError `invalid_input` that names every wrong field; `not_found` for a lead that the member cannot see;
 *   `forbidden` for a publisher that asks for a postback of the workspace.
 */
export async function previewPostback(
  readEvent: (leadId: string) => Promise<LeadEvent>,
  settings: Pick<WebhookSettings, 'destinations'>,
  member: EndpointMember,
  { url, method = 'GET', bodyFormat, body, owner, leadId }: PostbackPreview,
): Promise<PostbackRequest> {
  const templates = { url, method, bodyFormat, body: textOrNone(body) };
  requireValid(faultsOfTemplates(settings, templates, isOfUser(member, owner)));
  const event = await readEvent(leadId);
  const values = postbackValuesOf(event);
  const { reason: _reason, ...withoutReason } = values;
  // The reason of a change that the member does not see is not shown either.
  return renderPostback(templates, shownEvent(event, member) === undefined ? withoutReason : values);
}
