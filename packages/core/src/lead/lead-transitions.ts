/* This file has no imports, so that the website can use it, too. */

/** The statuses of a lead (specification, section 3). */
export const leadStatuses = ['OnHold', 'Trashed', 'Paid', 'Approved'] as const;
export type LeadStatus = (typeof leadStatuses)[number];

/** The statuses that can follow a status. The database enforces the same table. */
export const transitions: Readonly<Record<LeadStatus, readonly LeadStatus[]>> = {
  OnHold: ['Approved', 'Trashed'],
  Approved: ['Paid', 'OnHold', 'Trashed'],
  Trashed: ['OnHold'],
  Paid: ['Approved'],
};

/** Returns whether a status change requires a reason: to Trashed and from Paid. */
export function needsReason(from: LeadStatus, to: LeadStatus): boolean {
  return to === 'Trashed' || from === 'Paid';
}

/**
 * Returns the shortest sequence of changes from one status to another; `undefined` if there is none.
 *
 * @param nextOf returns the statuses that can follow a status.
 */
export function findTransitions(
  from: LeadStatus,
  to: LeadStatus,
  nextOf: (status: LeadStatus) => readonly LeadStatus[] = (status) => transitions[status],
): readonly LeadStatus[] | undefined {
  let ways: (readonly LeadStatus[])[] = [[]];
  for (let steps = 0; steps < leadStatuses.length; steps++) {
    const found = ways.find((way) => (way.at(-1) ?? from) === to);
    if (found !== undefined) return found;
    ways = ways.flatMap((way) => nextOf(way.at(-1) ?? from).map((next) => way.concat(next)));
  }
  return undefined;
}
