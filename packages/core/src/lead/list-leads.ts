import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { pageLimit } from '../paging.ts';
import { parseTime } from '../parse-time.ts';
import { uuidPattern } from '../uuid.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { LeadFilterQuery, LeadQuery } from './lead.schema.ts';
import { type LeadScope, seesInternals, type Viewer, visibleTo } from './lead-scope.ts';
import type { LeadFilter, LeadOrder, LeadPosition, LeadSelection, LeadEnd, LeadStore } from './lead-store.ts';
import { type LeadStatus, leadStatuses } from './lead-transitions.ts';
import { leadSearch, phoneSearch } from './search.ts';
import { fieldOf, isInternal, isNewestFirst, neededBy, type SortField } from './sort-fields.ts';

/** A page of a list, with the cursors of the next and the previous page if they exist. */
interface FoundPage {
  /** The leads in order, as the JSON of an array in UTF-8. */
  readonly json: Buffer;
  readonly nextCursor?: string;
  readonly prevCursor?: string;
  /** The number of matching leads, if requested. */
  readonly totalCount?: number;
}

/**
 * Returns a page of the leads that a principal can see (specification, 4.2).
 *
 * @throws LeadsError `invalid_cursor` for a cursor of another list; `invalid_input` for an invalid time and for a
 *   phone number without digits; `forbidden` for a filter that publishers cannot use.
 */
export async function listLeads(
  leads: LeadStore,
  principal: Principal,
  query: LeadQuery,
): Promise<FoundPage> {
  const selection = selectLeads(principal, query);
  const limit = query.limit === undefined ? pageLimit.default : Number(query.limit);
  const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor, selection);
  const backward = cursor?.toward === 'prev';

  const [{ json, ends, hasMore }, totalCount] = await Promise.all([
    leads.list(selection, { limit, [backward ? 'before' : 'after']: cursor?.position }),
    query.count === undefined ? undefined : leads.count(selection),
  ]);

  const cursorAt = (lead: LeadEnd | undefined, toward: 'next' | 'prev') =>
    lead && encodeCursor({ position: positionOf(lead, selection.order), toward }, selection);
  // A page that was reached by a cursor has a page on the other side: the page that returned the cursor.
  const nextCursor = (backward || hasMore) && cursorAt(ends?.[1], 'next');
  const prevCursor = (backward ? hasMore : cursor !== undefined) && cursorAt(ends?.[0], 'prev');
  return {
    json,
    ...(nextCursor && { nextCursor }),
    ...(prevCursor && { prevCursor }),
    ...(totalCount !== undefined && { totalCount }),
  };
}

/** The filters of a list, or of leads that a request names. */
export type LeadChoice = LeadFilterQuery & { readonly ids?: readonly string[] | undefined };

/**
 * Returns the selection of the leads that a principal can see and that match a query.
 *
 * @throws LeadsError `invalid_input` as {@link listLeads} does; `forbidden` for a filter that publishers cannot use.
 */
export function selectLeads(principal: Viewer, query: LeadChoice): LeadSelection {
  const { assignee, callbackDue, has, sort } = query;
  const needsInternals =
    assignee !== undefined ||
    callbackDue !== undefined ||
    (has !== undefined && isInternal(has)) ||
    (sort !== undefined && isInternal(fieldOf(sort)));
  if (needsInternals && !seesInternals(principal)) throw new LeadsError('forbidden');
  const scope = visibleTo(principal);
  return { scope, filter: toFilter(query, principal), order: toOrder(query, scope) };
}

/**
 * Checks filters in the field `filters` of a body, and the sort order in its field `sort`.
 *
 * @throws LeadsError `invalid_input` for filters that the list rejects; `forbidden` for those of internal fields.
 */
export function checkFilters(principal: Viewer, filters: LeadFilterQuery): void {
  try {
    selectLeads(principal, filters);
  } catch (error) {
    if (!(error instanceof LeadsError && error.code === 'invalid_input')) throw error;
    // The list reports its query parameters. Here, they are fields of the body.
    throw new LeadsError('invalid_input', {
      fields: error.fields.map(({ path, reason }) => ({
        at: 'body',
        path: path === 'sort' ? '/sort' : `/filters/${path}`,
        reason,
      })),
    });
  }
}

/**
 * Returns how many leads that a principal can see match a query.
 *
 * @throws LeadsError `invalid_input` as {@link listLeads} does.
 */
