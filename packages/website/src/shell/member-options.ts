import { may } from '@leads/core/credential/roles';
import type { MemberView } from '@leads/core/workspace';
import { common } from '../texts/index.ts';
import { withChosen } from './with-chosen.ts';

/** Returns the option of a select that has the user id of a member as its value. */
export const memberOption = ({ userId, name, email }: MemberView) => ({
  value: userId,
  label: `${name} (${email})`,
});

// A workspace has at least one owner, so an empty list is one that is not loaded yet.
const areLoaded = (members: readonly MemberView[]) => members.length > 0;

/** Returns the name of a user, or a part of the id as long as the members are not loaded. */
export function memberName(members: readonly MemberView[], userId: string): string {
  const member = members.find((each) => each.userId === userId);
  if (member !== undefined) return member.name;
  return areLoaded(members) ? common.formerMember(userId) : common.shortId(userId);
}

/** Returns the options of a select of members, also for a chosen user that is not loaded or has left the workspace. */
export const memberOptions = (members: readonly MemberView[], user: string | undefined) =>
  withChosenMembers(members.map(memberOption), [user], members);

/** Returns options with further ones for chosen users that are not among them. */
export const withChosenMembers = (
  options: readonly { readonly value: string; readonly label: string }[],
  chosen: readonly (string | undefined)[],
  members: readonly MemberView[],
) => withChosen(options, chosen, (id) => memberName(members, id));

/** Returns the members who can be the assignee of a lead: owners and managers. */
export const assignableMembers = (members: readonly MemberView[]) =>
  members.filter(({ role }) => may(role, 'beAssignee'));

/** Returns the options of a select for the assignee of a lead. */
export const assigneeOptions = (members: readonly MemberView[]) =>
  assignableMembers(members).map(({ userId, name }) => ({ value: userId, label: name }));
