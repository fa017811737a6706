import type { Features, Me } from '@leads/core/account';
import type { MemberRole } from '@leads/core/credential/roles';
import { queryOptions } from '@tanstack/react-query';
import { call, recordShown } from './client.ts';
import { meRequest } from './first-requests.ts';

/** Queries the user and the workspace. A switch of the workspace reloads the page, so all cached data belongs to it. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  // Without the signal: a page that is left would cancel the request, and the next page would fail.
  async queryFn() {
    const me = await call<Me>(meRequest.path);
    recordShown(me);
    return me;
  },
  staleTime: 60_000,
  // Another user can have signed in while the page was hidden.
  refetchOnWindowFocus: 'always',
});

/** Returns the role of the user in the workspace. Without a workspace, it is the role with the fewest permissions. */
export function roleOf({ workspace }: Me): MemberRole {
  return workspace?.role ?? 'publisher';
}

export const featuresQuery = queryOptions({
  queryKey: ['features'],
  queryFn: ({ signal }) => call<Features>('/console/features', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Calls an account endpoint, below `/api/auth`. */
export function account<Answer = unknown>(path: string, body: object = {}): Promise<Answer> {
  return call<Answer>(`/auth${path}`, { method: 'POST', body });
}
