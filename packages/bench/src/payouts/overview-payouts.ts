import { createCampaignStore, createOverviewStore, createPayoutStore, type Database } from '@leads/core/db';
import { getOverview, getOverviewPayouts, getPublisherPayouts, getSubIdPayouts } from '@leads/core/overview';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from './random.ts';
import { dayMs, firstMs } from './random-changes.ts';
import { type Difference, type RecountedLead, textOfUnits, unitsOf } from './recounted.ts';
import type { Tenant } from './tenants.ts';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Kiritimati'];

/** A part of a total. Its amount is absent if it has no payout. */
interface Item {
  readonly status: string;
  readonly currency?: string | undefined;
  readonly amount?: string | undefined;
}

/**
 * Compares the payouts of the overview of a workspace with the totals of statements, and those of sub-ids with the recounted
 * leads. The days, the time zone and the viewer are random.
 */
export async function compareOverview(
  database: Database,
  { tenant: { owner, userIds }, days }: { tenant: Tenant; days: number },
  leads: ReadonlyMap<string, RecountedLead>,
  random: Random,
): Promise<Difference[]> {
  const { workspaceId } = owner;
  const userId = random.next() < 0.3 ? random.pick(userIds) : undefined;
  const viewer = userId === undefined ? owner : { ...owner, userId, role: 'publisher' as const };
  // The days before and after the leads belong to ranges, too.
  const day = () => firstMs + (random.below(days + 2) - 1) * dayMs;
  const [first = 0, last = 0] = [day(), day()].toSorted((a, b) => a - b);
  const textOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const query = { from: textOf(first), to: textOf(last), zone: random.pick(zones) };

  const overview = createOverviewStore(database);
  const payouts = createPayoutStore(database);
  const totalsOf = (from: string | undefined, to: string | undefined) =>
    payouts.totals({ workspaceId, userId }, { from: new Date(from ?? 0), to: new Date(to ?? 0) });
  const { steps, from, to, previous } = await getOverview(overview, viewer, query);
  const found = await getOverviewPayouts(overview, viewer, query);
  const differences: Difference[] = [];
  const compare = (what: string, total: unknown, recount: unknown) => {
    if (isDeepStrictEqual(total, recount)) return;
    const name = `overview ${JSON.stringify(query)} of ${viewer.role}: ${what}`;
    differences.push({ what: name, total: JSON.stringify(total), recount: JSON.stringify(recount) });
  };

  const all = await totalsOf(from, to);
  compare('total', found.total, sumsOf(all));
  compare('previous', found.previous, sumsOf(await totalsOf(previous.from, previous.to)));
  const starts = [...steps.map(({ start }) => start), to];
  const sumsOfSteps = [];
  for (const [index, start] of starts.slice(0, -1).entries()) {
    sumsOfSteps.push(sumsOf(await totalsOf(start, starts[index + 1])));
  }
  compare('steps', found.steps, sumsOfSteps);
  const campaigns = await createCampaignStore(database).list(workspaceId);
  const codes = new Map(campaigns.map(({ id, code }) => [id, code]));
  compare(
    'campaigns',
    byValue(found.campaigns),
    sumsByValue(all, ({ campaignId }) => codes.get(campaignId)),
  );
  const created = [...leads.values()].filter(
    (lead) =>
      !lead.isErased &&
      lead.workspaceId === workspaceId &&
      (userId ?? lead.userId) === lead.userId &&
      lead.createdMs >= Date.parse(from) &&
      lead.createdMs < Date.parse(to),
  );
  const ofSubIds = created.map(({ s1, status, payout }) => Object.assign({ s1, status }, payout));
  compare(
    'sub-ids',
    byValue(await getSubIdPayouts(overview, viewer, query)),
    sumsByValue(ofSubIds, ({ s1 }) => s1),
  );
  if (userId === undefined) {
    const users = await getPublisherPayouts(overview, viewer, { ...query, users: userIds.join() });
    compare(
      'publishers',
      byValue(users),
      sumsByValue(all, (total) => total.userId),
    );
  }
  return differences;
}

type Sums = ReturnType<typeof sumsOf>;

/** Adds up amounts by currency, in the form of the overview. */
function sumsOf(items: readonly Item[]) {
  const currencies = [...new Set(items.flatMap(({ currency }) => currency ?? []))].toSorted();
  return currencies.map((currency) => {
    const of = (status: string) =>
      textOfUnits(
        items
          .filter((item) => item.currency === currency && item.status === status)
          .reduce((sum, { amount = '0' }) => sum + unitsOf(amount), 0n),
      );
    return { currency, expected: of('OnHold'), payable: of('Approved'), paid: of('Paid') };
  });
}

/** Returns the values that have sums, in their order. */
function byValue(listed: readonly { readonly value: string; readonly payouts: Sums }[]): [string, Sums][] {
  return listed
    .filter(({ payouts }) => payouts.length > 0)
    .map(({ value, payouts }): [string, Sums] => [value, payouts])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function sumsByValue<Each extends Item>(
  items: readonly Each[],
  valueOf: (item: Each) => string | undefined,
): [string, Sums][] {
  const values = [...new Set(items.flatMap((item) => valueOf(item) ?? []))];
  return byValue(
    values.map((value) => ({ value, payouts: sumsOf(items.filter((item) => valueOf(item) === value)) })),
  );
}
