import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { callbackify } from 'node:util';
import { Agent, buildConnector, type Dispatcher, errors, Pool, ProxyAgent } from 'undici';
import {
  createDestinationGuard,
  DestinationError,
  type DestinationErrorCode,
  type DestinationGuard,
  type DestinationRules,
  isLocalhost,
} from './destination.ts';
import { type ResolveHost, resolveHost } from './resolve-host.ts';
import { retryAfterSecondsOf } from './retry-after.ts';

/** The bytes of a response body that are read. The rest is dropped, and its connection closed. */
export const maxResponseBytes = 65_536;

const defaultTimeoutMs = 15_000;
const defaultConnectTimeoutMs = 3000;
const maxSocketsPerHost = 64;
const defaultMaxKeptSockets = 256;
const idleSocketTimeoutMs = 4000;
/** The number of host names whose last TLS session is kept. A session takes 1 to 2 KiB. */
const maxCachedSessions = 2_000;

export interface SenderOptions extends DestinationRules {
  /**
   * An `http:` or `https:` URL of a proxy, optionally with user name and password. The sender then uses the proxy for
   * all requests, as a tunnel (CONNECT) for `https:`, and resolves no names itself. The sender still checks the URL and
   * addresses in it. The proxy must refuse names that resolve to private addresses.
   */
  readonly proxyUrl?: string | undefined;
  /** The time of a request from DNS to the end of the body; 15 s by default. */
  readonly timeoutMs?: number;
  /** The time to connect, with DNS and TLS; 3 s by default. */
  readonly connectTimeoutMs?: number;
}

/** What tests replace. */
export interface SenderInternals {
  readonly resolveHost?: ResolveHost;
  /** The trusted CA certificates in PEM format, instead of those of Node. */
  readonly ca?: string;
  /** With this many open sockets, 256 by default, each request closes its connection after the response. */
  readonly maxKeptSockets?: number;
}

export interface SendRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined;
}

interface SendResult {
  /** The HTTP status. A redirect is not followed. */
  readonly status: number;
  /** The first 64 KiB of the body, decoded as UTF-8. It can contain any character, NUL included. */
  readonly bodyStart: string;
  readonly durationMs: number;
  /** The delay of the header `Retry-After` (RFC 9110, 10.2.3), 0 or more, if the response has it. */
  readonly retryAfterSeconds?: number;
  /** Whether the response has the header `webhook-delivery: disable`: the receiver wants no more deliveries. */
  readonly isDisableRequested: boolean;
}

/** The reasons of failed requests, and the messages for the log of deliveries. They contain no address of a network. */
const failures = {
  aborted: 'The request was cancelled',
  connect_timeout: 'The connection was not established in time',
  connection_lost: 'The receiver closed the connection before the end of the response',
  connection_refused: 'The receiver refused the connection',
  dns_failed: 'The host name has no address',
  failed: 'The request failed',
  invalid_request: 'The request has an invalid header',
  invalid_response: 'The response is not valid HTTP',
  proxy_failed: 'The proxy is unavailable or refused the connection',
  timeout: 'The response was not complete in time',
  tls_failed: "The receiver's TLS certificate or handshake is not valid",
  unreachable: 'The receiver is unreachable',
} as const;

export type SendErrorCode = DestinationErrorCode | keyof typeof failures;

/** A request without a complete response. The message contains no request content. Only log the `cause`. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly code: SendErrorCode;
  readonly durationMs: number;

  constructor(code: SendErrorCode, message: string, options: { cause: unknown; durationMs: number }) {
    super(message, { cause: options.cause });
    this.code = code;
    this.durationMs = options.durationMs;
  }
}

/** Sends requests to receivers that users have entered. */
export interface Sender {
  /**
   * Sends one request. Follows no redirect, keeps no cookie, and does not decompress the response.
   *
   * @throws SendError if there is no complete response in time or the rules refuse the destination.
   */
  send(request: SendRequest): Promise<SendResult>;
  /** Completes the requests in progress and closes all connections. */
  close(): Promise<void>;
}

