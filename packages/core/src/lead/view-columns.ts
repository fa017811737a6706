/* This file has no imports, so that the website can use it, too. */

/** The columns that a view of the lead list can have: fields of the specification's Lead (2.2), the payout, the hold time and the call-back. */
export const leadColumns = [
  'createdAt',
  'updatedAt',
  'name',
  'phone',
  'status',
  'campaign',
  'user',
  'payout',
  'approveAt',
  'callbackAt',
  'country',
  'region',
  'state',
  'address',
  'ip',
  'id',
] as const;
export type LeadColumn = (typeof leadColumns)[number];
