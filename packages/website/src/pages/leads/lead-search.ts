/** The filters of the list, as they stand in the address: the names are those of the API. */
export interface LeadSearch {
  readonly q?: string;
}

/** What an address says of the list; what it does not know is left out. */
export function readLeadSearch(search: Record<string, unknown>): LeadSearch {
  return typeof search['q'] === 'string' ? { q: search['q'] } : {};
}
