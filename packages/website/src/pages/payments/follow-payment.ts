import { type QueryClient, QueryObserver, type QueryObserverResult } from '@tanstack/react-query';
import type { Payment } from '@leads/core/payout';
import { invalidateCounts } from '../../api/leads.ts';
import { attentionQuery, campaignFiguresQuery, overviewKey } from '../../api/overview.ts';
import { isInProgress, paymentQuery } from '../../api/payments.ts';
import { statementsKey } from '../../api/payouts.ts';

/** The ids of the payments that are followed. */
const followed = new Set<string>();

/** Follows a payment until it ends, also on other pages, and then refreshes what depends on the statuses of its leads. */
export function followPayment(queryClient: QueryClient, id: string): void {
  if (followed.has(id)) return;
  followed.add(id);
  const observer = new QueryObserver(queryClient, paymentQuery(id));
  const check = ({ data, isError }: QueryObserverResult<Payment>) => {
    if (!isError && (data === undefined || isInProgress(data))) return;
    stop();
    followed.delete(id);
    const keys = [
      statementsKey,
      ['leads', 'list'],
      overviewKey,
      campaignFiguresQuery.queryKey,
      attentionQuery.queryKey,
    ];
    for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey });
    invalidateCounts(queryClient);
  };
  const stop = observer.subscribe(check);
}
