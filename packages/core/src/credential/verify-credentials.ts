import { AnswerCache, type CacheUse, type SnapshotAnswer } from '../answer-cache.ts';
import { LRUCache } from 'lru-cache';
import { type DatabaseHealth, queryDatabase } from '../database-health.ts';
import type { Invalidation } from '../invalidation.ts';
import { type AccessTokenClaims, type AccessTokenCodec, isAccessTokenClaims } from './access-token.ts';
import { LeadsError } from '../errors.ts';
import { addressBlock } from '../address-block.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import { apiKeyLength, hashApiKey, isApiKey } from './api-key.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, CredentialLookup, KnownApiKey, MemberRef } from './credential-store.ts';
import { compileNetworks } from './networks.ts';
import type { Principal } from './principal.ts';

/** The sources of API keys while the database is unavailable. */
export interface StaleKeys {
  readonly database: DatabaseHealth;
  /** The snapshot's keys, by their SHA-256. */
  readonly snapshot?:
    | { findApiKey(hash: Buffer): Promise<SnapshotAnswer<KnownApiKey> | undefined> }
    | undefined;
}

/** How long a key counts as known after it was found, in milliseconds. The lookups of known keys are not limited. */
const foundMs = 24 * 3_600_000;
const maxFound = 50_000;

/** How long a verified signature of an access token is remembered, in milliseconds, and of how many tokens. */
const signatureMs = 10_000;
const maxSignatures = 10_000;

/** A cached API key. Its principal is built once: to compile its networks takes longer than a request. */
type CachedKey = KnownApiKey & { readonly principal: Principal };

