import type { LeadFilterQuery, LeadStatus } from '@leads/core/lead';
import { statuses } from './lead-status.ts';

/** The filters in the address of the list, with the names of the API. */
export type LeadFilters = Pick<LeadFilterQuery, (typeof filterNames)[number]>;

/** The search parameters of the address: the filters, the open lead and the saved view. */
export interface LeadSearch extends LeadFilters {
  readonly lead?: string;
  readonly view?: string;
}

export type LeadSort = NonNullable<LeadFilters['sort']>;

const filterNames = [
  'q',
  'status',
  'user',
  'campaignCode',
  'createdFrom',
  'createdTo',
  'phone',
  's1',
  'lpName',
  'country',
  'source',
  'assignee',
  'callbackDue',
  'sort',
] as const;

/** The parameters with a fixed set of values. Any other value is ignored. Only `status` can have several values. */
const choices: Readonly<Record<string, readonly string[]>> = {
  status: statuses,
  source: ['crm', 'intake'],
  callbackDue: ['true'],
  sort: ['-createdAt', 'createdAt', '-updatedAt', 'updatedAt'],
};

/** Parses the search parameters of the address and drops unknown ones. */
export function readLeadSearch(search: Record<string, unknown>): LeadSearch {
  const found: Record<string, string> = {};
  for (const name of [...filterNames, 'lead', 'view']) {
    const value = search[name];
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const text = String(value).slice(0, 255);
    const given = name === 'status' ? text.split(',') : [text];
    const kept = given.filter((each) => each !== '' && choices[name]?.includes(each) !== false);
    if (kept.length > 0) found[name] = [...new Set(kept)].join(',');
  }
  return found;
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
