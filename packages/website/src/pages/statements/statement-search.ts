import { isUuid, termOf } from '../../parameter-values.ts';
import { daysOf, type RangeSearch, readRangeSearch } from '../../shell/range-search.ts';

/** The days of a statement in the address, and the publisher and the campaign if it has only one. */
export interface StatementSearch extends RangeSearch {
  readonly user?: string;
  readonly campaignCode?: string;
}

/** Parses the days, the publisher and the campaign from the address and drops unknown values. */
export function readStatementSearch(search: Record<string, unknown>): StatementSearch {
  const { user } = search;
  const campaignCode = termOf(search['campaignCode']);
  return {
    ...readRangeSearch(search),
    ...(isUuid(user) && { user }),
    ...(campaignCode !== undefined && { campaignCode }),
  };
}

/** The range of a statement without one. Payouts are usually settled by month. */
export const defaultRange = { range: 'this-month' } as const;

/** Returns the days and the campaign of a statement. */
export function payableDaysOf(search: StatementSearch) {
  const { from, to, zone } = daysOf({ ...defaultRange, ...search });
  const { campaignCode } = search;
  return { from, to, zone, ...(campaignCode !== undefined && { campaignCode }) };
}
