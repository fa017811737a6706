import { may } from '@leads/core/credential/roles';
import type { MemberView } from '@leads/core/workspace';
import { common } from '../texts/index.ts';

/** Returns the option of a select that has the user id of a member as its value. */
export const memberOption = ({ userId, name, email }: MemberView) => ({
  value: userId,
  label: `${name} (${email})`,
});

/** Returns the options of a select of members, also for a chosen user that has left the workspace. */
export function memberOptions(members: readonly MemberView[], user: string | undefined) {
  const options = members.map(memberOption);
  // A workspace has an owner at least, so the members are not loaded yet if there are none.
  const isLoaded = members.length > 0;
  if (user === undefined || !isLoaded || members.some(({ userId }) => userId === user)) return options;
  return [...options, { value: user, label: common.formerMember(user) }];
}

/** Returns the members who can be the assignee of a lead: owners and managers. */
export const assignableMembers = (members: readonly MemberView[]) =>
  members.filter(({ role }) => may(role, 'beAssignee'));

/** Returns the options of a select for the assignee of a lead. */
export const assigneeOptions = (members: readonly MemberView[]) =>
  assignableMembers(members).map(({ userId, name }) => ({ value: userId, label: name }));
