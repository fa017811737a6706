import { LeadsError } from '../errors.ts';
import { type EndpointMember, endpointsVisibleTo, stateView } from './endpoint.ts';
import type { PostbackView } from './postback.schema.ts';
import type { Postback, PostbackStore } from './postback-store.ts';

/** Returns the representation of a postback. */
export function toPostbackView(postback: Postback): PostbackView {
  return {
    ...postback,
    owner: postback.userId === undefined ? 'workspace' : 'user',
    statuses: [...postback.statuses],
    // Replaces the times by texts.
    ...stateView(postback),
  } as PostbackView;
}

/** @throws LeadsError `not_found` if there is no such visible postback. */
export async function requirePostback(
  postbacks: Pick<PostbackStore, 'find'>,
  member: EndpointMember,
  id: string,
): Promise<Postback> {
  const postback = await postbacks.find(endpointsVisibleTo(member), id);
  if (postback === undefined) throw new LeadsError('not_found');
  return postback;
}
