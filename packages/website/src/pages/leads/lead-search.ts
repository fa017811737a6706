import type { LeadFilterQuery } from '@leads/core/lead';

/** The filters in the address of the list, with the names of the API. */
export type LeadFilters = Pick<LeadFilterQuery, (typeof filterNames)[number]>;

/** The search parameters of the address: the filters and the open lead. */
export interface LeadSearch extends LeadFilters {
  readonly lead?: string;
}

export type LeadSort = NonNullable<LeadFilters['sort']>;

const filterNames = [
  'q',
  'status',
  'campaignCode',
  'createdFrom',
  'createdTo',
  'phone',
  's1',
  'lpName',
  'source',
  'sort',
] as const;

/** The parameters with a fixed set of values. Any other value is ignored. */
const choices: Readonly<Record<string, readonly string[]>> = {
  status: ['OnHold', 'Approved', 'Paid', 'Trashed'],
  source: ['crm', 'intake'],
  sort: ['-createdAt', 'createdAt', '-updatedAt', 'updatedAt'],
};

/** Parses the search parameters of the address and drops unknown ones. */
export function readLeadSearch(search: Record<string, unknown>): LeadSearch {
  const found: Record<string, string> = {};
  for (const name of [...filterNames, 'lead']) {
    const value = search[name];
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const text = String(value).slice(0, 255);
    if (text !== '' && choices[name]?.includes(text) !== false) found[name] = text;
  }
  return found;
}

/** Returns the filters without the open lead. */
export function filtersOf({ lead: _lead, ...filters }: LeadSearch): LeadFilters {
  return filters;
}

/** Returns the number of filters, without search text and sort order. */
export function countFilters({ q: _q, sort: _sort, ...rest }: LeadFilters): number {
  return Object.values(rest).filter((value) => value !== undefined).length;
}
