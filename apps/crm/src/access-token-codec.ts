import fastifyJwt from '@fastify/jwt';
import type { AccessTokenClaims, AccessTokenCodec } from '@leads/core/credential';
import Fastify from 'fastify';

/** The only accepted algorithm. The algorithm in a token's header is not trusted. */
const algorithm = 'HS256';
const issuer = 'leads-crm';
const audience = 'leads-api';

/** Creates the codec that signs and verifies access tokens with `@fastify/jwt`, for the server and the command line. */
export async function createAccessTokenCodec(secret: string): Promise<AccessTokenCodec> {
  const app = Fastify();
  await app.register(fastifyJwt, {
    secret,
    sign: { algorithm, iss: issuer, aud: audience },
    verify: {
      algorithms: [algorithm],
      allowedIss: issuer,
      allowedAud: audience,
      // The library checks the issuer and the audience only if the token contains them.
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
