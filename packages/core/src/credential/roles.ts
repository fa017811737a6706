/* This file has no imports, so that the website can use it, too. */

/** The roles of members in a workspace. */
export const memberRoles = ['owner', 'manager', 'publisher'] as const;
export type MemberRole = (typeof memberRoles)[number];

const all = memberRoles;
const managers = ['owner', 'manager'] as const satisfies readonly MemberRole[];
const owners = ['owner'] as const satisfies readonly MemberRole[];

/** The permissions in a workspace, each with the roles that have it. */
export const rolesWith = {
  /** To use the workspace. A publisher sees and changes only its own leads, postbacks, views, keys and tokens. */
  member: all,

  /** To see the leads of all members, and their payouts, statements and payments. */
  readAllLeads: managers,
  /** To see the notes, the assignee, the call-back and the hold of a lead, and the users who have it open. */
  readInternals: managers,
  writeNotes: managers,
  /** To change the status, the hold and the payout of a lead. */
  changeStatuses: managers,
  /** To change a lead from Paid to another status. */
  changePaidLeads: owners,
  /** To set the assignee and the call-back of a lead. */
  assignLeads: managers,
  /** To be the assignee of a lead. */
  beAssignee: managers,
  /** To start, read and cancel jobs. */
  runJobs: managers,
  /** To undo the changes of a job or an assignment. */
  undoChanges: managers,
  /** To share views with the other members who have this permission. */
  shareViews: managers,

  manageCampaigns: managers,
  manageLandingPages: managers,
  manageStatusAliases: managers,
  /** To manage the webhooks and the postbacks of the workspace. */
  manageEndpoints: managers,

  /** To set the payouts of publishers. */
  managePayouts: managers,
  createPayments: managers,
  cancelPayments: owners,

  readMembers: managers,
  /** To invite and remove members, and to change their roles. */
  manageMembers: owners,
  /** To list and revoke the API keys and access tokens of all members, and to read the request logs of the keys. */
  manageCredentials: managers,
  renameWorkspace: owners,
  readAudit: owners,
} as const satisfies Readonly<Record<string, readonly MemberRole[]>>;

export type MemberPermission = keyof typeof rolesWith;

/** Returns whether a role has a permission. */
export function may(role: MemberRole, permission: MemberPermission): boolean {
  const roles: readonly MemberRole[] = rolesWith[permission];
  return roles.includes(role);
}
