import type { PendingInvitationView } from '@leads/core/account';
import type { MemberCredentials, MemberRole } from '@leads/core/credential';
import type { MemberView } from '@leads/core/workspace';
import { queryOptions } from '@tanstack/react-query';
import { account } from './account.ts';
import { call } from './client.ts';
import { credentialsKey } from './credentials.ts';

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => call<MemberView[]>('/console/members', { signal }),
});

export const memberCredentialsQuery = queryOptions({
  queryKey: [...credentialsKey, 'members'],
  queryFn: ({ signal }) => call<MemberCredentials>('/console/members/credentials', { signal }),
});

/** Revokes an API key or an access token of any member. */
export function revokeMemberCredential(kind: 'access-tokens' | 'api-keys', id: string): Promise<unknown> {
  return call(`/console/members/${kind}/${id}`, { method: 'DELETE' });
}

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: ({ signal }) => call<PendingInvitationView[]>('/console/invitations', { signal }),
});

/* The account endpoints take the workspace from the request body, so the page passes its own workspace. */

export function changeRole(organizationId: string, memberId: string, role: MemberRole): Promise<unknown> {
  return account('/organization/update-member-role', { organizationId, memberId, role });
}

export function removeMember(organizationId: string, memberId: string): Promise<unknown> {
  return account('/organization/remove-member', { organizationId, memberIdOrEmail: memberId });
}

/** Invites a person. `mailed` is false if the person gets no mail and needs the link from the caller. */
export function inviteMember(
  organizationId: string,
  email: string,
  role: MemberRole,
): Promise<{ readonly mailed: boolean }> {
  return account('/organization/invite-member', { organizationId, email, role });
}

export function cancelInvitation(invitationId: string): Promise<unknown> {
  return account('/organization/cancel-invitation', { invitationId });
}

export function leaveWorkspace(organizationId: string): Promise<unknown> {
  return account('/organization/leave', { organizationId });
}

export function renameWorkspace(name: string): Promise<unknown> {
  return call('/console/workspace', { method: 'PATCH', body: { name } });
}
