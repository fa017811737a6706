import { type OverviewSearch, readOverviewSearch } from '../overview/overview-search.ts';

/** The days of a statement in the address, and the publisher if it has only one. */
export interface StatementSearch extends OverviewSearch {
  readonly user?: string;
}

/** Parses the days and the publisher from the address and drops unknown values. */
export function readStatementSearch(search: Record<string, unknown>): StatementSearch {
  const { user } = search;
  return { ...readOverviewSearch(search), ...(typeof user === 'string' && { user }) };
}
