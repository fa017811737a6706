/** The range that is shown, as it stands in the address. */
export interface OverviewSearch {
  readonly from?: string;
}

export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  return typeof search['from'] === 'string' ? { from: search['from'] } : {};
}
