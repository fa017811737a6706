import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Logs a request whose client disconnects before its response. Of pipelined requests, it logs the last one.
 *
 * There is one listener for each connection. Fastify's hook `onRequestAbort` adds one for each request, which costs
 * measurable time.
 */
export function logAbortedRequests(app: Pick<FastifyInstance, 'addHook'>): void {
  const lastRequests = new WeakMap<Socket, { request: FastifyRequest | undefined }>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { socket } = request.raw;
    const last = lastRequests.get(socket);
    if (last !== undefined) last.request = request;
    else watch(socket, request);
    done();
  });
  // The request of an idle connection leaves the memory.
  app.addHook('onResponse', (request, _reply, done) => {
    const last = lastRequests.get(request.raw.socket);
    if (last?.request === request) last.request = undefined;
    done();
  });

  const watch = (socket: Socket, request: FastifyRequest) => {
    const last: { request: FastifyRequest | undefined } = { request };
    lastRequests.set(socket, last);
    // Node has marked the requests without a response when it reports the end of the connection.
    socket.once('close', () => {
      if (last.request?.raw.aborted !== true) return;
      const { log, method, routeOptions } = last.request;
      log.info({ method, route: routeOptions.url }, 'The client disconnected during the request');
    });
  };
}
