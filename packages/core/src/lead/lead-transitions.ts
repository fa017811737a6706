import type { LeadStatus } from './lead-status.ts';

/* By itself, for the website too, which offers nothing that is refused. */

/** Where a lead may go from where it stands. The database holds its history to the same table. */
export const transitions: Readonly<Record<LeadStatus, readonly LeadStatus[]>> = {
  OnHold: ['Approved', 'Trashed'],
  Approved: ['Paid', 'OnHold', 'Trashed'],
  Trashed: ['OnHold'],
  Paid: ['Approved'],
};

/** Whether a change must be given a reason: into Trashed and out of Paid. */
export function needsReason(from: LeadStatus, to: LeadStatus): boolean {
  return to === 'Trashed' || from === 'Paid';
}
