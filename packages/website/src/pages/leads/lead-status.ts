import type { Lead, LeadStatus } from '@leads/core/lead';
import { transitions } from '@leads/core/lead/transitions';
import type { MemberRole } from '@leads/core/credential';

/** The order of the statuses on every page. */
export const statuses = ['OnHold', 'Approved', 'Paid', 'Trashed'] as const satisfies readonly LeadStatus[];

/** The keyboard shortcuts for status changes. */
export const statusKeys: Readonly<Record<string, LeadStatus>> = {
  a: 'Approved',
  t: 'Trashed',
  p: 'Paid',
  h: 'OnHold',
};

/** Returns the statuses to which a role can change a lead. */
export function nextStatuses(from: LeadStatus, role: MemberRole): readonly LeadStatus[] {
  if (role === 'publisher' || (from === 'Paid' && role !== 'owner')) return [];
  return transitions[from];
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

/** Returns the shortest sequence of changes from one status to another, or `undefined` if the role has none. */
export function findTransitions(
  from: LeadStatus,
  to: LeadStatus,
  role: MemberRole,
): readonly LeadStatus[] | undefined {
  let ways: (readonly LeadStatus[])[] = [[]];
  for (let steps = 0; steps < statuses.length; steps++) {
    const found = ways.find((way) => (way.at(-1) ?? from) === to);
    if (found !== undefined) return found;
    ways = ways.flatMap((way) => nextStatuses(way.at(-1) ?? from, role).map((next) => way.concat(next)));
  }
  return undefined;
}