export async function countLeads(leads: LeadStore, viewer: Viewer, query: LeadFilterQuery): Promise<number> {
  return leads.count(selectLeads(viewer, query));
}

/** Returns the position of a lead in an order. */
export function positionOf({ id, value = '', ...times }: LeadEnd, { by }: LeadOrder): LeadPosition {
  if (by === 'createdAt' || by === 'updatedAt') return { time: new Date(times[by]), id };
  if (by === 'callbackAt') return { time: new Date(value), id };
  const length = indexedLengths[by];
  const indexed = length === undefined ? value : Array.from(value).slice(0, length).join('');
  return { value: indexed, time: new Date(times.createdAt), id };
}

/** The characters of a text that its index has. */
const indexedLengths: Readonly<Partial<Record<SortField, number>>> = { country: 64, lpName: 255 };

function toFilter(query: LeadChoice, { userId }: Viewer): LeadFilter {
  const { status, user, campaignCode, s1, lpName, country, source, assignee, callbackDue, has } = query;
  return {
    // Both spellings of an id are the same, also in a cursor.
    ids: query.ids?.map((id) => id.toLowerCase()).filter((id) => uuidPattern.test(id)),
    statuses: status === undefined ? undefined : toStatuses(status),
    user: user?.toLowerCase(),
    campaignCode,
    paymentId: query.payment?.toLowerCase(),
    s1,
    lpName,
    country,
    source,
    assigneeId: assignee === 'none' ? null : assignee === 'me' ? userId : assignee?.toLowerCase(),
    isCallbackDue: callbackDue === 'true' ? true : undefined,
    has,
    createdFrom: toTime(query, 'createdFrom'),
    createdTo: toTime(query, 'createdTo'),
    updatedSince: toTime(query, 'updatedSince'),
    phone: query.phone === undefined ? undefined : toPhone(query.phone),
    search: query.q === undefined ? undefined : leadSearch(query.q),
  };
}

/** Returns the statuses of a list, in one order and each once; undefined for all statuses. */
function toStatuses(list: string): readonly LeadStatus[] | undefined {
  const given = new Set<string>(list.split(','));
  const found = leadStatuses.filter((status) => given.has(status));
  return found.length === leadStatuses.length ? undefined : found;
}

function toPhone(text: string) {
  const phone = phoneSearch(text);
  if (phone === undefined) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'query', path: 'phone', reason: 'must contain a digit' }],
    });
  }
  return phone;
}

function toTime(
  query: LeadFilterQuery,
  path: 'createdFrom' | 'createdTo' | 'updatedSince',
): Date | undefined {
  const text = query[path];
  return text === undefined ? undefined : parseTime(text, { at: 'query', path });
}

function toOrder(query: LeadFilterQuery, scope: LeadScope): LeadOrder {
  const { campaignCode, user, country, s1, lpName, source, assignee, callbackDue, has, updatedSince } = query;
  // A request for changed leads gets the last changes first.
  const sort = query.sort ?? (updatedSince === undefined ? '-createdAt' : '-updatedAt');
  const by = fieldOf(sort);
  const isDescending = sort.startsWith('-');
  /** The fields of which a filter selects the leads of one value. */
  const chosen: { readonly [Field in SortField]?: string | undefined } = {
    status: query.status !== undefined && toStatuses(query.status)?.length === 1 ? query.status : undefined,
    source,
    campaign: campaignCode,
    user: user ?? scope.userId,
    country,
    s1,
    lpName,
    assignee: assignee === 'none' ? undefined : assignee,
  };
  const needed = neededBy(sort);
  const hasValue = needed === 'callbackAt' ? callbackDue : chosen[by];
  if (needed !== undefined && needed !== has && hasValue === undefined) {
    const filter = needed === 'callbackAt' ? 'callbackDue' : needed;
    throw new LeadsError('invalid_input', {
      fields: [
        {
          at: 'query',
          path: 'sort',
          reason: `needs has=${needed} or ${filter}, because the order contains only leads with a value`,
        },
      ],
    });
  }
  // Leads of one value are in the order of their creation, which has an index with most filters.
  const isOfOne = chosen[by] !== undefined;
  return {
    by: isOfOne ? 'createdAt' : by,
    direction: isDescending !== (isOfOne && isNewestFirst(by)) ? 'descending' : 'ascending',
  };
}
