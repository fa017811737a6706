import fastifyStatic from '@fastify/static';
import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import { listAssets, pageHeaders, websiteDirectory, websitePages } from './built-website.ts';

/** The responses of a file: the whole file, a part (RFC 9110, 15.3.7), or no content if the client has it cached. */
const responses = {
  200: Type.String(),
  206: Type.String(),
  304: { type: 'null', description: 'The cached file is current.' },
  308: { type: 'null', description: 'The page has another address.' },
  ...errorResponses('not_found', 'unexpected'),
};

/** Registers the website: one document for all pages, and precompressed files with a hash in their names. */
export async function staticFileRoutes(app: Server): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, permission: 'public' };
      route.schema = { hide: true, response: responses };
      route.logLevel = 'warn';
    });
    scope.addHook('onRequest', async (_request, reply) => {
      reply.headers(pageHeaders);
    });
    await scope.register(fastifyStatic, {
      root: websiteDirectory,
      wildcard: false,
      preCompressed: true,
      index: false,
      globIgnore: ['assets/**', '**/*.{br,gz,map}', 'index.html'],
      cacheControl: false,
      setHeaders(reply, path) {
        const isHashed = path.includes('/assets/');
        reply.setHeader('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
        reply.setHeader('vary', 'accept-encoding');
      },
    });
    // One route for all files, because a route for each takes half of the service's start.
    const assets = new Set(listAssets());
    scope.get<{ Params: { name: string } }>('/assets/:name', ({ params: { name } }, reply) => {
      if (!assets.has(name)) throw new LeadsError('not_found');
      return reply.sendFile(`assets/${name}`);
    });
    for (const page of websitePages) {
      scope.get(page, (_request, reply) => reply.sendFile('index.html'));
    }
  });
}
