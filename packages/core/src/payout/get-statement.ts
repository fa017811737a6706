import type { CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { toRecord } from '../csv/csv-cell.ts';
import { visibleTo } from '../lead/lead-scope.ts';
import { daysOf, formatDay } from '../overview/days.ts';
import { spanOfDays } from '../overview/get-overview.ts';
import type { CountryQuery } from '../overview/overview.schema.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import { addAmounts } from './payout.ts';
import type { PayoutStore, PayoutTotal } from './payout-store.ts';
import type { Statement, StatementQuery } from './statement.schema.ts';

type Sum = Statement['totals'][number];

/**
 * Returns what the leads of a range of days are worth to their publishers. Each lead counts once, by the day of its
 * creation and its present status. A publisher gets only its own statement.
 *
 * @throws LeadsError `invalid_input` for an invalid day or time zone, for days in the wrong order, and for more than ten
 *   years.
 */
export async function getStatement(
  stores: {
    readonly payouts: Pick<PayoutStore, 'totals'>;
    readonly campaigns: Pick<CampaignStore, 'list'>;
    readonly workspaces: Pick<WorkspaceStore, 'listMembers'>;
  },
  principal: Principal,
  { user, campaignCode, ...days }: StatementQuery,
  nowMs = Date.now(),
): Promise<Statement> {
  const span = spanOfDays(withDefaults(days, nowMs));
  const { workspaceId, userId = user } = visibleTo(principal);
  const isOther = user !== undefined && user.toLowerCase() !== userId?.toLowerCase();
  const campaigns = await stores.campaigns.list(workspaceId);
  const codes = new Map(campaigns.map(({ id, code }) => [id, code]));
  const all = isOther ? [] : await stores.payouts.totals({ workspaceId, userId }, span);
  const totals = all.filter(
    ({ campaignId }) => campaignCode === undefined || codes.get(campaignId) === campaignCode,
  );
  const names = new Map(
    (await stores.workspaces.listMembers(workspaceId)).map(({ user: { id, name } }) => [id, name]),
  );
  const byUser = new Map<string, PayoutTotal[]>();
  for (const total of totals) byUser.set(total.userId, [...(byUser.get(total.userId) ?? []), total]);
  return {
    from: span.from.toISOString(),
    to: span.to.toISOString(),
    publishers: [...byUser].map(([id, items]) => publisherStatement(id, names.get(id), items, codes)),
    totals: addUp(totals),
  };
}

/** Returns the given days; by default, those of the present month until the present day. A later day is a range of its own. */
function withDefaults(
  { from, to, zone = 'UTC' }: Pick<StatementQuery, 'from' | 'to' | 'zone'>,
  nowMs: number,
): CountryQuery {
  const today = formatDay(daysOf(zone)?.dayAt(nowMs) ?? 0);
  // The order of valid days is that of their texts.
  const last = to ?? (from !== undefined && from > today ? from : today);
  return { from: from ?? `${last.slice(0, 8)}01`, to: last, zone };
}

function publisherStatement(
  userId: string,
  name: string | undefined,
  items: readonly PayoutTotal[],
  codes: ReadonlyMap<string, string>,
): Statement['publishers'][number] {
  return {
    userId,
    ...(name !== undefined && { name }),
    items: items.map(({ campaignId, ...item }) =>
      Object.assign({ campaignId, campaignCode: codes.get(campaignId) ?? '' }, sumOf(item)),
    ),
    totals: addUp(items),
  };
}

function sumOf({ status, currency, leads, amount }: Omit<PayoutTotal, 'campaignId'>): Sum {
  return {
    status,
    ...(currency !== undefined && { currency }),
    leads,
    ...(amount !== undefined && { amount }),
  };
}

/** Adds up totals by status and currency. Amounts of different currencies are never added. */
function addUp(totals: readonly PayoutTotal[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const total of totals) {
    const key = `${total.status} ${total.currency ?? ''}`;
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, sumOf(total));
    else {
      sum.leads += total.leads;
      if (total.amount !== undefined) sum.amount = addAmounts(sum.amount ?? '0', total.amount);
    }
  }
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

const csvColumns = ['userId', 'name', 'campaignId', 'campaignCode', 'status', 'currency', 'leads', 'amount'];

/** Returns the items of all publishers as CSV (RFC 4180) with a header line. */
export function statementToCsv({ publishers }: Statement): string {
  const records = publishers.flatMap(({ userId, name = '', items }) =>
    items.map(({ campaignId, campaignCode, status, currency = '', leads, amount = '' }) =>
      toRecord([userId, name, campaignId, campaignCode, status, currency, String(leads), amount]),
    ),
  );
  return [toRecord(csvColumns), ...records].join('');
}
