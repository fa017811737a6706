import type { FastifyReply } from 'fastify';

/** What a page may send beyond what any page may (Fetch, 3.3). */
const allowedHeaders = 'API_KEY, X-API-Key, Content-Type, Idempotency-Key';
/** What the script of a page may read of an answer beyond its body. */
const exposedHeaders = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy';
/** How long browsers may remember a preflight, in seconds; Chromium does so for two hours at most. */
const maxAgeSeconds = 7_200;

/**
 * What a browser asks before a page's script may send a lead. The key is not among it, so the answer is the same for
 * every page and says nothing of any key: whether a page may read what is then answered is decided by
 * {@link allowPage}.
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

/** Lets the scripts of one origin's pages read the answer, errors included; never with cookies. */
export function allowPage(reply: FastifyReply, origin: string): void {
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders,
  });
}
