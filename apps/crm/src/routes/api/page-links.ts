import type { FastifyReply, FastifyRequest } from 'fastify';

const hostShape = /^[\w.:[\]-]+$/;

/**
 * Sets `Link` (RFC 8288) to the URLs of the previous and the next page. The URLs have the host of the request. If that
 * host is not valid in a URL, they have no scheme and host.
 *
 * @param pages the query of each existing page, by relation.
 */
export function linkPages(
  request: FastifyRequest,
  reply: FastifyReply,
  pages: Readonly<Partial<Record<'next' | 'prev', Readonly<Record<string, string>>>>>,
): void {
  const origin = hostShape.test(request.host) ? `${request.protocol}://${request.host}` : '';
  // Removes the scheme and host of a request in absolute form.
  const path = request.url.replace(/^[a-z]+:\/\/[^/]*/i, '').split('?', 1)[0] ?? '';
  const links = Object.entries(pages).map(
    ([relation, query]) => `<${origin}${path}?${new URLSearchParams(query).toString()}>; rel="${relation}"`,
  );
  if (links.length > 0) reply.header('link', links.join(', '));
}

/** Sets `Link` to the URL of the next page, if there is one. @param query the query of this page. */
export function linkNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  query: Readonly<Record<string, string>>,
  nextCursor: string | undefined,
): void {
  if (nextCursor !== undefined) linkPages(request, reply, { next: { ...query, cursor: nextCursor } });
}

/** The `Link` header in a route's response. */
export const linkHeader = {
  description: 'The URLs of the next and the previous page, `rel="next"` and `rel="prev"` (RFC 8288).',
  type: 'string',
} as const;
