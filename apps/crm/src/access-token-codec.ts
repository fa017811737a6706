import fastifyJwt from '@fastify/jwt';
import type { AccessTokenClaims, AccessTokenCodec } from '@leads/core/credential';
import Fastify from 'fastify';

/** Pinned: what a token's own header says about its algorithm is never believed. */
const algorithm = 'HS256';
const issuer = 'leads-crm';
const audience = 'leads-api';

/** Signs and checks access tokens with `@fastify/jwt`, for the server and for the command line alike. */
export async function createAccessTokenCodec(secret: string): Promise<AccessTokenCodec> {
  const app = Fastify();
  await app.register(fastifyJwt, {
    secret,
    sign: { algorithm, iss: issuer, aud: audience },
    verify: {
      algorithms: [algorithm],
      allowedIss: issuer,
      allowedAud: audience,
      // An issuer or audience is compared only where the token names one.
      requiredClaims: ['iss', 'aud', 'exp', 'iat'],
    },
  });
  return {
    sign: (claims, lifetimeSeconds) => app.jwt.sign({ ...claims }, { expiresIn: lifetimeSeconds }),
    verify(token) {
      try {
        return app.jwt.verify<AccessTokenClaims>(token);
      } catch {
        return undefined;
      }
    },
  };
}
