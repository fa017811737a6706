import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Problem } from '@leads/core/error-schema';
import { type ErrorCode, errorTable, LeadsError } from '@leads/core/errors';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
  type RouteOptions,
} from 'fastify';
import type { Logger } from '../service/log.ts';
import type { Metrics } from '../service/metrics.ts';
import type { Tracing } from '../service/span.ts';
import { createErrorHandler, errorBody, errorResponses } from './errors.ts';
import { parseJsonBody } from './json-body.ts';
import { traceRequests } from './trace-requests.ts';
import { createFieldErrorFinder, restrictKeywords, validation } from './validation-errors.ts';

/** A Fastify whose handlers get their types from the routes' TypeBox schemas. */
export type Server = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * `starting` while the workers are not all there; `draining` from the moment the service was told to stop: it
     * still serves, but says that it is not ready; `leaving` once it takes no more connections, and each that is open
     * ends with its next answer.
     */
    lifecycle: { starting: boolean; draining: boolean; leaving: boolean };
    /** The connections whose present request may take longer to arrive: a long body that is being read. */
    unhurried: WeakSet<Socket>;
  }
}

/** The largest body, in bytes. */
const bodyLimit = 64 * 1024;
/** A request that has not arrived whole by then is cut, in milliseconds; its headers get half of it. */
const requestTimeoutMs = 10_000;

const requestIdShape = /^[\w.:-]{1,128}$/;

/**
 * The server both services are built on: strict JSON in, errors of three fields or in detail out, bounded in size
 * and time, request ids, and logs that hold no personal data.
 *
 * @param options.metrics where requests are counted, if they are; `options.tracing` where they are traced.
 */
export function createServer(options: {
  log: Logger;
  trustProxy: string;
  metrics?: Metrics;
  tracing?: Tracing | undefined;
}): Server {
  const { metrics } = options;
  const loggerInstance: FastifyBaseLogger = options.log;
  const handleError = createErrorHandler(createFieldErrorFinder());
  const unhurried = new WeakSet<Socket>();
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: requestTimeoutMs / 2,
      connectionsCheckingInterval: 1_000,
      // Node refuses with an empty body; ours has the three fields.
      requireHostHeader: false,
    },
    trustProxy: options.trustProxy === '' ? false : options.trustProxy,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && requestIdShape.test(given) ? given : randomUUID();
    },
    forceCloseConnections: 'idle',
    // Fastify's own 503 has another body; what still comes on an open connection is served, and the last there.
    return503OnClosing: false,
    ajv: { customOptions: validation, onCreate: restrictKeywords },
    clientErrorHandler(error: Error & { code?: string }, socket: Socket) {
      // Node tells once that a request has not arrived whole, and leaves it to this handler to cut it.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket)) return;
      answerClientError(error, socket, metrics);
    },
    frameworkErrors: (error, request, reply) => {
      handleError(error, request, reply.header('x-request-id', request.id));
      // No hook runs for what the router refuses by itself.
      request.log.info({ method: request.method, status: reply.statusCode }, 'Request');
      metrics?.countRequest(request.method, undefined, reply.statusCode, 0);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorate('lifecycle', { starting: false, draining: false, leaving: false });
  app.decorate('unhurried', unhurried);
  // The responses of every route refer to it.
  app.addSchema(Problem);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, parseJsonBody(body));
    } catch (error) {
      done(error as LeadsError);
    }
  });
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(() => {
    throw new LeadsError('not_found');
  });

  // An expectation that is not known may be ignored (RFC 9110, 10.1.1); Node would refuse it with an empty body.
  app.server.on('checkExpectation', (...exchange) => app.server.emit('request', ...exchange));

  traceRequests(app, options.tracing);
  // With callbacks, here and below: each promise on the way of every request costs what can be measured.
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (!hasOneHost(request.raw)) done(new LeadsError('bad_request'));
    // Before the body is read: nobody makes the service parse for a path that is not there.
    else if (request.is404 || hasEmptyParameter(request)) done(new LeadsError('not_found'));
    else done();
  });
  // When it is sent: a request that came before the signal would keep its connection, and that the whole process.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (app.lifecycle.leaving) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    // The route's pattern instead of the URL: a query string can hold a phone number.
    const { url: route } = request.routeOptions;
    const { elapsedTime: elapsedMs, statusCode: status } = reply;
    metrics?.countRequest(request.method, route, status, elapsedMs / 1000);
    request.log.info(
      { method: request.method, route, status, durationMs: Math.round(elapsedMs * 10) / 10 },
      'Request',
    );
    done();
  });
  return app;
}

/** The router takes `/leads/` for `/leads/:id` with an id of nothing. */
function hasEmptyParameter({ params }: FastifyRequest): boolean {
  return Object.values(params as Record<string, string>).includes('');
}

/** HTTP/1.1 wants one `Host`, neither none nor several (RFC 9112, 3.2). */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/**
 * Registers routes, and for each of their paths an answer 405 with `Allow` (RFC 9110, 15.5.6) to the methods it
 * does not have.
 *
 * @throws Error for a route that declares no permission or no responses.
 */
export async function registerRoutes(app: Server, register: (app: Server) => Promise<void>): Promise<void> {
  const routes: RouteOptions[] = [];
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => void routes.push(route));
    await register(scope);
  });
  await app.after();
  const methodsOf = new Map<string, Set<string>>();
  for (const { method, url, config, schema } of routes) {
    const methods = [method].flat();
    const route = `${methods.join(', ')} ${url}`;
    if (config?.permission === undefined) throw new Error(`${route} declares no permission`);
    if (schema?.response === undefined) throw new Error(`${route} declares no responses`);
    methodsOf.set(url, new Set([...(methodsOf.get(url) ?? []), ...methods]));
  }
  for (const [url, methods] of methodsOf) {
    const allow = [...methods].toSorted().join(', ');
    app.route({
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      url,
      schema: { hide: true, response: errorResponses('not_found', 'method_not_allowed') },
      config: { permission: 'public' },
      async onRequest(_request, reply) {
        reply.header('allow', allow);
        throw new LeadsError('method_not_allowed');
      },
      handler: () => undefined,
    });
  }
}

/**
 * The address of the client, as the trusted proxies tell it: an IPv4 or IPv6 address without a zone. An IPv4
 * address within IPv6 is given as the IPv4 address it is.
 */
export function clientAddress(request: FastifyRequest): string {
  const told = plainAddress(request.ip);
  // A proxy passes on whatever it was sent in X-Forwarded-For.
  return isIP(told) === 0 ? plainAddress(request.socket.remoteAddress ?? '') : told;
}

/** An IPv4 address within IPv6, as a URL writes it. */
const mappedAddress = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/;

function plainAddress(address: string): string {
  if (isIP(address) === 4) return address;
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  const [, ...halves] = mappedAddress.exec(new URL(`http://[${plain}]`).hostname) ?? [];
  if (halves.length === 0) return plain;
  return halves
    .flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255])
    .join('.');
}

/** Answers what Node's HTTP parser refuses before there is a request. */
function answerClientError(error: Error & { code?: string }, socket: Socket, metrics?: Metrics): void {
  // The other side is gone already: there is nobody to answer.
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const code: ErrorCode =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'bad_request';
  metrics?.countMalformed(errorTable[code].status);
  const body = JSON.stringify(errorBody(code));
  socket.end(
    `HTTP/1.1 ${errorTable[code].status} ${errorTable[code].message}\r\n` +
      'content-type: application/json; charset=utf-8\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
