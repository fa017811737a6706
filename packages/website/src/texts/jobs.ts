import { leadsOf } from './count.ts';

const number = new Intl.NumberFormat('en');

/** The name of what a job did. */
const jobName = (status: string | undefined) =>
  status === undefined ? 'the assignment' : `the change to ${status}`;

/** The texts of changes of many leads in the background. */
export const jobs = {
  title: (status: string, count: number) => `Mark all ${leadsOf(count)} that match as ${status}?`,
  lead: 'The leads are changed in the background, also those that are not loaded. You can cancel and undo it. Leads that cannot have this status stay as they are.',
  progress: (status: string | undefined, changed: number, total: number | undefined, isUndo: boolean) => {
    const action = isUndo
      ? `Undoing ${jobName(status)}`
      : status === undefined
        ? 'Assigning leads'
        : `Marking leads as ${status}`;
    return total === undefined ? action : `${action}: ${number.format(changed)} of ${number.format(total)}`;
  },
  refused: (count: number) => `${leadsOf(count)} could not be changed`,
  ended: (status: string | undefined, changed: number, state: string, isUndo: boolean) => {
    const action = isUndo ? 'changed back' : status === undefined ? 'assigned' : `marked as ${status}`;
    if (state === 'done') return `${leadsOf(changed)} ${action}${isUndo ? ` from ${jobName(status)}` : ''}`;
    if (state === 'cancelled') return `Canceled after ${leadsOf(changed)} ${action}`;
    return `Stopped after ${leadsOf(changed)}, because its user or the assignee is no longer an owner or a manager`;
  },
  none: 'Changes of all leads that match a filter appear here for 30 days.',
  started: 'Started',
  user: 'By',
} as const;
