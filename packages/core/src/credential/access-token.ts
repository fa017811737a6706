import { uuidPattern } from '../uuid.ts';

/** What an access token (a JWT, RFC 7519) says beyond `iss`, `aud`, `iat` and `exp`, which its codec keeps. */
export interface AccessTokenClaims {
  /** The user. */
  readonly sub: string;
  /** The token's row. */
  readonly jti: string;
  /** The workspace. */
  readonly ws: string;
}

/** Signs access tokens and checks them: signature, algorithm, issuer, audience and lifetime. */
export interface AccessTokenCodec {
  sign(claims: AccessTokenClaims, lifetimeSeconds: number): string;
  /** @returns the token's content, or `undefined` for a token that does not hold. */
  verify(token: string): unknown;
}

/** How long a token may live, in seconds. */
export const tokenLifetime = {
  minimum: 60 * 60,
  maximum: 365 * 24 * 60 * 60,
  default: 90 * 24 * 60 * 60,
} as const;

export function isAccessTokenClaims(content: unknown): content is AccessTokenClaims {
  if (typeof content !== 'object' || content === null) return false;
  return ['sub', 'jti', 'ws'].every((claim) => {
    const value = (content as Record<string, unknown>)[claim];
    return typeof value === 'string' && uuidPattern.test(value);
  });
}
