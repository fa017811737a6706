import { leadsOf } from './count.ts';

/** The texts of the dialogs of a change of status. */
export const statusDialogs = {
  refusedTitle: (count: number) => `${leadsOf(count)} could not be changed`,
  finalTitle: (status: string) => `Mark as ${status}?`,
  finalLead: (count: number) =>
    `Only an owner can move ${count === 1 ? 'a lead' : 'leads'} out of Paid again. This changes ${leadsOf(count)}.`,
  confirm: 'Mark as paid',
  reasonTitle: (status: string, count: number) => `Why mark ${leadsOf(count)} as ${status}?`,
  ownReason: 'Or write your own reason',
  reasons: {
    trash: [
      'Number is not in service',
      'Wrong number',
      'Not interested',
      'Cannot be reached',
      'Duplicate',
      'Spam or test',
    ],
    unpay: ['Marked by mistake', 'Payment was reversed', 'Amount was disputed'],
  },
  reasonNeeded: 'Choose a reason or write one',
} as const;
