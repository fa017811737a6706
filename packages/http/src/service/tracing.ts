import type { Static, TObject } from 'typebox';
import type { Server } from '../server/create-server.ts';
import type { tracingSettings } from './config.ts';
import type { Logger } from './log.ts';

type Attributes = Readonly<Record<string, string | number>>;

/** What is under way, of a trace. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** What carries the trace on to what comes of it (W3C Trace Context, 3.2). None where the trace is not sampled. */
  readonly traceparent: string | undefined;
  /** @param error a short kind of error, where it has failed. */
  end(outcome?: { attributes?: Attributes; error?: string | undefined }): void;
}

/** Where spans are told. Telling never fails, nor is it waited for, until it is disposed. */
export interface Tracing extends AsyncDisposable {
  /**
   * @param options.parent a traceparent as it came, be it well formed or not; without one a trace begins.
   * @param options.attributes by OpenTelemetry's semantic conventions; none of what a caller sent.
   */
  start(
    name: string,
    options: { kind: 'server' | 'client' | 'producer'; parent: string | undefined; attributes: Attributes },
  ): Span;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** None where requests are not traced. */
    span: Span | undefined;
  }
}

/**
 * Tracing by OpenTelemetry, where it is configured; nothing of it is loaded where it is not.
 *
 * @param log is told when traces cannot be told any more, and when they can again.
 */
export async function openTracing(
  settings: Static<TObject<typeof tracingSettings>>,
  service: { readonly name: string; readonly version: string },
  log: Logger,
): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = settings;
  if (endpoint === undefined) return undefined;
  const { createTracing } = await import('./open-telemetry.ts');
  return createTracing({ endpoint, headers, service }, (isTold, err) => {
    if (isTold) log.info('Traces are told again');
    else log.warn({ err }, 'Traces cannot be told: those of meanwhile are lost, and it is tried again');
  });
}

/** A span for every request that leaves a line in the log, whose lines have its `trace_id`. */
export function traceRequests(app: Server, tracing: Tracing | undefined): void {
  app.decorateRequest('span');
  if (tracing === undefined) return;
  app.addHook('onRequest', (request, reply, done) => {
    const { method, headers, routeOptions } = request;
    // What is asked all day long, such as whether the service is alive, tells nobody anything.
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
