/* This file has no imports, so that the website can use it, too. */

/**
 * The fields that leads can be sorted by: those that an index of each workspace has in order. Another field would read
 * all leads of the workspace for one page.
 */
export const sortFields = [
  'createdAt',
  'updatedAt',
  'status',
  'source',
  'campaign',
  'user',
  'country',
  's1',
  'lpName',
  'assignee',
  'callbackAt',
] as const;
export type SortField = (typeof sortFields)[number];

/** The sort orders: each field, with `-` for the opposite direction. */
export const sorts = sortFields.flatMap((field) => [field, `-${field}`] as const);
export type Sort = (typeof sorts)[number];

/**
 * The fields that a lead can be without. Their indexes have only leads with a value. A list in their order therefore has
 * a filter that selects these leads.
 */
export const optionalSortFields = [
  'country',
  's1',
  'lpName',
  'assignee',
  'callbackAt',
] as const satisfies readonly SortField[];
export type OptionalSortField = (typeof optionalSortFields)[number];

/** The fields that publishers do not see. */
const internalSortFields: ReadonlySet<SortField> = new Set(['assignee', 'callbackAt']);

/** Returns whether publishers cannot use a field, as an order or in `has`. */
export const isInternal = (field: SortField): boolean => internalSortFields.has(field);

/** Returns whether the ascending order has the newest lead of a value first, as its index does. */
export const isNewestFirst = (field: SortField): boolean => field === 's1' || field === 'lpName';

/** Returns the field of a sort order. */
export const fieldOf = (sort: Sort): SortField => (sort.startsWith('-') ? sort.slice(1) : sort) as SortField;

/** Returns the field that the leads of a list in a sort order need a value in. */
export function neededBy(sort: Sort | undefined): OptionalSortField | undefined {
  return optionalSortFields.find((field) => sort !== undefined && fieldOf(sort) === field);
}
