import { LeadsError } from '../errors.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import type { AccessTokenView, ApiKeyView, MemberCredentials } from './credential.schema.ts';
import type { CredentialStore } from './credential-store.ts';
import { viewAccessToken, viewApiKey } from './manage-credentials.ts';

/*
 * Operations of owners and managers on the API keys and access tokens of all members. Credentials of other workspaces are
 * `not_found`.
 */

/** Lists the credentials of all members of a workspace, newest first. */
export async function listMemberCredentials(
  { credentials, workspaces }: { credentials: CredentialStore; workspaces: WorkspaceStore },
  workspaceId: string,
): Promise<MemberCredentials> {
  const [members, apiKeys, accessTokens] = await Promise.all([
    workspaces.listMembers(workspaceId),
    credentials.listApiKeys(workspaceId),
    credentials.listAccessTokens(workspaceId),
  ]);
  const emails = new Map(members.map(({ user }) => [user.id, user.email]));
  const ownerOf = ({ userId }: { userId: string }) => ({ userId, userEmail: emails.get(userId) ?? '' });
  return {
    apiKeys: apiKeys.map((key) => Object.assign(viewApiKey(key), ownerOf(key))),
    accessTokens: accessTokens.map((token) => Object.assign(viewAccessToken(token), ownerOf(token))),
  };
}

/** Revokes an API key of any member. @throws LeadsError `not_found` */
export async function revokeMemberApiKey(
  store: CredentialStore,
  workspaceId: string,
  id: string,
): Promise<{ record: ApiKeyView; userId: string }> {
  const key = (await store.listApiKeys(workspaceId)).find((each) => each.id === id);
  const [revoked] = key === undefined ? [] : await store.revokeApiKey(workspaceId, id, new Date());
  if (revoked === undefined) throw new LeadsError('not_found');
  return { record: viewApiKey(revoked), userId: revoked.userId };
}

/** Revokes an access token of any member. @throws LeadsError `not_found` */
export async function revokeMemberAccessToken(
  store: CredentialStore,
  workspaceId: string,
  id: string,
): Promise<{ record: AccessTokenView; userId: string }> {
  const revoked = await store.revokeAccessToken(workspaceId, id, new Date());
  if (revoked === undefined) throw new LeadsError('not_found');
  return { record: viewAccessToken(revoked), userId: revoked.userId };
}
