import type { LeadFilterQuery } from '@leads/core/lead';

/** The filters of the list, as they stand in the address: the names are those of the API. */
export type LeadFilters = Pick<LeadFilterQuery, (typeof filterNames)[number]>;

/** What the address says: the filters, and the lead that is open. */
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

/** Those that take one of a few values; another is as none. */
const choices: Readonly<Record<string, readonly string[]>> = {
  status: ['OnHold', 'Approved', 'Paid', 'Trashed'],
  source: ['crm', 'intake'],
  sort: ['-createdAt', 'createdAt', '-updatedAt', 'updatedAt'],
};

/** What an address says of the list; what it does not know is left out. */
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

/** The filters alone. */
export function filtersOf({ lead: _lead, ...filters }: LeadSearch): LeadFilters {
  return filters;
}

/** How many things are filtered by, apart from the search. */
export function countFilters({ q: _q, sort: _sort, ...rest }: LeadFilters): number {
  return Object.values(rest).filter((value) => value !== undefined).length;
}
