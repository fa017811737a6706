import { type Static, Type } from 'typebox';
import type { MemberRole } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { needsReason, transitions } from './lead-transitions.ts';

/** The states of a lead (specification, section 3). */
export const LeadStatus = Type.Enum(['OnHold', 'Trashed', 'Paid', 'Approved'], {
  description: 'Where the lead stands. A new lead is OnHold.',
  examples: ['OnHold'],
});
export type LeadStatus = Static<typeof LeadStatus>;

/** The state every lead is created in, unless it is a duplicate. */
export const initialStatus: LeadStatus = 'OnHold';

/** What a duplicate is created as, and why. */
export const duplicateStatus: LeadStatus = 'Trashed';
export const duplicateReason = 'duplicate';

/**
 * Holds a change of status to the rules.
 *
 * @throws LeadsError `conflict` for a transition that is not in the table, naming both states; `forbidden` for
 *   Paid to Approved by anyone but an owner; `reason_required`.
 */
export function checkTransition(
  from: LeadStatus,
  to: LeadStatus,
  { role, reason }: { role: MemberRole; reason?: string | undefined },
): void {
  if (!transitions[from].includes(to)) {
    throw new LeadsError('conflict', {
      message: `A lead cannot go from ${from} to ${to}`,
      fields: [
        { at: 'body', path: '/status', reason: `must be ${transitions[from].join(' or ')} from ${from}` },
      ],
    });
  }
  if (from === 'Paid' && role !== 'owner') {
    throw new LeadsError('forbidden', { message: `Only an owner may take a lead from ${from} to ${to}` });
  }
  if (reason === undefined && needsReason(from, to)) {
    throw new LeadsError('reason_required', {
      fields: [{ at: 'body', path: '/reason', reason: `is required from ${from} to ${to}` }],
    });
  }
}
