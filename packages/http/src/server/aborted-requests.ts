import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The status of a request whose client disconnects before the response begins, as nginx logs it. */
const clientClosedRequest = 499;

/** A request and its reply. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Logs a request whose client disconnects before its response. Of pipelined requests, it logs the last one.
 *
 * There is one listener for each connection. Fastify's hook `onRequestAbort` adds one for each request, which costs
 * measurable time.
 *
 * @param onAborted receives the request, the status of its response as far as it was sent, and its duration in
 *   milliseconds.
 */
export function logAbortedRequests(
  app: Pick<FastifyInstance, 'addHook'>,
  onAborted: (request: FastifyRequest, status: number, elapsedMs: number) => void,
): void {
  const lastExchanges = new WeakMap<Socket, { exchange: Exchange | undefined }>();
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw;
    const last = lastExchanges.get(socket);
    if (last !== undefined) last.exchange = { request, reply };
    else watch(socket, { request, reply });
    done();
  });
  // The request of an idle connection leaves the memory.
  app.addHook('onResponse', (request, _reply, done) => {
    const last = lastExchanges.get(request.raw.socket);
    if (last?.exchange?.request === request) last.exchange = undefined;
    done();
  });

  const watch = (socket: Socket, exchange: Exchange) => {
    const last: { exchange: Exchange | undefined } = { exchange };
    lastExchanges.set(socket, last);
    // Node has marked the requests without a response when it reports the end of the connection.
    socket.once('close', () => {
      if (last.exchange?.request.raw.aborted !== true) return;
      const { request, reply } = last.exchange;
      const { log, method, routeOptions } = request;
      log.info({ method, route: routeOptions.url }, 'The client disconnected during the request');
      onAborted(
        request,
        reply.raw.headersSent ? reply.raw.statusCode : clientClosedRequest,
        reply.elapsedTime,
      );
    });
  };
}
