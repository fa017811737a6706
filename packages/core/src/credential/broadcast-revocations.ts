import type { BroadcastInvalidation } from '../invalidation.ts';
import type { CredentialStore } from './credential-store.ts';

/** Returns a credential store that broadcasts every revocation. */
export function broadcastRevocations(
  store: CredentialStore,
  broadcast: BroadcastInvalidation,
): CredentialStore {
  return {
    ...store,
    async revokeApiKey(...named) {
      const keys = await store.revokeApiKey(...named);
      const [key] = keys;
      // If the prefix matches several keys, none is revoked.
      if (key !== undefined && keys.length === 1) await broadcast({ kind: 'api_key', id: key.id });
      return keys;
    },
    async revokeAccessToken(...named) {
      const token = await store.revokeAccessToken(...named);
      if (token !== undefined) await broadcast({ kind: 'access_token', id: token.id });
      return token;
    },
    async revokeAllOfUser(...user) {
      const revoked = await store.revokeAllOfUser(...user);
      await Promise.all([
        ...revoked.apiKeys.map(({ id }) => broadcast({ kind: 'api_key', id })),
        ...revoked.accessTokens.map(({ id }) => broadcast({ kind: 'access_token', id })),
      ]);
      return revoked;
    },
  };
}
