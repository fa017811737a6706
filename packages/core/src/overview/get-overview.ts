import { LeadsError } from '../errors.ts';
import { type Viewer, visibleTo } from '../lead/lead-scope.ts';
import { type Day, daysOf, parseDay, stepsOf, type ZoneDays } from './days.ts';
import type {
  Countries,
  CountryQuery,
  Overview,
  OverviewPayouts,
  OverviewQuery,
  PayoutsByValue,
  PublisherPayoutsQuery,
} from './overview.schema.ts';
import { addCounts, type OverviewStore, type Span, type StatusCounts } from './overview-store.ts';
import { nothing, summaryOf } from './summary.ts';

const maxDays = 3_660;
const lastDay = parseDay('9999-12-31') ?? 0;
const top = 20;

/**
 * Returns the counts of the leads that a principal may see, for a range of days. They are compared with other days: by
 * default, with the same number of days before. If the range has not ended, the other days end at the same time of day.
 *
 * @throws LeadsError `invalid_input` for an invalid day or time zone, for days in the wrong order, and for more than ten
 *   years.
 */
export async function getOverview(
  store: OverviewStore,
  principal: Viewer,
  query: OverviewQuery,
  nowMs = Date.now(),
): Promise<Overview> {
  const { days, unit, bounds, previous } = rangesOf(query, nowMs);
  const starts = bounds.slice(0, -1);
  const [from = previous.to, to = from] = [bounds[0], bounds.at(-1)];
  const figures = await store.count(visibleTo(principal), {
    previous,
    bounds,
    offsets: days.offsetsWithin(from.getTime(), to.getTime()),
    top,
  });
  const total = summaryOf(figures.steps.reduce(addCounts, nothing));
  const summarized = <Item extends StatusCounts>(item: Item) => Object.assign({}, item, summaryOf(item));
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    unit,
    steps: starts.map((start, index) =>
      Object.assign({ start: start.toISOString() }, figures.steps[index] ?? nothing),
    ),
    total,
    previous: {
      from: previous.from.toISOString(),
      to: previous.to.toISOString(),
      ...summaryOf(figures.previous),
    },
    campaigns: figures.campaigns.map(summarized),
    publishers: figures.publishers.map(summarized),
    hours: figures.hours.map(summarized),
    landingPages: figures.landingPages.map(summarized),
    s1: figures.s1.map(summarized),
    s1Others: figures.s1Others,
  };
}

/**
 * Returns the counts of the leads that a principal may see by country, for a range of days.
 *
 * @throws LeadsError `invalid_input` as {@link getOverview} does; `unavailable` if the count takes too long.
 */
export async function getCountries(
  store: Pick<OverviewStore, 'countByCountry'>,
  principal: Viewer,
  query: CountryQuery,
): Promise<Countries> {
  const countries = await store.countByCountry(visibleTo(principal), spanOfDays(query), top);
  return countries.map((counts) => Object.assign(summaryOf(counts), { value: counts.value }));
}

/**
 * Returns the payouts of the leads that a principal may see, for the ranges and steps of an overview. They are separate
 * from the counts, so that their failure does not fail the counts.
 *
 * @throws LeadsError `invalid_input` as {@link getOverview} does.
 */
export async function getOverviewPayouts(
  store: Pick<OverviewStore, 'sumPayouts'>,
  principal: Viewer,
  query: OverviewQuery,
  nowMs = Date.now(),
): Promise<OverviewPayouts> {
  const { bounds, previous } = rangesOf(query, nowMs);
  const { steps, ...others } = await store.sumPayouts(visibleTo(principal), { previous, bounds, top });
  return { ...others, ...(steps !== undefined && { steps }) };
}

/**
 * Returns the payouts of some publishers of a workspace, for a range of days. An unknown user has none.
 *
 * @throws LeadsError `invalid_input` as {@link getOverview} does.
 */
export function getPublisherPayouts(
  store: Pick<OverviewStore, 'sumPayoutsByPublisher'>,
  { workspaceId }: Pick<Viewer, 'workspaceId'>,
  { users, ...query }: PublisherPayoutsQuery,
): Promise<PayoutsByValue> {
  return store.sumPayoutsByPublisher(workspaceId, spanOfDays(query), users.split(','));
}

