import type { Lead, LeadNote, LeadNoteAdded, LeadViewer, ListedViewer, NewLeadNote } from '@leads/core/lead';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

const pathOf = (id: string) => `/console/order/leads/${encodeURIComponent(id)}`;

/** Queries the newest 1,000 notes of a lead. */
export const leadNotesQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id, 'notes'],
    queryFn: ({ signal }) => call<LeadNote[]>(`${pathOf(id)}/notes`, { query: { limit: '1000' }, signal }),
  });

export function addNote(id: string, body: NewLeadNote): Promise<LeadNoteAdded> {
  return call(`${pathOf(id)}/notes`, { method: 'POST', body });
}

/** How often the page reports that a lead is open. The service removes a page that sends no report for 12 s. */
const viewIntervalMs = 2_000;

/** Reports that the lead is open, again and again, and queries the other users who have it open. */
export const leadViewersQuery = (id: string) =>
  queryOptions({
    queryKey: ['lead', id, 'viewers'],
    queryFn: ({ signal }) => call<LeadViewer[]>(`${pathOf(id)}/viewers`, { method: 'POST', signal }),
    refetchInterval: viewIntervalMs,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });

/** Queries the other users who have any lead of the workspace open, for the list. */
export const listedViewersQuery = queryOptions({
  queryKey: ['lead-viewers'],
  queryFn: ({ signal }) => call<ListedViewer[]>('/console/lead-viewers', { signal }),
  refetchInterval: viewIntervalMs,
  staleTime: 0,
  gcTime: 0,
  retry: false,
});

/** Reports that the lead is no longer open. */
export function leaveLead(id: string): Promise<unknown> {
  return call(`${pathOf(id)}/viewers`, { method: 'DELETE' });
}

/** Searches leads by any text, as the list does. */
export const leadSearchQuery = (q: string) =>
  queryOptions({
    queryKey: ['leads', 'search', q],
    queryFn: ({ signal }) => call<Lead[]>('/console/order/leads', { query: { q, limit: '8' }, signal }),
    staleTime: 0,
    retry: false,
  });

/** Queries the newest leads with the same phone number, itself included. They may have changed since they were queried last. */
export const sameNumberQuery = (phone: string) =>
  queryOptions({
    queryKey: ['leads', 'phone', phone],
    queryFn: ({ signal }) => call<Lead[]>('/console/order/leads', { query: { phone, limit: '6' }, signal }),
    staleTime: 0,
    retry: false,
  });
