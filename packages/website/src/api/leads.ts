import type {
  AssignmentAnswer,
  Lead,
  LeadAssignment,
  LeadColumnValues,
  LeadCreated,
  LeadDetail,
  LeadEdited,
  LeadFilterQuery,
  LeadHistoryEntry,
  LeadPatch,
  NewLead,
  StatusChange,
  StatusChangeAnswer,
} from '@leads/core/lead';
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  replaceEqualDeep,
} from '@tanstack/react-query';
import { type ApiRequest, call, nextCursorOf, openStream, queryOfLink, send } from './client.ts';
import { leadListRequest } from './first-requests.ts';

/** The maximum number of changes in one response: the maximum of the service. */
const changesSize = 1000;

/** The time between two counts of the matching leads, and between two requests for the call-backs that are due. */
const refreshMs = 30_000;

/** A page of the lead list. */
export interface LeadPage {
  readonly leads: readonly Lead[];
  /** The cursor of the next page. Absent on the last page. */
  readonly cursor?: string;
  /** Time of the response by the server's clock, in milliseconds. */
  readonly answeredAt: number;
}

export const leadListQuery = (filters: LeadFilterQuery) =>
  infiniteQueryOptions({
    queryKey: ['leads', 'list', filters],
    queryFn: ({ pageParam, signal }) => listLeads({ ...filters, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    // Changes are merged into the loaded pages, so the pages are never fetched again.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // A call-back becomes due without a change of its lead, so no request for changes returns it.
    refetchInterval: filters.callbackDue === undefined ? false : refreshMs,
    structuralSharing: appendPage,
  });

/**
 * Appends a further page to the loaded pages. TanStack Query would restore the loaded pages from the time of the request,
 * without the changes since.
 */
function appendPage(loaded: unknown, received: unknown): unknown {
  const before = loaded as InfiniteData<LeadPage> | undefined;
  const after = received as InfiniteData<LeadPage>;
  const added = after.pages.at(-1);
  if (before === undefined || added === undefined || after.pages.length !== before.pages.length + 1) {
    return replaceEqualDeep(before, after);
  }
  // A change can have moved a lead to a loaded page.
  const listed = new Set(before.pages.flatMap(({ leads }) => leads.map(({ id }) => id)));
  const leads = added.leads.filter(({ id }) => !listed.has(id));
  return { ...after, pages: [...before.pages, { ...added, leads }] };
}

/** Returns the leads that were created or changed since a time, latest change first. */
export function listChanges(
  filters: LeadFilterQuery,
  sinceMs: number,
  signal: AbortSignal,
): Promise<LeadPage> {
  // A filter can select later changes only.
  const filteredMs = filters.updatedSince === undefined ? 0 : Date.parse(filters.updatedSince);
  const updatedSince = new Date(Math.max(sinceMs, filteredMs)).toISOString();
  return listLeads({ ...filters, updatedSince, sort: '-updatedAt' }, signal, changesSize);
}

async function listLeads(
  query: LeadFilterQuery & { cursor?: string | undefined },
  signal: AbortSignal,
  limit?: number,
): Promise<LeadPage> {
  const { path, ...request } = leadListRequest(query, limit);
  const response = await send(path, { ...request, signal });
  const cursor = nextCursorOf(response);
  return {
    leads: (await response.json()) as Lead[],
    ...(cursor !== undefined && { cursor }),
    answeredAt: Date.parse(response.headers.get('date') ?? '') || Date.now(),
  };
}

/** Queries the newest leads that a search finds; all leads without one. */
export const newestLeadsQuery = (search: string) =>
  queryOptions({
    queryKey: ['leads', 'newest', search],
    queryFn: ({ signal }) =>
      call<Lead[]>('/console/order/leads', { query: { q: search || undefined, limit: '20' }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

/** The shortest time until leads are counted again, and how many times longer than the count it is. */
const minCountMs = 100;
const countPauses = 10;
/** The time of the last change of a number of leads, by the clock of the page. */
let countChangedMs = 0;

/** Queries the number of matching leads. Counting many leads is slow, so the list does not wait for the result. */
export const leadCountQuery = (filters: LeadFilterQuery) =>
  queryOptions({
    queryKey: ['leads', 'count', filters],
    async queryFn({ signal }) {
      const startedMs = performance.now();
      const response = await send('/console/order/leads', {
        query: { ...filters, limit: '1', count: 'exact' },
        signal,
      });
      const count = Number(response.headers.get('x-total-count'));
      return { count, startedMs, tookMs: performance.now() - startedMs };
    },
    select: ({ count }) => count,
    staleTime: refreshMs,
    // After a change, also during the last count, the leads are counted again. A slow count waits longer.
    refetchInterval({ state: { data } }) {
      if (data === undefined || data.startedMs > countChangedMs) return refreshMs;
      const dueMs = data.startedMs + data.tookMs * countPauses;
      return Math.max(minCountMs, dueMs - performance.now());
    },
  });

/** Counts leads again after a change. */
export function invalidateCounts(queryClient: QueryClient): void {
  countChangedMs = performance.now();
  void queryClient.invalidateQueries({ queryKey: ['leads', 'count'], refetchType: 'none' });
}

/** A lead and its version. */
export interface LeadVersion {
  readonly lead: LeadDetail;
  readonly etag: string;
}

export const leadQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id],
    queryFn: ({ signal }) => getLead(id, { signal }),
  });

/** Requests the current version of a lead. */
export async function getLead(id: string, request: Pick<ApiRequest, 'signal'> = {}): Promise<LeadVersion> {
  const response = await send(`/console/order/leads/${encodeURIComponent(id)}`, request);
  return { lead: (await response.json()) as LeadDetail, etag: response.headers.get('etag') ?? '' };
}

/** Columns of a listed lead. A lead that is gone has none. */
export type ColumnValues = Pick<LeadColumnValues, 'id'> & Partial<LeadColumnValues>;

/** The maximum number of leads in one request for columns. */
const maxColumnIds = 100;
/** The ids of the next request for columns. */
let nextColumns: { readonly ids: string[]; readonly listed: Promise<LeadColumnValues[]> } | undefined;

/** Requests the columns of all leads of one rendering together. */
async function columnsOf(id: string): Promise<ColumnValues> {
  if (nextColumns === undefined || nextColumns.ids.length === maxColumnIds) {
    const ids: string[] = [];
    const listed = Promise.resolve().then(() => {
      if (nextColumns?.ids === ids) nextColumns = undefined;
      return call<LeadColumnValues[]>('/console/lead-columns', { query: { ids: ids.join() } });
    });
    nextColumns = { ids, listed };
  }
  nextColumns.ids.push(id);
  return (await nextColumns.listed).find((each) => each.id === id) ?? { id };
}

/** Queries further columns of a listed lead. A changed lead is queried again. */
export const columnValuesQuery = ({ id, status, updatedAt }: Lead) =>
  queryOptions({
    queryKey: ['lead', id, 'columns', status, updatedAt],
    queryFn: () => columnsOf(id),
    staleTime: 60_000,
    gcTime: 60_000,
  });

/** Queries the name of a lead. A lead that the user cannot see has none. */
export const leadNameQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id, 'name'],
    queryFn: async () => (await columnsOf(id)).name ?? null,
    staleTime: 60_000,
  });

