import type {
  ImportAnswer,
  Lead,
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
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { texts } from '../texts/index.ts';
import { ApiError, call, commonHeaders, nextCursorOf, readRefusal, send, workspaceOfPage } from './client.ts';

const pageSize = 200;

/** One page of the list. */
export interface LeadPage {
  readonly leads: readonly Lead[];
  /** Where the next page starts; absent on the last. */
  readonly cursor?: string;
  /** When it was answered by the server's clock, in milliseconds. */
  readonly answeredAt: number;
}

export const leadListQuery = (filters: LeadFilterQuery) =>
  infiniteQueryOptions({
    queryKey: ['leads', 'list', filters],
    queryFn: ({ pageParam, signal }) => listLeads({ ...filters, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    // What changes is merged in; a second fetch of every page that was scrolled through is not needed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

/** The leads that were created or changed since, the latest first. */
export function listChanges(
  filters: LeadFilterQuery,
  sinceMs: number,
  signal: AbortSignal,
): Promise<LeadPage> {
  const updatedSince = new Date(sinceMs).toISOString();
  return listLeads({ ...filters, updatedSince, sort: '-updatedAt' }, signal);
}

async function listLeads(
  query: LeadFilterQuery & { cursor?: string | undefined },
  signal: AbortSignal,
): Promise<LeadPage> {
  const response = await send('/console/order/leads', {
    query: { ...query, limit: String(pageSize) },
    signal,
  });
  const cursor = nextCursorOf(response);
  return {
    leads: (await response.json()) as Lead[],
    ...(cursor !== undefined && { cursor }),
    answeredAt: Date.parse(response.headers.get('date') ?? '') || Date.now(),
  };
}

/** How many leads match. It takes the longer the more there are, so the list does not wait for it. */
export const leadCountQuery = (filters: LeadFilterQuery) =>
  queryOptions({
    queryKey: ['leads', 'count', filters],
    async queryFn({ signal }) {
      const response = await send('/console/order/leads', {
        query: { ...filters, limit: '1', count: 'exact' },
        signal,
      });
      return Number(response.headers.get('x-total-count'));
    },
    staleTime: 30_000,
    refetchInterval: 30_000,
  });

/** A lead and the version that it is in. */
export interface LeadVersion {
  readonly lead: LeadDetail;
  readonly etag: string;
}

export const leadQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id],
    async queryFn({ signal }): Promise<LeadVersion> {
      const response = await send(`/console/order/leads/${encodeURIComponent(id)}`, { signal });
      return {
        lead: (await response.json()) as LeadDetail,
        etag: response.headers.get('etag') ?? '',
      };
    },
  });

export const leadHistoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id, 'history'],
    queryFn: ({ signal }) =>
      call<LeadHistoryEntry[]>(`/console/order/leads/${encodeURIComponent(id)}/history`, { signal }),
  });

/** Changes fields of a lead that is still in the version that was looked at; else the error is 412. */
export async function editLead({ id, etag, patch }: { id: string; etag: string; patch: LeadPatch }) {
  const path = `/console/order/leads/${encodeURIComponent(id)}`;
  const response = await send(path, { method: 'PATCH', body: patch, headers: { 'if-match': etag } });
  const { lead } = (await response.json()) as LeadEdited;
  return { lead, etag: response.headers.get('etag') ?? '' };
}

export async function createLead(body: NewLead): Promise<Lead> {
  const { lead } = await call<LeadCreated>('/console/order/leads', { method: 'POST', body });
  return lead;
}

export type StatusResult = StatusChangeAnswer['results'][number];

/** The most that the server takes at once. */
const maxIds = 1000;

/** @returns what became of each. */
export async function changeStatuses({ ids, ...change }: StatusChange): Promise<StatusResult[]> {
  const results: StatusResult[] = [];
  for (let at = 0; at < ids.length; at += maxIds) {
    const body = { ...change, ids: ids.slice(at, at + maxIds) };
    const answer = await call<StatusChangeAnswer>('/console/order/leads/status', {
      method: 'POST',
      body,
    });
    results.push(...answer.results);
  }
  return results;
}

/** Where what is filtered can be downloaded from. */
export function exportAddress(format: 'csv' | 'ndjson', filters: LeadFilterQuery): string {
  const workspaceId = workspaceOfPage();
  const query = new URLSearchParams({ ...filters, ...(workspaceId !== undefined && { workspaceId }) });
  return `/api/console/order/leads.${format}?${query.toString()}`;
}

/**
 * Sends a CSV file, as it is read: it is never held in memory.
 *
 * @param onSent hears how many bytes are sent. `fetch` does not tell.
 * @throws ApiError
 */
export function importLeads({
  body,
  campaignCode,
  ignore,
  idempotencyKey,
  onSent,
  signal,
}: {
  body: Blob;
  campaignCode: string | undefined;
  /** Names of columns to leave out. */
  ignore: readonly string[];
  idempotencyKey: string;
  onSent: (bytes: number) => void;
  signal: AbortSignal;
}): Promise<ImportAnswer> {
  const path = '/console/order/leads/import';
  const query = new URLSearchParams(ignore.map((name) => ['ignore', name]));
  if (campaignCode !== undefined) query.set('campaignCode', campaignCode);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `/api${path}?${query.toString()}`);
    const headers = { ...commonHeaders(), 'content-type': 'text/csv', 'idempotency-key': idempotencyKey };
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
    request.addEventListener('load', () => {
      const { status, responseText } = request;
      if (status === 200) resolve(JSON.parse(responseText) as ImportAnswer);
      else void readRefusal(path, new Response(responseText, { status })).then(reject);
    });
    request.addEventListener('error', () => reject(new ApiError(0, texts.common.unreachable)));
    request.addEventListener('abort', () => reject(new DOMException('Cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    request.send(body);
  });
}