/**
 * Returns a sender that can only reach the destinations of the rules. It checks the URL before each request and every
 * resolved address before each connection, and connects to the checked addresses only. A DNS answer that changes between
 * two lookups therefore cannot bypass the rules.
 *
 * @throws SetupError for an invalid network in the rules. RangeError for an invalid `proxyUrl`.
 */
export function createSender(options: SenderOptions, internals: SenderInternals = {}): Sender {
  const { timeoutMs = defaultTimeoutMs } = options;
  const { maxKeptSockets = defaultMaxKeptSockets } = internals;
  const guard = createDestinationGuard(options);
  const { dispatcher, openSockets } = createDispatcher(options, guard, internals);

  return {
    send: async (request) => {
      const startMs = performance.now();
      const durationMs = () => Math.round(performance.now() - startMs);
      const abort = new AbortController();
      const timer = setTimeout(() => abort.abort(new Failure('timeout')), timeoutMs);
      const onAbort = () => abort.abort(new Failure('aborted'));
      try {
        if (request.signal?.aborted === true) throw new Failure('aborted');
        request.signal?.addEventListener('abort', onAbort);
        const url = guard.checkUrl(request.url);
        const response = exchange(dispatcher, url, request, {
          signal: abort.signal,
          reset: openSockets() >= maxKeptSockets,
        });
        // A request that waits for a connection ignores its signal.
        const result = await unlessAborted(abort.signal, response);
        return { ...result, durationMs: durationMs() };
      } catch (cause) {
        throw toSendError(cause, { durationMs: durationMs(), isProxied: options.proxyUrl !== undefined });
      } finally {
        clearTimeout(timer);
        request.signal?.removeEventListener('abort', onAbort);
      }
    },
    close: () => dispatcher.close(),
  };
}

/** A failure with a known reason. */
class Failure extends Error {
  readonly code: keyof typeof failures;

  constructor(code: keyof typeof failures, cause?: unknown) {
    super(failures[code], { cause });
    this.code = code;
  }
}

function createDispatcher(
  { proxyUrl, timeoutMs = defaultTimeoutMs, connectTimeoutMs = defaultConnectTimeoutMs }: SenderOptions,
  guard: DestinationGuard,
  {
    ca,
    resolveHost: resolve = (host) => resolveHost(host, { timeoutMs: connectTimeoutMs / 3 }),
  }: SenderInternals,
): { dispatcher: Dispatcher; openSockets: () => number } {
  let openSockets = 0;
  // Shared, because Node otherwise creates a context for each connection, which stays in memory until its collection.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  const tls = { timeout: connectTimeoutMs, secureContext };
  const pool: Agent.Options = {
    connections: maxSocketsPerHost,
    // The deadline of the request takes their place.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleSocketTimeoutMs,
    keepAliveMaxTimeout: idleSocketTimeoutMs,
    factory: (origin, options) =>
      new Pool(origin, options)
        .on('connect', () => {
          openSockets += 1;
        })
        .on('disconnect', () => {
          openSockets -= 1;
        }),
  };
  if (proxyUrl === undefined) {
    // With automatic selection, Node requests all addresses from the lookup, and connects to the first that answers.
    const connect = createConnector({
      ...tls,
      autoSelectFamily: true,
      lookup: createLookup(guard, resolve),
    });
    return { dispatcher: new Agent({ ...pool, connect }), openSockets: () => openSockets };
  }
  if (!/^https?:\/\//.test(proxyUrl) || !URL.canParse(proxyUrl)) {
    throw new RangeError('The URL of the proxy for deliveries must begin with http:// or https://');
  }
  const dispatcher = new ProxyAgent({
    ...pool,
    uri: proxyUrl,
    proxyTunnel: false,
    proxyTls: tls,
    requestTls: tls,
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: timeoutMs }),
  });
  return { dispatcher, openSockets: () => openSockets };
}

/**
 * Returns the function that connects. All connections share its TLS sessions. Otherwise undici has them for each origin,
 * and only while it has a connection. A resumed session needs no certificates, so it takes less memory and processor time.
 */
