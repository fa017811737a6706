import type { NewSavedView, SavedView, SavedViewChanges } from '@leads/core/lead';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => call<SavedView[]>('/console/views', { signal }),
  staleTime: 30_000,
});

interface ViewAnswer {
  readonly view: SavedView;
}

export async function createView(body: NewSavedView): Promise<SavedView> {
  return (await call<ViewAnswer>('/console/views', { method: 'POST', body })).view;
}

export async function updateView(id: string, body: SavedViewChanges): Promise<SavedView> {
  return (await call<ViewAnswer>(`/console/views/${id}`, { method: 'PATCH', body })).view;
}

export function deleteView(id: string): Promise<unknown> {
  return call(`/console/views/${id}`, { method: 'DELETE' });
}
