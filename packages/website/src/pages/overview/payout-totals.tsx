import { useQuery } from '@tanstack/react-query';
import { statementQuery } from '../../api/payouts.ts';
import type { OverviewRange } from '../../api/overview.ts';
import * as texts from '../../texts/index.ts';
import { StatementTotals } from '../statements/statement-tables.tsx';

/** The payouts of a range by currency. Nothing if no lead of the range has a payout, and until they are loaded. */
export function PayoutTotals({ days: { from, to, zone } }: { days: OverviewRange }) {
  const { data } = useQuery(statementQuery({ from, to, zone }));
  if (data === undefined || data.totals.every(({ currency }) => currency === undefined)) return null;
  return <StatementTotals title={texts.overview.payouts} totals={data.totals} />;
}
