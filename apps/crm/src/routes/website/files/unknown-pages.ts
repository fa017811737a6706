import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { preferredType } from '@leads/http/server/accept';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pageHeaders, websiteDirectory, websitePages } from './built-website.ts';

/** Paths that programs call. Their errors are always JSON. */
const ofPrograms = /^\/(?:api|assets|health|metrics|openapi\.json|asyncapi\.json)(?:\/|$)/i;
const pages = ['/docs', ...websitePages].map((page) => page.split('/').filter((part) => part !== ''));

/**
 * Returns the path of the page that an address means: without a trailing slash, and in lower case except for its
 * parameters. Returns undefined if there is no such page.
 */
function pagePathOf(path: string): string | undefined {
  const given = path.split('/').filter((part) => part !== '');
  const page = pages.find(
    (parts) =>
      parts.length === given.length &&
      parts.every((part, index) => part.startsWith(':') || part === given[index]?.toLowerCase()),
  );
  return page && `/${page.map((part, index) => (part.startsWith(':') ? given[index] : part)).join('/')}`;
}

/** Returns whether a client names HTML and prefers it. Programs often accept any type. */
function isOfBrowser({ headers: { accept = '' } }: FastifyRequest): boolean {
  const types = ['application/json', 'application/problem+json', 'text/html'] as const;
  return /text\/html/i.test(accept) && preferredType(accept, types) === 'text/html';
}

/**
 * Creates a function that answers requests of browsers for unknown paths. It redirects to the page that the path means.
 * Without such a page, it sends the document of the website, whose script shows an error. It returns false for other
 * requests.
 */
export function createUnknownPageAnswer() {
  const document = readFileSync(join(websiteDirectory, 'index.html'));
  return (request: FastifyRequest, reply: FastifyReply): boolean => {
    const [path = '', query] = request.url.split(/\?(.*)/s);
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !isOfBrowser(request)) return false;
    void reply.header('vary', 'Accept');
    const page = pagePathOf(path);
    if (page !== undefined && page !== path) {
      // A relative address, and one of this service only, because the path of a page begins with one slash.
      void reply.redirect(query === undefined ? page : `${page}?${query}`, 308);
      return true;
    }
    if (ofPrograms.test(path)) return false;
    void reply.code(404).headers(pageHeaders).header('cache-control', 'no-cache');
    void reply.type('text/html; charset=utf-8').send(document);
    return true;
  };
}