export const leadHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id, 'history'],
    queryFn: ({ signal }) =>
      call<LeadHistoryEntry[]>(`/console/order/leads/${encodeURIComponent(id)}/history`, { signal }),
  });

/**
 * Changes fields of a lead.
 *
 * @param request.etag the version that the user edited.
 * @throws ApiError 412 if the lead has another version now.
 */
export async function editLead({ id, etag, patch }: { id: string; etag: string; patch: LeadPatch }) {
  const path = `/console/order/leads/${encodeURIComponent(id)}`;
  const response = await send(path, { method: 'PATCH', body: patch, headers: { 'if-match': etag } });
  const { lead } = (await response.json()) as LeadEdited;
  return { lead, etag: response.headers.get('etag') ?? '' };
}

/** Creates a lead. A repeated call with the same key creates no second lead. */
export async function createLead({
  idempotencyKey,
  ...body
}: NewLead & { idempotencyKey: string }): Promise<Lead> {
  const headers = { 'idempotency-key': idempotencyKey };
  const { lead } = await call<LeadCreated>('/console/order/leads', { method: 'POST', headers, body });
  return lead;
}

export type StatusResult = StatusChangeAnswer['results'][number];

/** The maximum number of leads in one request. */
const maxIds = 1000;

/** Changes the status of leads in batches. Yields one result for each lead of a batch. @throws ApiError */
export async function* changeStatuses(change: StatusChange): AsyncGenerator<StatusResult[]> {
  for await (const { results } of changeInBatches<StatusChangeAnswer>('status', change)) yield results;
}

