import type { Announce } from '../invalidation.ts';
import type { CredentialStore } from './credential-store.ts';

/** A store of credentials that tells all instances what is revoked. */
export function announceRevocations(store: CredentialStore, announce: Announce): CredentialStore {
  return {
    ...store,
    async revokeApiKey(...named) {
      const keys = await store.revokeApiKey(...named);
      const [key] = keys;
      // Of several, none was revoked.
      if (key !== undefined && keys.length === 1) await announce({ kind: 'api_key', id: key.id });
      return keys;
    },
    async revokeAccessToken(...named) {
      const token = await store.revokeAccessToken(...named);
      if (token !== undefined) await announce({ kind: 'access_token', id: token.id });
      return token;
    },
  };
}
