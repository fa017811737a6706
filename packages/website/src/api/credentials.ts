import type {
  AccessTokenShown,
  AccessTokenView,
  ApiKeyShown,
  ApiKeyView,
  NewAccessToken,
  NewApiKey,
} from '@leads/core/credential';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client.ts';

/** A new credential with its secret, which is shown only once. */
export interface MadeCredential {
  readonly kind: 'apiKey' | 'accessToken';
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}

/** Refresh intervals of the lists of credentials, in milliseconds. */
const refreshMs = { rotating: 5_000, otherwise: 15_000 } as const;

/** Returns the keys that replace other active keys, by the id of the replaced key. */
export function replacementsOf(keys: readonly ApiKeyView[]): ReadonlyMap<string, ApiKeyView> {
  const active = keys.filter(({ state }) => state === 'active');
  // The list is sorted newest first, so the newest replacement is set last.
  return new Map(
    active
      .toReversed()
      .flatMap((key) =>
        key.replacesId !== undefined && active.some(({ id }) => id === key.replacesId)
          ? [[key.replacesId, key] as const]
          : [],
      ),
  );
}

/** The beginning of the keys of all lists of credentials. One credential is in several lists. */
export const credentialsKey = ['credentials'] as const;

export const apiKeysQuery = queryOptions({
  queryKey: [...credentialsKey, 'api-keys'],
  queryFn: ({ signal }) => call<ApiKeyView[]>('/console/api-keys', { signal }),
  refetchInterval: ({ state }) =>
    replacementsOf(state.data ?? []).size > 0 ? refreshMs.rotating : refreshMs.otherwise,
});

export const accessTokensQuery = queryOptions({
  queryKey: [...credentialsKey, 'access-tokens'],
  queryFn: ({ signal }) => call<AccessTokenView[]>('/console/access-tokens', { signal }),
  refetchInterval: refreshMs.otherwise,
});

const madeApiKey = ({ apiKey, record: { id, name } }: ApiKeyShown): MadeCredential => ({
  kind: 'apiKey',
  id,
  name,
  secret: apiKey,
});

export async function createApiKey(body: NewApiKey): Promise<MadeCredential> {
  return madeApiKey(await call<ApiKeyShown>('/console/api-keys', { method: 'POST', body }));
}

/** Creates a key that replaces another key. The other key stays valid until it is revoked. */
export async function rotateApiKey(id: string): Promise<MadeCredential> {
  return madeApiKey(await call<ApiKeyShown>(`/console/api-keys/${id}/rotate`, { method: 'POST', body: {} }));
}

export function revokeApiKey(id: string): Promise<unknown> {
  return call(`/console/api-keys/${id}`, { method: 'DELETE' });
}

export async function createAccessToken(body: NewAccessToken): Promise<MadeCredential> {
  const { accessToken, record } = await call<AccessTokenShown>('/console/access-tokens', {
    method: 'POST',
    body,
  });
  return { kind: 'accessToken', id: record.id, name: record.name, secret: accessToken };
}

export function revokeAccessToken(id: string): Promise<unknown> {
  return call(`/console/access-tokens/${id}`, { method: 'DELETE' });
}