/** The result for each assigned lead, and the ids for {@link undoAssignment}. */
export interface Assigned {
  readonly results: readonly StatusResult[];
  readonly changeIds: readonly string[];
}

/** Sets the assignee of leads in batches. */
export async function assignLeads(change: LeadAssignment): Promise<Assigned> {
  const answers: AssignmentAnswer[] = [];
  for await (const answer of changeInBatches<AssignmentAnswer>('assignment', change)) answers.push(answer);
  return {
    results: answers.flatMap(({ results }) => results),
    changeIds: answers.flatMap(({ changeId }) => changeId ?? []),
  };
}

/** Undoes assignments. @returns one result for each lead that they changed. */
export async function undoAssignment(changeIds: readonly string[]): Promise<StatusResult[]> {
  const results: StatusResult[] = [];
  for (const changeId of changeIds) {
    const path = '/console/order/leads/assignment/undo';
    const answer = await call<StatusChangeAnswer>(path, { method: 'POST', body: { changeId } });
    results.push(...answer.results);
  }
  return results;
}

async function* changeInBatches<Answer>(
  what: 'status' | 'assignment',
  { ids, ...change }: StatusChange | LeadAssignment,
): AsyncGenerator<Answer> {
  for (let at = 0; at < ids.length; at += maxIds) {
    const body = { ...change, ids: ids.slice(at, at + maxIds) };
    yield await call<Answer>(`/console/order/leads/${what}`, { method: 'POST', body });
  }
}

/** Returns a file of the leads with these ids. A request takes 1,000 ids, so the files of all requests become one. */
export async function exportSelection(
  format: 'csv' | 'ndjson',
  { ids, ...order }: Pick<LeadFilterQuery, 'has' | 'sort'> & { readonly ids: readonly string[] },
): Promise<Blob> {
  const accept = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  const parts: string[] = [];
  for (let at = 0; at < ids.length; at += maxIds) {
    const body = { ids: ids.slice(at, at + maxIds), ...order };
    const headers = { accept: `${accept}, application/problem+json;q=0.9` };
    const response = await send('/console/order/leads/export', { method: 'POST', body, headers });
    const text = await response.text();
    // Only the first file keeps its header line, in which no name has a line break.
    parts.push(format === 'csv' && at > 0 ? text.slice(text.indexOf('\n') + 1) : text);
  }
  return new Blob(parts, { type: accept });
}

const exportPath = (format: 'csv' | 'ndjson') => `/console/order/leads.${format}`;

/** Returns the address from which the filtered leads can be downloaded. */
export function exportAddress(format: 'csv' | 'ndjson', filters: LeadFilterQuery): string {
  return `/api${exportPath(format)}?${queryOfLink(filters)}`;
}

/** Checks that the server would begin an export. @throws ApiError */
export async function checkExport(format: 'csv' | 'ndjson', filters: LeadFilterQuery): Promise<void> {
  await send(exportPath(format), { method: 'HEAD', query: filters });
}

/** Requests the file of the filtered leads. @throws ApiError */
export function openExport(format: 'csv' | 'ndjson', filters: LeadFilterQuery, signal: AbortSignal) {
  return openStream(exportPath(format), { query: { ...filters }, signal });
}
