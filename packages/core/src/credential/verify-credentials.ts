import { AnswerCache, type CacheUse, type Recalled } from '../answer-cache.ts';
import type { DatabaseHealth } from '../database-health.ts';
import type { Invalidation } from '../invalidation.ts';
import { type AccessTokenCodec, isAccessTokenClaims } from './access-token.ts';
import { apiKeyLength, hashApiKey, isApiKey } from './api-key.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, CredentialLookup, KnownApiKey, MemberRef } from './credential-store.ts';
import type { Principal } from './principal.ts';

/** How keys that are known are taken for longer while the store is away. */
export interface StaleKeys {
  readonly store: DatabaseHealth;
  /** Knows keys that were kept elsewhere, by their SHA-256. */
  readonly memory?: { recallApiKey(hash: Buffer): Promise<Recalled<KnownApiKey> | undefined> } | undefined;
}

/** Tells who a credential stands for. Answers are cached for some seconds, unknown credentials too. */
export class CredentialVerifier {
  readonly #lookup: CredentialLookup;
  readonly #staleKeys: StaleKeys | undefined;
  readonly #keys: AnswerCache<KnownApiKey | undefined>;
  readonly #tokens = new AnswerCache<AccessToken | undefined>();

  /** @param staleKeys without it no key is taken that the store was not asked about some seconds ago. */
  constructor(lookup: CredentialLookup, staleKeys?: StaleKeys) {
    this.#lookup = lookup;
    this.#staleKeys = staleKeys;
    // A key that is expired or revoked stays so. One that is unknown may only be so here: it is asked for anew.
    this.#keys = new AnswerCache(
      staleKeys && { store: staleKeys.store, isKept: (found) => found !== undefined },
    );
  }

  /**
   * The principal of an API key, or `undefined` for one that is malformed, unknown, expired or revoked; at once
   * where it is known.
   *
   * @throws LeadsError `unavailable` for one that is not known while the store is away.
   */
  verifyApiKey(apiKey: string): Principal | undefined | Promise<Principal | undefined> {
    if (apiKey.length !== apiKeyLength) return undefined;
    // By the key itself: to hash it for each request would take as long as to make a lead of its body.
    const known = this.#keys.fresh(apiKey);
    if (known !== undefined) return principalOf(known.found);
    if (!isApiKey(apiKey)) return undefined;
    const found = this.#keys.ask(
      apiKey,
      () => this.#lookup.findApiKey(hashApiKey(apiKey)),
      async () => this.#staleKeys?.memory?.recallApiKey(hashApiKey(apiKey)),
    );
    return found instanceof Promise ? found.then(principalOf) : principalOf(found);
  }

  /** The id of an access token that is valid, not revoked, and of the principal's user and workspace. */
  async verifyAccessToken(
    codec: AccessTokenCodec,
    token: string,
    principal: Principal,
  ): Promise<string | undefined> {
    const claims = codec.verify(token);
    if (!isAccessTokenClaims(claims)) return undefined;
    if (claims.sub !== principal.userId || claims.ws !== principal.workspaceId) return undefined;
    const row = await this.#tokens.get(claims.jti, () => this.#lookup.findAccessToken(claims.jti));
    const isGood =
      row !== undefined &&
      credentialState(row) === 'active' &&
      row.userId === principal.userId &&
      row.workspaceId === principal.workspaceId;
    return isGood ? row.id : undefined;
  }

  /** Forgets what is not so any more: it is asked for anew. */
  forget(change: Invalidation): void {
    if (change.kind === 'routes') return;
    const isOf = (found: (MemberRef & { readonly id: string }) | undefined) =>
      found !== undefined &&
      (change.kind === 'member'
        ? found.workspaceId === change.workspaceId && found.userId === change.userId
        : found.id === change.id);
    this.#keys.forget(isOf);
    this.#tokens.forget(isOf);
  }

  /** Since it was made. */
  cacheUse(): { readonly api_key: CacheUse; readonly access_token: CacheUse } {
    return { api_key: this.#keys.use, access_token: this.#tokens.use };
  }
}

function principalOf(key: KnownApiKey | undefined): Principal | undefined {
  if (key === undefined || credentialState(key) !== 'active') return undefined;
  return {
    workspaceId: key.workspaceId,
    userId: key.userId,
    role: key.role,
    apiKeyId: key.id,
    scope: key.scope,
    defaultCampaignId: key.defaultCampaignId,
    allowedOrigins: key.allowedOrigins,
  };
}
