import { LeadsError } from '../errors.ts';
import { type Viewer, visibleTo } from '../lead/lead-scope.ts';
import { type Day, daysOf, parseDay, stepsOf, type ZoneDays } from './days.ts';
import type { Overview, OverviewQuery } from './overview.schema.ts';
import { addCounts, type OverviewStore, type StatusCounts } from './overview-store.ts';

const maxDays = 3_660;
const top = 20;

/**
 * Returns the counts of the leads that a principal may see, for a range of days. They are compared with the same number
 * of days before. If the range has not ended, the days before end at the same time of day.
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
  const first = dayOf(query, 'from');
  const last = dayOf(query, 'to');
  const days = daysOf(query.zone ?? 'UTC');
  if (days === undefined) throw fault('zone', 'must be a time zone such as Europe/Berlin');
  if (last < first) throw fault('to', 'must not be before from');
  const length = last - first + 1;
  if (length > maxDays) throw fault('to', 'must be within ten years of from');

  const { unit, bounds } = stepsOf(days, first, last);
  const starts = bounds.slice(0, -1).map((ms) => new Date(ms));
  const previousFrom = new Date(days.startOf(first - length));
  const previousTo = new Date(endOfPrevious(days, { first, last, nowMs }));
  const figures = await store.count(visibleTo(principal), {
    previousFrom,
    previousTo,
    bounds: bounds.map((ms) => new Date(ms)),
    top,
  });
  const total = summaryOf(figures.steps.reduce(addCounts, nothing));
  const summarized = <Item extends StatusCounts>(item: Item) => Object.assign({}, item, summaryOf(item));
  return {
    from: new Date(bounds[0] ?? 0).toISOString(),
    to: new Date(bounds.at(-1) ?? 0).toISOString(),
    unit,
    steps: starts.map((start, index) =>
      Object.assign({ start: start.toISOString() }, figures.steps[index] ?? nothing),
    ),
    total,
    previous: {
      from: previousFrom.toISOString(),
      to: previousTo.toISOString(),
      ...summaryOf(figures.previous),
    },
    campaigns: figures.campaigns.map(summarized),
    landingPages: figures.landingPages.map(summarized),
    s1: figures.s1.map(summarized),
    s1Others: figures.s1Others,
  };
}

/** Returns the end of the days before a range. It is as far from their start as the present is from the range's start. */
function endOfPrevious(days: ZoneDays, { first, last, nowMs }: { first: Day; last: Day; nowMs: number }) {
  const today = days.dayAt(nowMs);
  if (today < first || today > last) return days.startOf(first);
  const then = today - (last - first + 1);
  // A day has 23 to 25 hours where clocks change.
  return Math.min(days.startOf(then) + nowMs - days.startOf(today), days.startOf(then + 1));
}

const nothing: StatusCounts = { OnHold: 0, Approved: 0, Paid: 0, Trashed: 0 };

function summaryOf({ OnHold, Approved, Paid, Trashed }: StatusCounts) {
  const total = OnHold + Approved + Paid + Trashed;
  const approved = Approved + Paid;
  return {
    OnHold,
    Approved,
    Paid,
    Trashed,
    total,
    approveRate: total === 0 ? null : approved / total,
    approveRateWithoutTrash: total === Trashed ? null : approved / (total - Trashed),
  };
}

function dayOf(query: OverviewQuery, path: 'from' | 'to') {
  const day = parseDay(query[path]);
  // There are no leads before 1970 or after 9999, and Postgres has no year 0.
  if (day === undefined || day < 0) throw fault(path, 'must be a day since 1970');
  return day;
}

function fault(path: 'from' | 'to' | 'zone', reason: string): LeadsError {
  return new LeadsError('invalid_input', { fields: [{ at: 'query', path, reason }] });
}
