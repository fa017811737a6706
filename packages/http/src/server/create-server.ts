import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP, Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Principal } from '@leads/core/credential';
import { Problem } from '@leads/core/error-schema';
import { type ErrorCode, LeadsError } from '@leads/core/errors';
import type { RequestLog } from '@leads/core/request-log';
import { uuidPattern } from '@leads/core/uuid';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
  type RouteOptions,
  type preValidationHookHandler,
} from 'fastify';
import type { Logger } from '../service/log.ts';
import type { Metrics } from '../service/metrics.ts';
import type { Tracing } from '../service/span.ts';
import { logAbortedRequests } from './aborted-requests.ts';
import { ClientErrorAnswers } from './client-errors.ts';
import { createErrorHandler, errorResponses } from './errors.ts';
import { codingError } from './content-coding.ts';
import { isBodyOptional, parseJsonBody } from './json-body.ts';
import { OpenConnections } from './open-connections.ts';
import { buildSerializer } from './response-serializers.ts';
import { securityHeadersOf } from './security-headers.ts';
import { createHostCheck } from './served-hosts.ts';
import { traceRequests } from './trace-requests.ts';
import {
  createFieldErrorFinder,
  restrictFormats,
  restrictKeywords,
  shareValidators,
  validation,
} from './validation-errors.ts';

/** A Fastify instance whose handlers are typed by the TypeBox schemas of the routes. */
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
     * - `starting`: not all workers have started.
     * - `draining`: the service has received the signal to stop. It serves requests, but it is not ready.
     * - `leaving`: the service accepts no connections. Each open connection closes after its next response.
     */
    lifecycle: { starting: boolean; draining: boolean; leaving: boolean };
    /** The connections that are exempt from the request timeout, because a long body is being read. */
    unhurried: WeakSet<Socket>;
    connections: OpenConnections;
  }
  interface FastifyContextConfig {
    /** The time after which a client that reads nothing of the response is disconnected, in milliseconds. Default: 30 s. */
    idleMs?: number;
  }
  interface FastifyRequest {
    /** The member of the API key. A guard sets it when the key is known, also if it rejects the request or the key has expired. */
    keyPrincipal: Principal | undefined;
    /** The code of the error that answers the request. */
    errorCode: ErrorCode | undefined;
  }
}

/** The largest body, in bytes. */
const bodyLimit = 64 * 1024;
/** The timeout of the start of a part of the service. Fastify's default of 10 s ended the start on a busy machine. */
const pluginTimeoutMs = 120_000;
/** The timeout of a whole request, in milliseconds. Its headers must arrive within half of it. */
export const requestTimeoutMs = 10_000;

/** The default of the route option `idleMs`. */
const defaultIdleMs = 30_000;

const requestIdShape = /^[\w.:-]{1,128}$/;

/**
 * Creates the server that both services are built on. It parses JSON strictly and limits requests in size and time.
 * Errors have three fields or are problem details. Every response has a request id. Logs contain no personal data.
 *
 * @param options.publicUrl the origin of the service for clients. Its host is served.
 * @param options.servedHosts further hosts that are served, separated by commas.
 * @param options.metrics counts the requests, if given.
 * @param options.tracing traces the requests, if given.
 * @param options.requestLog notes the requests with an API key, if given.
 * @param options.answerUnknownPath may answer a request for a path without a route. If it returns false, the request is
 *   answered with 404 as JSON.
 */
