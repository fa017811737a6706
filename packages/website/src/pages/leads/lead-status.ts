import type { Lead, LeadStatus } from '@leads/core/lead';
import { transitions } from '@leads/core/lead/transitions';
import type { MemberRole } from '@leads/core/credential';

export const statuses: readonly LeadStatus[] = ['OnHold', 'Approved', 'Paid', 'Trashed'];

export const statusColors = { OnHold: 'yellow', Approved: 'blue', Paid: 'green', Trashed: 'gray' } as const;

/** The key that takes a lead to a status. */
export const statusKeys: Readonly<Record<string, LeadStatus>> = {
  a: 'Approved',
  t: 'Trashed',
  p: 'Paid',
  h: 'OnHold',
};

/** Where a lead may be taken from where it stands. */
export function nextStatuses(from: LeadStatus, role: MemberRole): readonly LeadStatus[] {
  if (role === 'publisher' || (from === 'Paid' && role !== 'owner')) return [];
  return transitions[from];
}

/** Where all of these may be taken. */
export function commonStatuses(leads: readonly Lead[], role: MemberRole): readonly LeadStatus[] {
  if (leads.length === 0) return [];
  const from = new Set(leads.map(statusOf));
  return statuses.filter((to) => [...from].every((status) => nextStatuses(status, role).includes(to)));
}

/** The specification has a lead without a status; the service knows none. */
export function statusOf({ status }: Lead): LeadStatus {
  return status ?? 'OnHold';
}

/** The shortest way back, step by step; `undefined` where there is none for the role. */
export function wayBack(
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
