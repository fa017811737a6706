/* This file has no imports, so that the website can use it, too. */

/** The columns that a view of the lead list can have: fields of the specification's Lead (2.2), and those that `LeadColumnValues` has. */
export const leadColumns = [
  'createdAt',
  'updatedAt',
  'name',
  'phone',
  'status',
  'campaign',
  'user',
  'assignee',
  'payout',
  'approveAt',
  'callbackAt',
  's1',
  'lpName',
  'source',
  'email',
  'city',
  'country',
  'region',
  'state',
  'address',
  'ip',
  'id',
] as const;
export type LeadColumn = (typeof leadColumns)[number];
