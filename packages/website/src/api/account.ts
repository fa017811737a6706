import type { Features, Me } from '@leads/core/account';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** The workspace stays the same as long as a page is not loaded anew: all that is cached is of that one. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call<Me>('/console/me', { signal }),
  staleTime: 60_000,
});

export const featuresQuery = queryOptions({
  queryKey: ['features'],
  queryFn: ({ signal }) => call<Features>('/console/features', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Calls a path of accounts, below `/api/auth`. */
export function account<Answer = unknown>(path: string, body: object = {}): Promise<Answer> {
  return call<Answer>(`/auth${path}`, { method: 'POST', body });
}