export function createServer(options: {
  log: Logger;
  trustProxy: string;
  publicUrl?: string | undefined;
  servedHosts?: string;
  metrics?: Metrics;
  tracing?: Tracing | undefined;
  requestLog?: Pick<RequestLog, 'note'>;
  answerUnknownPath?: (request: FastifyRequest, reply: FastifyReply) => boolean;
}): Server {
  const { metrics, requestLog } = options;
  const loggerInstance: FastifyBaseLogger = options.log;
  const handleError = createErrorHandler(createFieldErrorFinder());
  const unhurried = new WeakSet<Socket>();
  const securityHeaders = securityHeadersOf(options.publicUrl);
  const connections = new OpenConnections();
  const clientErrors = new ClientErrorAnswers(securityHeaders, metrics, connections);
  const isServed = createHostCheck({
    publicUrl: options.publicUrl,
    servedHosts: options.servedHosts ?? '',
  });
  const noteRequest = (request: FastifyRequest, status: number, elapsedMs: number) => {
    const { keyPrincipal, method, routeOptions, errorCode: code } = request;
    if (keyPrincipal === undefined || routeOptions.url === undefined) return;
    requestLog?.note(keyPrincipal, { method, route: routeOptions.url, status, code, durationMs: elapsedMs });
  };
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    pluginTimeout: pluginTimeoutMs,
    requestTimeout: requestTimeoutMs,
    http: {
      headersTimeout: requestTimeoutMs / 2,
      connectionsCheckingInterval: 1_000,
      // Node would reject a missing host with an empty body. The onRequest hook below answers with the three fields.
      requireHostHeader: false,
    },
    trustProxy: options.trustProxy === '' ? false : options.trustProxy,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && requestIdShape.test(given) ? given : randomUUID();
    },
    forceCloseConnections: 'idle',
    // Fastify's own 503 has another body. A request on an open connection is still served, as its last.
    return503OnClosing: false,
    ajv: {
      customOptions: validation,
      onCreate: (ajv) => {
        restrictKeywords(ajv);
        restrictFormats(ajv);
        shareValidators(ajv);
      },
    },
    schemaController: { compilersFactory: { buildSerializer } },
    clientErrorHandler(error: Error & { code?: string }, socket: Socket) {
      // Node reports a request timeout once and leaves the closing of the connection to this handler.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket)) return;
      clientErrors.answer(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      reply.headers(securityHeaders).header('x-request-id', request.id);
      if (options.answerUnknownPath?.(request, reply) !== true) handleError(error, request, reply);
      // No hook runs for a request that the router rejects.
      request.log.info({ method: request.method, status: reply.statusCode }, 'Request');
      metrics?.countRequest(request.method, undefined, reply.statusCode, 0);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorate('lifecycle', { starting: false, draining: false, leaving: false });
  app.decorate('unhurried', unhurried);
  app.decorate('connections', connections);
  app.decorateRequest('keyPrincipal');
  app.decorateRequest('errorCode');
  // The responses of every route reference this schema.
  app.addSchema(Problem);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    // Many clients send this media type with each request, also without a body.
    if (body.length === 0 && isBodyOptional(request.routeOptions.schema?.body)) {
      done(null, undefined);
      return;
    }
    try {
      done(null, parseJsonBody(body));
    } catch (error) {
      // Plain bodies are parsed whatever this header says, so that no lead is lost because of it.
      done(codingError(request.headers) ?? (error as LeadsError));
    }
  });
  app.addHook('onRoute', (route) => {
    const body = route.schema?.body;
    if (body === undefined || !isBodyOptional(body)) return;
    const fill: preValidationHookHandler = (request, _reply, done) => {
      if (request.body === undefined) request.body = {};
      done();
    };
    route.preValidation = [...[route.preValidation ?? []].flat(), fill];
  });
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(() => {
    throw new LeadsError('not_found');
  });

  // Ignores unknown expectations, as RFC 9110, 10.1.1 allows. Node would reject them with an empty body.
  app.server.on('checkExpectation', (...exchange) => app.server.emit('request', ...exchange));

  connections.watch(app.server);
  clientErrors.watch(app);
  logAbortedRequests(app, noteRequest);

  traceRequests(app, options.tracing);
  // The hooks use callbacks: a promise for each request costs measurable time.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders).header('x-request-id', request.id);
    const { config } = request.routeOptions;
    if (!hasOneHost(request.raw)) done(new LeadsError('bad_request'));
    // Probes and scrapers send the address of the instance.
    else if (isServed?.(request.hostname) === false && config.anyHost !== true)
      done(new LeadsError('wrong_host'));
    // Rejected before the body is read: the service parses no body for a path that does not exist.
    else if (request.is404 || hasEmptyParameter(request)) {
      if (options.answerUnknownPath?.(request, reply) !== true) done(new LeadsError('not_found'));
    } else {
      lowerUuids(request.params as Record<string, string>);
      done();
    }
  });
  // Set when the response is sent: the connection of a request that arrived before the signal would stay open and keep
  // the process alive.
  app.addHook('onSend', (request, reply, payload, done) => {
    if (app.lifecycle.leaving) reply.header('connection', 'close');
    const { socket } = request.raw;
    // Without the timeout, a response stays in memory as long as its client does not read. Requests of `inject` have no
    // real socket.
    if (socket instanceof Socket) {
      socket.setTimeout(request.routeOptions.config.idleMs ?? defaultIdleMs);
    }
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    // Logs the route's pattern instead of the URL: a query string can contain a phone number.
    const { url: route } = request.routeOptions;
    const { elapsedTime: elapsedMs, statusCode: status } = reply;
    metrics?.countRequest(request.method, route, status, elapsedMs / 1000);
    noteRequest(request, status, elapsedMs);
    // Absent before and without a guard, although the type does not say so.
    const principal = request.principal as Partial<Principal> | undefined;
    request.log.info(
      {
        method: request.method,
        route,
        status,
        durationMs: Math.round(elapsedMs * 10) / 10,
        workspaceId: principal?.workspaceId,
        apiKeyId: principal?.apiKeyId,
      },
      'Request',
    );
    done();
  });
  return app;
}

