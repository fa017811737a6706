import { AnswerCache, type CacheUse } from '../answer-cache.ts';
import { type AccessTokenCodec, isAccessTokenClaims } from './access-token.ts';
import { apiKeyLength, hashApiKey, isApiKey } from './api-key.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, CredentialLookup } from './credential-store.ts';
import type { Principal } from './principal.ts';

type KeyRecord = NonNullable<Awaited<ReturnType<CredentialLookup['findApiKey']>>>;

/** Tells who a credential stands for. Answers are cached for some seconds, unknown credentials too. */
export class CredentialVerifier {
  readonly #lookup: CredentialLookup;
  readonly #keys = new AnswerCache<KeyRecord | undefined>();
  readonly #tokens = new AnswerCache<AccessToken | undefined>();

  constructor(lookup: CredentialLookup) {
    this.#lookup = lookup;
  }

  /**
   * The principal of an API key, or `undefined` for one that is malformed, unknown, expired or revoked; at once
   * where it is known.
   */
  verifyApiKey(apiKey: string): Principal | undefined | Promise<Principal | undefined> {
    if (apiKey.length !== apiKeyLength) return undefined;
    // By the key itself: to hash it for each request would take as long as to make a lead of its body.
    const found = this.#keys.get(apiKey, async () =>
      isApiKey(apiKey) ? this.#lookup.findApiKey(hashApiKey(apiKey)) : undefined,
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

  /** Since it was made. */
  cacheUse(): { readonly api_key: CacheUse; readonly access_token: CacheUse } {
    return { api_key: this.#keys.use, access_token: this.#tokens.use };
  }
}

function principalOf(key: KeyRecord | undefined): Principal | undefined {
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
