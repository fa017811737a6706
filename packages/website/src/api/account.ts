import { queryOptions } from '@tanstack/react-query';
import type { MemberRole } from '@leads/core/credential';
import { call } from './client.ts';

export interface WorkspaceOfMine {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
}

/** Who is signed in, and where the APIs are. */
export interface Me {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly twoFactorEnabled: boolean;
  };
  readonly sessionId: string;
  readonly workspaces: readonly WorkspaceOfMine[];
  /** The one that is shown; absent for who is a member of none. */
  readonly workspace?: WorkspaceOfMine;
  /** Both with their `/api` prefix. */
  readonly addresses: { readonly crm: string; readonly intake?: string };
  readonly mail: boolean;
}

/** The workspace stays the same as long as a page is not loaded anew: all that is cached is of that one. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call<Me>('/console/me', { signal }),
  staleTime: 60_000,
});

export const featuresQuery = queryOptions({
  queryKey: ['features'],
  queryFn: ({ signal }) =>
    call<{ readonly signUp: boolean; readonly mail: boolean }>('/console/features', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Calls a path of accounts, below `/api/auth`. */
export function account<Answer = unknown>(path: string, body: object = {}): Promise<Answer> {
  return call<Answer>(`/auth${path}`, { method: 'POST', body });
}
