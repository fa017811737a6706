import { AnswerCache, type CacheUse, type SnapshotAnswer } from '../answer-cache.ts';
import type { DatabaseHealth } from '../database-health.ts';
import type { Invalidation } from '../invalidation.ts';
import { type AccessTokenCodec, isAccessTokenClaims } from './access-token.ts';
import { apiKeyLength, hashApiKey, isApiKey } from './api-key.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, CredentialLookup, KnownApiKey, MemberRef } from './credential-store.ts';
import type { Principal } from './principal.ts';

/** The sources of API keys while the database is unavailable. */
export interface StaleKeys {
  readonly database: DatabaseHealth;
  /** The snapshot's keys, by their SHA-256. */
  readonly snapshot?:
    | { findApiKey(hash: Buffer): Promise<SnapshotAnswer<KnownApiKey> | undefined> }
    | undefined;
}

/** Finds the principal of a credential. Results are cached for some seconds, also for unknown credentials. */
export class CredentialVerifier {
  readonly #lookup: CredentialLookup;
  readonly #staleKeys: StaleKeys | undefined;
  readonly #keys: AnswerCache<KnownApiKey | undefined>;
  readonly #tokens = new AnswerCache<AccessToken | undefined>();

  /** @param staleKeys Without it, stale keys are never served. */
  constructor(lookup: CredentialLookup, staleKeys?: StaleKeys) {
    this.#lookup = lookup;
    this.#staleKeys = staleKeys;
    // An expired or revoked key stays so. An unknown key may be newer than the cached answer, so it is queried again.
    this.#keys = new AnswerCache(
      staleKeys && { database: staleKeys.database, isKept: (found) => found !== undefined },
    );
  }

  /**
   * Returns the principal of an API key, or `undefined` for a key that is malformed, unknown, expired or revoked. A
   * cached answer is returned synchronously.
   *
   * @throws LeadsError `unavailable` for a key without an answer while the database is unavailable.
   */
  verifyApiKey(apiKey: string): Principal | undefined | Promise<Principal | undefined> {
    if (apiKey.length !== apiKeyLength) return undefined;
    // The cache key is the API key itself, because hashing it takes as long as parsing a lead.
    const known = this.#keys.getFresh(apiKey);
    if (known !== undefined) return principalOf(known.found);
    if (!isApiKey(apiKey)) return undefined;
    const found = this.#keys.query(
      apiKey,
      () => this.#lookup.findApiKey(hashApiKey(apiKey)),
      async () => this.#staleKeys?.snapshot?.findApiKey(hashApiKey(apiKey)),
    );
    return found instanceof Promise ? found.then(principalOf) : principalOf(found);
  }

  /** Returns the id of a valid, unrevoked access token of the principal's user and workspace. */
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

  /** Removes the answers that a change outdates. */
  invalidate(change: Invalidation): void {
    if (change.kind === 'routes') return;
    const isOf = (found: (MemberRef & { readonly id: string }) | undefined) =>
      found !== undefined &&
      (change.kind === 'member'
        ? found.workspaceId === change.workspaceId && found.userId === change.userId
        : found.id === change.id);
    this.#keys.invalidate(isOf);
    this.#tokens.invalidate(isOf);
  }

  /** The counts since the verifier was created. */
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
