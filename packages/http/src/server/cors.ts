import type { FastifyReply } from 'fastify';

/** The request headers that a page's script may send, besides the CORS-safelisted ones (Fetch, 3.3). */
const allowedHeaders = 'API_KEY, X-API-Key, Content-Type, Idempotency-Key';
/** The response headers that a page's script may read. */
const exposedHeaders = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy';
/** How long browsers may cache a preflight, in seconds. Chromium caches it for 2 hours at most. */
const maxAgeSeconds = 7_200;

/**
 * Answers the preflight that a browser sends before a page's script may send a lead. A preflight contains no API key,
 * so every page gets the same answer. {@link allowOrigin} decides whether the page may read the response to the lead.
 */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply.code(204).headers({
    allow: 'OPTIONS, POST',
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': allowedHeaders,
    'access-control-max-age': maxAgeSeconds,
  });
}

/** Lets the scripts of one origin read the response, errors included, without cookies. */
export function allowOrigin(reply: FastifyReply, origin: string): void {
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders,
  });
}
