import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { acceptsGzip } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';

const compress = promisify(gzip);

/**
 * The routes whose responses are compressed: large lists without secrets. The size of a compressed response reveals
 * repeated text, so a response with a secret must not be compressed (BREACH).
 */
const lists: ReadonlySet<string | undefined> = new Set(['/api/console/order/leads', '/api/console/overview']);

/** Below this size in bytes, a response fits into few packets without compression. */
const minBytes = 4_096;

/** Compresses the lists of the website for browsers. Clients of the API get the same lists uncompressed. */
export function compressLists(app: Server): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.method !== 'GET' || reply.statusCode !== 200 || !lists.has(request.routeOptions.url))
      return payload;
    // An export is a stream.
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`);
    if (Buffer.byteLength(payload) < minBytes) return payload;
    if (!acceptsGzip(request.headers['accept-encoding'])) return payload;
    reply.header('content-encoding', 'gzip');
    return compress(payload, { level: constants.Z_BEST_SPEED });
  });
}
