import type { LeadFilterQuery, LeadStatus } from '@leads/core/lead';
import { neededBy, optionalSortFields, sorts } from '@leads/core/lead/sort-fields';
import { isTime, isUuid, termOf } from '../parameter-values.ts';
import { statuses } from './lead-status.ts';

/** The filters in the address of the list, with the names of the API. */
export type LeadFilters = Pick<LeadFilterQuery, (typeof filterNames)[number]>;

/** The search parameters of the address: the filters, the open lead and the saved view. */
export interface LeadSearch extends LeadFilters {
  readonly lead?: string;
  readonly view?: string;
}

export type LeadSort = NonNullable<LeadFilters['sort']>;

/** Filters to change. `undefined` removes a filter. */
export type FilterChanges = { readonly [Name in keyof LeadFilters]?: LeadFilters[Name] | undefined };

const filterNames = [
  'q',
  'status',
  'user',
  'campaignCode',
  'payment',
  'createdFrom',
  'createdTo',
  'updatedSince',
  'phone',
  's1',
  'lpName',
  'country',
  'source',
  'assignee',
  'callbackDue',
  'has',
  'sort',
] as const;

const oneOf = (values: readonly string[]) => (value: string) => values.includes(value);

/** The parameters that cannot have any text as their value. Only `status` can have several values. */
const checks: Readonly<Record<string, (value: string) => boolean>> = {
  status: oneOf(statuses),
  user: isUuid,
  payment: isUuid,
  createdFrom: isTime,
  createdTo: isTime,
  updatedSince: isTime,
  source: oneOf(['crm', 'intake']),
  assignee: (value) => value === 'me' || value === 'none' || isUuid(value),
  callbackDue: oneOf(['true']),
  has: oneOf(optionalSortFields),
  sort: oneOf(sorts),
  lead: isUuid,
};

/** Parses the search parameters of the address and drops unknown parameters and invalid values. */
export function readLeadSearch(search: Record<string, unknown>): LeadSearch {
  const found: Record<string, string> = {};
  for (const name of [...filterNames, 'lead', 'view']) {
    const value = termOf(search[name]);
    if (value === undefined) continue;
    const given = name === 'status' ? value.split(',') : [value];
    const kept = given.filter((each) => checks[name]?.(each) !== false);
    if (kept.length > 0) found[name] = [...new Set(kept)].join(',');
  }
  const read: LeadSearch = found;
  if (isSortable(read, read.sort)) return read;
  const { sort: _sort, ...others } = read;
  return others;
}

/** Whether filters select the leads that a sort order contains. */
function isSortable(
  { has, country, s1, lpName, assignee, callbackDue }: LeadFilters,
  sort: LeadFilters['sort'],
): boolean {
  const needed = neededBy(sort);
  const value = {
    country,
    s1,
    lpName,
    assignee: assignee === 'none' ? undefined : assignee,
    callbackAt: callbackDue,
  };
  return needed === undefined || needed === has || value[needed] !== undefined;
}

/** Returns the sort order of a list. Without a given one, it is the default of the API. */
export function sortOf({ sort, updatedSince }: LeadFilters): LeadSort {
  return sort ?? (updatedSince === undefined ? '-createdAt' : '-updatedAt');
}

/** Returns the changes of the filters for a sort order. The filter that only the last order needed goes with it. */
export function sortChanges({ has, sort: before, ...filters }: LeadFilters, sort: LeadSort): FilterChanges {
  const kept = has === neededBy(before) ? undefined : has;
  return {
    sort: sort === sortOf(filters) ? undefined : sort,
    has: isSortable({ ...filters, ...(kept !== undefined && { has: kept }) }, sort) ? kept : neededBy(sort),
  };
}

/** Returns the filters without the open lead and the view. */
export function filtersOf({ lead: _lead, view: _view, ...filters }: LeadSearch): LeadFilters {
  return filters;
}

/** Returns the number of filters, without search text and sort order. */
export function countFilters({ q: _q, sort: _sort, ...rest }: LeadFilters): number {
  return Object.values(rest).filter((value) => value !== undefined).length;
}

/** Returns the statuses of a filter. Empty if it has none. */
export function statusesOf({ status }: LeadFilters): readonly LeadStatus[] {
  return (status?.split(',') ?? []) as LeadStatus[];
}

/** A change that removes every filter and the order. */
export const emptyFilters = Object.fromEntries(filterNames.map((name) => [name, undefined])) as {
  readonly [Name in keyof LeadFilters]: undefined;
};

/** Returns whether two sets of filters are the same. */
export function isSame(a: object, b: object): boolean {
  const [one, two] = [a, b].map((filters) =>
    JSON.stringify(
      Object.entries(filters)
        .filter(([, value]) => value !== undefined)
        .toSorted(([x], [y]) => (x < y ? -1 : 1)),
    ),
  );
  return one === two;
}
