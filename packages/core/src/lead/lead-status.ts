import { type Static, Type } from 'typebox';

/** The states of a lead (specification, section 3). */
export const LeadStatus = Type.Enum(['OnHold', 'Trashed', 'Paid', 'Approved'], {
  description: 'Where the lead stands. A new lead is OnHold.',
  examples: ['OnHold'],
});
export type LeadStatus = Static<typeof LeadStatus>;

/** The state every lead is created in. */
export const initialStatus: LeadStatus = 'OnHold';
