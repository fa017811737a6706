import { createHash } from 'node:crypto';
import type { BetterAuthOptions } from 'better-auth';
import type { AccountStore } from '../account-store.ts';
import { libraryLinkPrefix, storedLinkPrefix } from '../password-link-prefixes.ts';

/** Stores the SHA-256 hash of a password link instead of the link. */
export const hashedPasswordLinks = {
  storeIdentifier: {
    default: 'plain',
    overrides: {
      [libraryLinkPrefix]: {
        hash: async (identifier) =>
          storedLinkPrefix + createHash('sha256').update(identifier).digest('base64url'),
      },
    },
  },
} as const satisfies BetterAuthOptions['verification'];

/** Voids the older password links of a user when a new one is created. */
export function onlyNewestPasswordLink(store: Pick<AccountStore, 'voidPasswordLinks'>) {
  return {
    create: {
      async after({ id, identifier, value }) {
        if (identifier.startsWith(storedLinkPrefix)) await store.voidPasswordLinks(value, id);
      },
    },
  } satisfies NonNullable<BetterAuthOptions['databaseHooks']>['verification'];
}