/** Finds the principal of a credential. Results are cached for some seconds, also for unknown credentials. */
export class CredentialVerifier {
  readonly #lookup: CredentialLookup;
  readonly #staleKeys: StaleKeys | undefined;
  readonly #keys: AnswerCache<CachedKey | undefined>;
  readonly #unknownKeys: RateLimit | undefined;
  /** The SHA-256 of the keys that were found, in base64. */
  readonly #found = new LRUCache<string, true>({ max: maxFound, ttl: foundMs });
  readonly #tokens = new AnswerCache<AccessToken | undefined>();
  /** The claims of tokens with a valid signature. In a profile, verifying one took 3 % of the time of a request. */
  readonly #claims = new LRUCache<string, AccessTokenClaims>({
    max: maxSignatures,
    ttl: signatureMs,
    // Expired tokens leave the memory, because they are secrets.
    ttlAutopurge: true,
  });

  /**
   * @param staleKeys Without it, stale keys are never served.
   * @param unknownKeys limits the lookups of unknown keys from one address. Without it, there is no limit.
   */
  constructor(lookup: CredentialLookup, staleKeys?: StaleKeys, unknownKeys?: RateLimit) {
    this.#lookup = lookup;
    this.#unknownKeys = unknownKeys;
    this.#staleKeys = staleKeys;
    // An expired or revoked key stays so. An unknown key may be newer than the cached answer, so it is queried again.
    this.#keys = new AnswerCache(
      staleKeys && { database: staleKeys.database, isKept: (found) => found !== undefined },
      // Unknown keys share their part of the cache, so that they remove no known keys.
      (found) => found?.workspaceId ?? 'unknown',
    );
  }

  /**
   * Returns the principal of an API key, or `undefined` for a key that is malformed, unknown, expired or revoked. A
   * cached answer is returned synchronously.
   *
   * @param addressOf returns the address of the client.
   * @throws LeadsError `unavailable` for a key without an answer while the database is unavailable; `too_many_requests`
   *   for a key that was not found recently if too many unknown keys came from the address.
   */
  verifyApiKey(
    apiKey: string,
    addressOf?: () => string,
  ): Principal | undefined | Promise<Principal | undefined> {
    if (apiKey.length !== apiKeyLength) return undefined;
    // The cache key is the API key itself, because hashing it takes as long as parsing a lead.
    const known = this.#keys.getFresh(apiKey);
    if (known !== undefined) return principalOf(known.found);
    if (!isApiKey(apiKey)) return undefined;
    const hash = hashApiKey(apiKey);
    const address = addressOf && this.#limitedAddress(hash, addressOf);
    const found = this.#keys.query(
      apiKey,
      () => this.#findApiKey(hash, address),
      () => this.#findInSnapshot(hash),
    );
    return found instanceof Promise ? found.then(principalOf) : principalOf(found);
  }

  /** Returns the principal of an API key that {@link verifyApiKey} has just rejected because it has expired. */
  findExpired(apiKey: string): Principal | undefined {
    const key = this.#keys.getFresh(apiKey)?.found;
    return key !== undefined && credentialState(key) === 'expired' ? key.principal : undefined;
  }

  /**
   * Returns the address whose lookups of unknown keys are limited; undefined for a key that was found recently.
   *
   * @throws LeadsError `too_many_requests`
   */
  #limitedAddress(hash: Buffer, addressOf: () => string): string | undefined {
    if (this.#unknownKeys === undefined || this.#found.has(hash.toString('base64'))) return undefined;
    const address = addressBlock(addressOf());
    const exceededForMs = this.#unknownKeys.exceededForMs(address);
    if (exceededForMs > 0) {
      throw new LeadsError('too_many_requests', {
        message: 'Too many unknown API keys from this address: try again later',
        retryAfterSeconds: Math.max(1, Math.ceil(exceededForMs / 1_000)),
      });
    }
    return address;
  }

  /** Only a lookup that finds no key counts: the first requests with valid keys can be more than the quota. */
  async #findApiKey(hash: Buffer, address: string | undefined): Promise<CachedKey | undefined> {
    const found = await queryDatabase(this.#staleKeys?.database, () => this.#lookup.findApiKey(hash));
    if (address !== undefined) {
      if (found === undefined) this.#unknownKeys?.take(address);
      else this.#found.set(hash.toString('base64'), true);
    }
    return found && compile(found);
  }

  async #findInSnapshot(hash: Buffer): Promise<SnapshotAnswer<CachedKey> | undefined> {
    const answer = await this.#staleKeys?.snapshot?.findApiKey(hash);
    return answer && { ...answer, found: compile(answer.found) };
  }

  /** Returns the id of a valid, unrevoked access token of the principal's user and workspace. */
  async verifyAccessToken(
    codec: AccessTokenCodec,
    token: string,
    principal: Principal,
  ): Promise<string | undefined> {
    const claims = this.#claimsOf(codec, token);
    if (claims === undefined) return undefined;
    if (claims.sub !== principal.userId || claims.ws !== principal.workspaceId) return undefined;
    const row = await this.#tokens.get(claims.jti, () => this.#lookup.findAccessToken(claims.jti));
    const isGood =
      row !== undefined &&
      credentialState(row) === 'active' &&
      row.userId === principal.userId &&
      row.workspaceId === principal.workspaceId;
    return isGood ? row.id : undefined;
  }

  /** Returns the claims of a token with a valid signature that has not expired. */
  #claimsOf(codec: AccessTokenCodec, token: string): AccessTokenClaims | undefined {
    const known = this.#claims.get(token);
    if (known?.exp !== undefined && Date.now() < known.exp * 1_000) return known;
    const claims = codec.verify(token);
    if (!isAccessTokenClaims(claims)) return undefined;
    if (claims.exp !== undefined) this.#claims.set(token, claims);
    return claims;
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

function compile(key: KnownApiKey): CachedKey {
  const principal = {
    workspaceId: key.workspaceId,
    userId: key.userId,
    role: key.role,
    apiKeyId: key.id,
    scope: key.scope,
    defaultCampaignId: key.defaultCampaignId,
    allowedOrigins: key.allowedOrigins,
    networks: compileNetworks(key.allowedNetworks),
  };
  return { ...key, principal };
}

function principalOf(key: CachedKey | undefined): Principal | undefined {
  return key !== undefined && credentialState(key) === 'active' ? key.principal : undefined;
}
