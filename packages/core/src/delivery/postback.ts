import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import type { PostbackView } from './postback.schema.ts';
import type { Postback, PostbackScope } from './postback-store.ts';
import { stateView } from './webhook.ts';

/** Returns the representation of a postback. */
export function toPostbackView(postback: Postback): PostbackView {
  const { userId, ...shown } = postback;
  return {
    ...shown,
    owner: userId === undefined ? 'workspace' : 'user',
    statuses: [...shown.statuses],
    // Replaces the times by texts.
    ...stateView(postback),
  } as PostbackView;
}

/** The member that manages postbacks. */
export type PostbackMember = Pick<Principal, 'workspaceId' | 'userId' | 'role'>;

/** Returns the visible postbacks: those of the member, and for owners and managers also those of the workspace. */
export function postbacksVisibleTo({ workspaceId, userId, role }: PostbackMember): PostbackScope {
  return { workspaceId, userId, isManager: role !== 'publisher' };
}

/** @throws LeadsError `not_found` if there is no such visible postback. */
export async function requirePostback(
  postbacks: { find(scope: PostbackScope, id: string): Promise<Postback | undefined> },
  member: PostbackMember,
  id: string,
): Promise<Postback> {
  const postback = await postbacks.find(postbacksVisibleTo(member), id);
  if (postback === undefined) throw new LeadsError('not_found');
  return postback;
}