/** Returns whether a path parameter is empty: the router matches `/leads/` to `/leads/:id` with an empty id. */
function hasEmptyParameter({ params }: FastifyRequest): boolean {
  return Object.values(params as Record<string, string>).includes('');
}

/** Changes UUIDs of path parameters to lower case, as the services store and compare them (RFC 9562, 4). */
function lowerUuids(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    const lower = value.toLowerCase();
    if (lower !== value && uuidPattern.test(lower)) params[name] = lower;
  }
}

/** Returns whether a request has exactly 1 `Host` header, as HTTP/1.1 requires (RFC 9112, 3.2). */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/**
 * Registers routes. Each of their paths answers other methods with 405 and `Allow` (RFC 9110, 15.5.6).
 *
 * @throws Error if a route declares no permission or no responses.
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
 * Returns the address of the client as the trusted proxies forward it: an IPv4 or IPv6 address without a zone. An
 * IPv4-mapped IPv6 address is returned as IPv4. The text is empty if the client has disconnected.
 */
export function clientAddress(request: FastifyRequest): string {
  // Undefined if the client has disconnected, although Fastify's type does not say so.
  const ip = request.ip as string | undefined;
  const forwarded = plainAddress(withoutPort(ip ?? ''));
  // X-Forwarded-For can contain any text: a proxy appends to the header that the client sends.
  return isIP(forwarded) === 0 ? plainAddress(request.socket.remoteAddress ?? '') : forwarded;
}

/**
 * Returns an address without its port. Some proxies append the client's port in `X-Forwarded-For`, such as Azure
 * Application Gateway: all visitors would have the address of the proxy, and share one quota.
 */
function withoutPort(address: string): string {
  if (isIP(address) !== 0) return address;
  const [, inBrackets, ipv4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return inBrackets ?? ipv4 ?? address;
}

/** Matches an IPv4-mapped IPv6 address as URLs write it. */
const mappedAddress = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/;

/** Returns an address without a zone, and an IPv4-mapped IPv6 address as IPv4. Other text is returned as it is. */
export function plainAddress(address: string): string {
  if (isIP(address) === 4) return address;
  // The usual form, on a server that listens on `::`. The general one below takes 2 us.
  const mapped = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : '';
  if (isIP(mapped) === 4) return mapped;
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  const [, ...halves] = mappedAddress.exec(new URL(`http://[${plain}]`).hostname) ?? [];
  if (halves.length === 0) return plain;
  return halves
    .flatMap((half) => [Number.parseInt(half, 16) >> 8, Number.parseInt(half, 16) & 255])
    .join('.');
}
