import type { Lead, LeadStatus } from '@leads/core/lead';
import { findTransitions, transitions } from '@leads/core/lead/transitions';
import { type MemberRole, may } from '@leads/core/credential/roles';

/** The order of the statuses on every page. */
export const statuses = ['OnHold', 'Approved', 'Paid', 'Trashed'] as const satisfies readonly LeadStatus[];

/** Returns chosen statuses in the order of all pages. */
export const inOrder = (chosen: readonly LeadStatus[]): LeadStatus[] =>
  statuses.filter((status) => chosen.includes(status));

/** The keyboard shortcuts for status changes. */
export const statusKeys: Readonly<Record<string, LeadStatus>> = {
  a: 'Approved',
  t: 'Trashed',
  p: 'Paid',
  h: 'OnHold',
};

/** Returns the key that changes a lead to a status. */
export const statusKeyOf = (status: LeadStatus): string | undefined =>
  Object.keys(statusKeys).find((key) => statusKeys[key] === status);

/** Returns the statuses to which a role can change a lead. */
export function nextStatuses(from: LeadStatus, role: MemberRole): readonly LeadStatus[] {
  if (!may(role, from === 'Paid' ? 'changePaidLeads' : 'changeStatuses')) return [];
  return inOrder(transitions[from]);
}

/** Returns the statuses to which a role can change all of these leads. */
export function commonStatuses(leads: readonly Lead[], role: MemberRole): readonly LeadStatus[] {
  if (leads.length === 0) return [];
  const from = new Set(leads.map(statusOf));
  return statuses.filter((to) => [...from].every((status) => nextStatuses(status, role).includes(to)));
}

/** Returns the status of a lead. The specification makes it optional, but the service always sends it. */
export function statusOf({ status }: Lead): LeadStatus {
  return status ?? 'OnHold';
}

/** Returns the shortest sequence of changes by a role from one status to another, or `undefined` if there is none. */
export function findTransitionsOf(
  role: MemberRole,
  from: LeadStatus,
  to: LeadStatus,
): readonly LeadStatus[] | undefined {
  return findTransitions(from, to, (status) => nextStatuses(status, role));
}