/**
 * Returns the payouts of the sub-ids with the most leads that a principal may see, for a range of days.
 *
 * @throws LeadsError `invalid_input` as {@link getOverview} does; `unavailable` if adding up takes too long.
 */
export function getSubIdPayouts(
  store: Pick<OverviewStore, 'sumPayoutsByS1'>,
  principal: Viewer,
  query: CountryQuery,
): Promise<PayoutsByValue> {
  return store.sumPayoutsByS1(visibleTo(principal), spanOfDays(query), top);
}

/** Returns the steps of a range, and the range to compare it with. */
function rangesOf(query: OverviewQuery, nowMs: number) {
  const days = daysOf(query.zone ?? 'UTC');
  if (days === undefined) throw fault('zone', 'must be a time zone such as Europe/Berlin');
  const range = daysWithin(query, 'from', 'to');
  const compared = comparedDays(query, range);
  const { unit, bounds } = stepsOf(days, range.first, range.last);
  const previous = {
    from: new Date(days.startOf(compared.first)),
    to: new Date(endOfPrevious(days, range, compared, nowMs)),
  };
  return { days, unit, bounds: bounds.map((ms) => new Date(ms)), previous };
}

/**
 * Returns the time from the start of the first day to the end of the last day.
 *
 * @throws LeadsError `invalid_input` as {@link getOverview} does.
 */
export function spanOfDays(query: CountryQuery): Span {
  const days = daysOf(query.zone ?? 'UTC');
  if (days === undefined) throw fault('zone', 'must be a time zone such as Europe/Berlin');
  const { first, last } = daysWithin(query, 'from', 'to');
  return { from: new Date(days.startOf(first)), to: new Date(days.startOf(last + 1)) };
}

/** The first and the last of some days. */
interface Days {
  readonly first: Day;
  readonly last: Day;
}

/** Returns the days to compare a range with: those of the query, else the same number of days before the range. */
function comparedDays(query: OverviewQuery, { first, last }: Days): Days {
  const { compareFrom, compareTo } = query;
  if (compareFrom === undefined && compareTo === undefined) {
    return { first: first - (last - first + 1), last: first - 1 };
  }
  if (compareFrom === undefined) throw fault('compareFrom', 'must be given together with compareTo');
  if (compareTo === undefined) throw fault('compareTo', 'must be given together with compareFrom');
  return daysWithin(query, 'compareFrom', 'compareTo');
}

/** Returns the end of the compared days. It is as far from their start as the present is from the range's start. */
function endOfPrevious(days: ZoneDays, { first, last }: Days, compared: Days, nowMs: number) {
  const end = days.startOf(compared.last + 1);
  const today = days.dayAt(nowMs);
  if (today < first || today > last) return end;
  const then = compared.first + today - first;
  if (then > compared.last) return end;
  // A day has 23 to 25 hours where clocks change.
  return Math.min(days.startOf(then) + nowMs - days.startOf(today), days.startOf(then + 1));
}

type DayParameter = 'from' | 'to' | 'compareFrom' | 'compareTo';

function daysWithin(query: Partial<OverviewQuery>, from: DayParameter, to: DayParameter): Days {
  const first = dayOf(query, from);
  const last = dayOf(query, to);
  if (last < first) throw fault(to, `must not be before ${from}`);
  if (last - first + 1 > maxDays) throw fault(to, `must be within ten years of ${from}`);
  return { first, last };
}

function dayOf(query: Partial<OverviewQuery>, path: DayParameter) {
  const day = parseDay(query[path] ?? '');
  // There are no leads before 1970, and Postgres has no year 0. It cannot read the year 10000 as Date writes it, which is the
  // end of the last day of 9999.
  if (day === undefined || day < 0 || day >= lastDay) {
    throw fault(path, 'must be a day since 1970 and before 9999-12-31');
  }
  return day;
}

function fault(path: DayParameter | 'zone', reason: string): LeadsError {
  return new LeadsError('invalid_input', { fields: [{ at: 'query', path, reason }] });
}