function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, maxCachedSessions });
  // undici refers to sessions weakly, so they would be collected before the next connection.
  const sessions = new Map<string, Buffer>();
  return (target, callback) => {
    const socket = connect(target, callback) as unknown as Socket;
    socket.on('session', (session: Buffer) => {
      sessions.delete(target.hostname);
      sessions.set(target.hostname, session);
      const [oldest] = sessions.keys();
      if (sessions.size > maxCachedSessions && oldest !== undefined) sessions.delete(oldest);
    });
    return socket;
  };
}

/** Returns the lookup of new connections: all addresses of the name, or an error if one of them is not allowed. */
function createLookup(guard: DestinationGuard, resolve: ResolveHost): LookupFunction {
  const addressesOf = async (host: string, _options: LookupOptions): Promise<LookupAddress[]> => {
    const all = await resolve(host).catch((error: unknown) => {
      throw new Failure('dns_failed', error);
    });
    // An operator can allow one of the two loopback addresses only.
    const isUsed = ({ address }: LookupAddress) => guard.isAllowedAddress(address);
    const used = isLocalhost(host) ? all.filter(isUsed) : all;
    if (used.length === 0 || !used.every(isUsed)) {
      throw new DestinationError('address_not_allowed', 'has a private or reserved address');
    }
    return used;
  };
  return callbackify(addressesOf);
}

async function exchange(
  dispatcher: Dispatcher,
  url: URL,
  { method, headers, body }: SendRequest,
  { signal, reset }: { signal: AbortSignal; reset: boolean },
): Promise<Omit<SendResult, 'durationMs'>> {
  const options = {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { ...headers },
    body: body ?? null,
    signal,
    reset,
  };
  const response = await withRetryOnStaleSocket(() => dispatcher.request(options));
  const retryAfterSeconds = retryAfterSecondsOf(response.headers['retry-after'], new Date());
  return {
    status: response.statusCode,
    bodyStart: await readStart(response.body),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    isDisableRequested: response.headers['webhook-delivery'] === 'disable',
  };
}

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the body and its connection.
    if (length >= maxResponseBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxResponseBytes).toString('utf8');
}

/**
 * Repeats a request once if the connection was closed before the response, and an earlier response had arrived on it. It
 * is no failure of the receiver if it closes a kept connection at the moment of a request (RFC 9112, 9.5). Deliveries
 * can arrive more than once in any case.
 */
async function withRetryOnStaleSocket<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    const isStale = error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
    if (!isStale) throw error;
    return request();
  }
}

async function unlessAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

function toSendError(cause: unknown, { durationMs, isProxied }: { durationMs: number; isProxied: boolean }) {
  if (cause instanceof DestinationError) {
    return new SendError(cause.code, `The URL ${cause.message}`, { cause, durationMs });
  }
  if (cause instanceof errors.HTTPParserError) {
    // The parser's error has the response as a property, which must not be logged.
    const { message } = cause;
    return new SendError('invalid_response', failures.invalid_response, {
      cause: new Error(message),
      durationMs,
    });
  }
  const code = cause instanceof Failure ? cause.code : failureOf(codeOf(cause), isProxied);
  return new SendError(code, failures[code], { cause, durationMs });
}

function failureOf(code: string, isProxied: boolean): keyof typeof failures {
  switch (code) {
    case 'ECONNREFUSED':
      return isProxied ? 'proxy_failed' : 'connection_refused';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'EADDRNOTAVAIL':
      return isProxied ? 'proxy_failed' : 'unreachable';
    // The proxy answered CONNECT with an error, or its name has no address.
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'UND_ERR_ABORTED':
    case 'UND_ERR_PRX_TLS':
      return isProxied ? 'proxy_failed' : 'failed';
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'connect_timeout';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'connection_lost';
    case 'UND_ERR_CLOSED':
    case 'UND_ERR_DESTROYED':
      return 'aborted';
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'invalid_response';
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
      return 'invalid_request';
    default:
      return /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|EPROTO$)|SELF_SIGNED|CERT/.test(code)
        ? 'tls_failed'
        : 'failed';
  }
}

/** Returns the code of an error, or of its cause. */
function codeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : '';
}
