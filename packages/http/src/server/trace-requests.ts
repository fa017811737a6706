import type { FastifyInstance } from 'fastify';
import type { Span, Tracing } from '../service/span.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent when requests are not traced. */
    span: Span | undefined;
  }
}

/** Starts a span for every request that is logged, and adds its `trace_id` to the log lines of the request. */
export function traceRequests(
  app: Pick<FastifyInstance, 'addHook' | 'decorateRequest'>,
  tracing: Tracing | undefined,
): void {
  app.decorateRequest('span');
  if (tracing === undefined) return;
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers, routeOptions } = request;
    // Health checks and scrapes arrive every few seconds, and their traces are useless.
    if (routeOptions.logLevel === 'warn') {
      done();
      return;
    }
    const route = routeOptions.url;
    const parent = headers['traceparent'];
    request.span = tracing.start(route === undefined ? method : `${method} ${route}`, {
      kind: 'server',
      parent: typeof parent === 'string' ? parent : undefined,
      attributes: {
        'http.request.method': method,
        'url.scheme': request.protocol,
        ...(route !== undefined && { 'http.route': route }),
      },
    });
    request.log = reply.log = request.log.child({ trace_id: request.span.traceId });
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply;
    request.span?.end({
      attributes: { 'http.response.status_code': status },
      error: status >= 500 ? String(status) : undefined,
    });
    done();
  });
}
