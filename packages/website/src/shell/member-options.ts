import type { MemberView } from '@leads/core/workspace';

/** Returns the option of a select that has the user id of a member as its value. */
export const memberOption = ({ userId, name, email }: MemberView) => ({
  value: userId,
  label: `${name} (${email})`,
});

/** Returns the members who can be the assignee of a lead: owners and managers. */
export const assignableMembers = (members: readonly MemberView[]) =>
  members.filter(({ role }) => role !== 'publisher');

/** Returns the options of a select for the assignee of a lead. */
export const assigneeOptions = (members: readonly MemberView[]) =>
  assignableMembers(members).map(({ userId, name }) => ({ value: userId, label: name }));
