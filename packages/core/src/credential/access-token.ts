import { uuidPattern } from '../uuid.ts';

/** The claims of an access token (a JWT, RFC 7519). The codec adds `iss`, `aud`, `iat` and `exp`. */
export interface AccessTokenClaims {
  /** The id of the user. */
  readonly sub: string;
  /** The id of the token's row. */
  readonly jti: string;
  /** The id of the workspace. */
  readonly ws: string;
  /** When the token expires, in seconds since the epoch. The codec adds it. */
  readonly exp?: number;
}

/** Signs access tokens, and verifies their signature, algorithm, issuer, audience and lifetime. */
export interface AccessTokenCodec {
  sign(claims: AccessTokenClaims, lifetimeSeconds: number): string;
  /** Returns the claims of a token; `undefined` for an invalid token. */
  verify(token: string): unknown;
}

/** The limits of a token's lifetime, in seconds. */
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
