import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { acceptsGzip } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';

const compress = promisify(gzip);

/**
 * The routes whose responses are never compressed. The size of a compressed response reveals whether the text of an
 * attacker repeats a secret of the response (BREACH). These responses have secret links of invitations and integration
 * pages. Those of webhooks and postbacks have the tokens of receivers in their URLs, beside values of leads, which
 * anyone can send.
 */
const withSecrets =
  /^\/api\/console\/(campaigns\/:id\/integration-link|deliveries|failing-endpoints|integration|invitations|postbacks|webhooks)(\/|$)/;

/** Below this size in bytes, a response fits into one packet without compression. */
const minBytes = 1_024;

/**
 * Compresses the JSON of the website's GET routes for browsers that accept it. Clients of the API get the same lists
 * uncompressed. Responses to other methods are not compressed, because they show secrets once, such as a new API key.
 */
export function compressAnswers(app: Server): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (request.method !== 'GET' || reply.statusCode !== 200) return payload;
    if (withSecrets.test(request.routeOptions.url ?? '')) return payload;
    // Exports and events are streams.
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    if (!String(reply.getHeader('content-type')).startsWith('application/json')) return payload;
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'Accept-Encoding' : `${String(vary)}, Accept-Encoding`);
    if (Buffer.byteLength(payload) < minBytes) return payload;
    if (!acceptsGzip(request.headers['accept-encoding'])) return payload;
    reply.header('content-encoding', 'gzip');
    return compress(payload, { level: constants.Z_BEST_SPEED });
  });
}
