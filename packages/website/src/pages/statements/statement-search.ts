import { type OverviewSearch, readOverviewSearch } from '../overview/overview-search.ts';

/** The days of a statement in the address, and the publisher and the campaign if it has only one. */
export interface StatementSearch extends OverviewSearch {
  readonly user?: string;
  readonly campaignCode?: string;
}

/** Parses the days, the publisher and the campaign from the address and drops unknown values. */
export function readStatementSearch(search: Record<string, unknown>): StatementSearch {
  const { user, campaignCode } = search;
  return {
    ...readOverviewSearch(search),
    ...(typeof user === 'string' && { user }),
    // A code of digits is a number in the address.
    ...((typeof campaignCode === 'string' || typeof campaignCode === 'number') && {
      campaignCode: String(campaignCode),
    }),
  };
}
