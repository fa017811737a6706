import type { FastifyReply, FastifyRequest } from 'fastify';

const hostShape = /^[\w.:[\]-]+$/;

/**
 * Sets `Link` (RFC 8288) to the pages around the one that is answered: their addresses as the caller addresses
 * this service, without scheme and host where the caller names no host that could stand in an address.
 *
 * @param pages by relation, the query of each page there is.
 */
export function linkPages(
  request: FastifyRequest,
  reply: FastifyReply,
  pages: Readonly<Partial<Record<'next' | 'prev', Readonly<Record<string, string>>>>>,
): void {
  const origin = hostShape.test(request.host) ? `${request.protocol}://${request.host}` : '';
  // Without what a request to a whole address has before its path.
  const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, '').split('?', 1)[0] ?? '';
  const links = Object.entries(pages).map(
    ([relation, query]) => `<${origin}${path}?${new URLSearchParams(query).toString()}>; rel="${relation}"`,
  );
  if (links.length > 0) reply.header('link', links.join(', '));
}

/** `Link` in a route's response. */
export const linkHeader = {
  description: 'The pages around this one, `rel="next"` and `rel="prev"` (RFC 8288).',
  type: 'string',
} as const;
