import type { Mail } from '../account/mail.ts';
import { webAddress } from '../fields.ts';
import type { DeliveryNotice } from './delivery-notices.ts';

/**
 * Returns the mail to one member about endpoints of one workspace. Its subject contains no text of users. Its text has
 * no URLs and no hosts of receivers, because mail programs would turn them into links.
 *
 * @param publicUrl the origin of the website.
 */
export function noticeMail(notices: readonly [DeliveryNotice, ...DeliveryNotice[]], publicUrl: string): Mail {
  const [{ email, workspaceName }] = notices;
  const workspace = isPlain(workspaceName) ? `the workspace "${workspaceName}"` : 'a workspace of yours';
  const parts = notices.map(
    (notice) =>
      `${sentenceOf(notice)}\n\n${publicUrl}/w/${notice.workspaceSlug}/${notice.kind}s/${notice.endpointId}`,
  );
  return {
    to: email,
    subject: subjectOf(notices),
    text: `This mail is about ${workspace}.\n\n${parts.join('\n\n')}\n\nThe page shows the failed requests with their answers. Once the receiver works, it can send them again.\n`,
  };
}

function subjectOf([first, ...others]: readonly [DeliveryNotice, ...DeliveryNotice[]]): string {
  if (others.length > 0) return 'Webhooks or postbacks need your attention';
  return `A ${first.kind} ${first.disabledReason === undefined ? 'has failed for 24 hours' : 'was disabled'}`;
}

function sentenceOf({ kind, description, disabledReason, failingSince }: DeliveryNotice): string {
  const name =
    description !== undefined && isPlain(description) ? `The ${kind} "${description}"` : `A ${kind}`;
  if (disabledReason === 'receiver') {
    return `${name} was disabled: its receiver answered that it wants no more requests. New events are skipped.`;
  }
  if (disabledReason === 'failing') {
    return `${name} was disabled: no request has succeeded for 3 days. New events are skipped.`;
  }
  const since = failingSince?.toISOString().slice(0, 16).replace('T', ' ') ?? '';
  return `${name} fails: no request has succeeded since ${since} UTC. After 3 days, it is disabled.`;
}

const isPlain = (text: string) => !webAddress.test(text) && !/\p{Cc}/u.test(text);
