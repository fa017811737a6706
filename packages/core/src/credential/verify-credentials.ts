import { LRUCache } from 'lru-cache';
import { type AccessTokenCodec, isAccessTokenClaims } from './access-token.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, CredentialLookup } from './credential-store.ts';
import type { Principal } from './principal.ts';

/**
 * How long an answer of the store is believed, in milliseconds. With the time a request takes it keeps the
 * promise that a revocation is in force everywhere within 10 s.
 */
const freshMs = 8_000;
const cachedCredentials = 10_000;

type KeyRecord = NonNullable<Awaited<ReturnType<CredentialLookup['findApiKey']>>>;
type Answers<Found> = LRUCache<string, { found: Found | undefined }>;

/** Tells who a credential stands for. Answers are cached for {@link freshMs}, unknown credentials too. */
export class CredentialVerifier {
  readonly #keys: Answers<KeyRecord>;
  readonly #tokens: Answers<AccessToken>;

  constructor(lookup: CredentialLookup) {
    this.#keys = cacheAnswers((hash) => lookup.findApiKey(Buffer.from(hash, 'base64')));
    this.#tokens = cacheAnswers((id) => lookup.findAccessToken(id));
  }

  /** The principal of an API key, or `undefined` for one that is malformed, unknown, expired or revoked. */
  async verifyApiKey(apiKey: string): Promise<Principal | undefined> {
    if (!isApiKey(apiKey)) return undefined;
    const { found: key } = await this.#keys.forceFetch(hashApiKey(apiKey).toString('base64'));
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

  /** The id of an access token that is valid, not revoked, and of the principal's user and workspace. */
  async verifyAccessToken(
    codec: AccessTokenCodec,
    token: string,
    principal: Principal,
  ): Promise<string | undefined> {
    const claims = codec.verify(token);
    if (!isAccessTokenClaims(claims)) return undefined;
    if (claims.sub !== principal.userId || claims.ws !== principal.workspaceId) return undefined;
    const { found: row } = await this.#tokens.forceFetch(claims.jti);
    const isGood =
      row !== undefined &&
      credentialState(row) === 'active' &&
      row.userId === principal.userId &&
      row.workspaceId === principal.workspaceId;
    return isGood ? row.id : undefined;
  }
}

/** Who asks for the same at once shares a look-up; one that fails is not kept. */
function cacheAnswers<Found>(find: (key: string) => Promise<Found | undefined>): Answers<Found> {
  return new LRUCache({
    max: cachedCredentials,
    ttl: freshMs,
    // Who waits for an answer gets it, even when a flood of others pushes it out of the cache meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (key, _stale, { options }) => {
      const askedAt = performance.now();
      const found = await find(key);
      // Believed from when it was asked for: a slow answer may be old when it comes.
      options.ttl = Math.max(1, freshMs - Math.ceil(performance.now() - askedAt));
      return { found };
    },
  });
}
