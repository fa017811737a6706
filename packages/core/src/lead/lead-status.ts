import { type Static, Type } from 'typebox';
import { type MemberRole, may } from '../credential/roles.ts';
import { LeadsError } from '../errors.ts';
import { leadStatuses, needsReason, transitions } from './lead-transitions.ts';

/** The status of a lead (specification, section 3). */
export const LeadStatus = Type.Enum(leadStatuses, {
  description: 'Status of the lead. A new lead has the status OnHold.',
  examples: ['OnHold'],
});
export type LeadStatus = Static<typeof LeadStatus>;

/** The reason for a status change. */
export const StatusReason = Type.String({
  minLength: 1,
  maxLength: 1000,
  description:
    'Reason for the change. Required for a change to Trashed or from Paid, and for a change of the payout.',
  examples: ['Number is not in service'],
});

/** The status of a new lead that is not a duplicate. */
export const initialStatus: LeadStatus = 'OnHold';

/** The status of a new duplicate, and the reason in its history. */
export const duplicateStatus: LeadStatus = 'Trashed';
export const duplicateReason = 'duplicate';

/**
 * Checks a status change.
 *
 * @throws LeadsError `conflict` for a transition that is not in the table, with both statuses in the message;
 *   `forbidden` for Paid to Approved unless the role is owner; `reason_required`.
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
  if (from === 'Paid' && !may(role, 'changePaidLeads')) {
    throw new LeadsError('forbidden', { message: `Only an owner may take a lead from ${from} to ${to}` });
  }
  if (reason === undefined && needsReason(from, to)) {
    throw new LeadsError('reason_required', {
      fields: [{ at: 'body', path: '/reason', reason: `is required from ${from} to ${to}` }],
    });
  }
}

const changeableStatuses = new Map<string, readonly LeadStatus[]>();

/** Returns the statuses from which {@link checkTransition} accepts a change. */
export function statusesBefore(
  to: LeadStatus,
  by: { role: MemberRole; reason?: string | undefined },
): readonly LeadStatus[] {
  const key = `${to} ${by.role} ${by.reason === undefined}`;
  let found = changeableStatuses.get(key);
  if (found === undefined) {
    found = leadStatuses.filter((from) => {
      try {
        checkTransition(from, to, by);
        return true;
      } catch {
        return false;
      }
    });
    changeableStatuses.set(key, found);
  }
  return found;
}
