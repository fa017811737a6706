import { leads } from '../../texts/leads.ts';
import { statuses } from '../../leads/lead-status.ts';

/** The statuses as the options of a select. */
export const statusOptions = statuses.map((value) => ({ value, label: leads.statuses[value] }));
