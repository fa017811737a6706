import { METHODS } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, errorTable } from '@leads/core/errors';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../service/metrics.ts';
import { errorBody } from './errors.ts';
import type { OpenConnections } from './open-connections.ts';

type ClientError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number };

/**
 * Answers requests that Node's HTTP parser rejects, and `CONNECT`. Fastify has no request object for them. A request
 * gets one response only. The response has no body if the method is `HEAD` or unknown.
 */
export class ClientErrorAnswers {
  readonly #headers: string;
  readonly #metrics: Metrics | undefined;
  readonly #connections: OpenConnections;

  /** @param headers the headers of every response. */
  constructor(
    headers: Readonly<Record<string, string>>,
    metrics: Metrics | undefined,
    connections: OpenConnections,
  ) {
    this.#headers = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    this.#metrics = metrics;
    this.#connections = connections;
  }

  /** Answers the `CONNECT` requests of a server with 405. */
  watch({ server, log }: Pick<FastifyInstance, 'server' | 'log'>): void {
    // Without a listener, Node closes the connection without a response.
    server.on('connect', ({ method }, socket) => {
      socket.on('error', () => socket.destroy());
      const { status } = errorTable.method_not_allowed;
      log.info({ method, status }, 'Request');
      this.#metrics?.countRequest(String(method), undefined, status, 0);
      this.#afterLastResponse(socket, () =>
        this.#send(socket, 'method_not_allowed', 'CONNECT', 'allow: \r\n'),
      );
    });
  }

  /** Answers a request that the parser rejects, and closes the connection. */
  answer(error: ClientError, socket: Socket): void {
    const code = codeOf(error);
    // Without a code, the client has disconnected.
    if (code === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    this.#metrics?.countMalformed(errorTable[code].status);
    const response = this.#connections.lastResponseOf(socket);
    const isBodyRejected = response !== undefined && !response.req.complete;
    if (isBodyRejected && response.headersSent) {
      // The request has its response already. A second one would be read as the response to the next request.
      socket.destroy();
      return;
    }
    if (isBodyRejected) this.#send(socket, code, response.req.method);
    else this.#afterLastResponse(socket, () => this.#send(socket, code, methodOf(error)));
  }

  /** Runs an action when the last request of a connection has its whole response: responses have the order of requests. */
  #afterLastResponse(socket: Duplex, action: () => void): void {
    const response = this.#connections.lastResponseOf(socket);
    if (response === undefined || response.writableFinished || response.destroyed) action();
    else response.once('close', action);
  }

  /**
   * Sends an error, and closes the connection.
   *
   * @param method undefined if it is unknown. The response then has no body, because the request may be a `HEAD` request:
   *   a client would read a body as the response to its next request.
   */
  #send(socket: Duplex, code: ErrorCode, method: string | undefined, headers = ''): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { status, message } = errorTable[code];
    const body = method === undefined ? '' : JSON.stringify(errorBody(code));
    const type = body === '' ? '' : 'content-type: application/json; charset=utf-8\r\n';
    socket.end(
      `HTTP/1.1 ${status} ${message}\r\n${this.#headers}${headers}${type}` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${method === 'HEAD' ? '' : body}`,
    );
  }
}

function codeOf({ code }: ClientError): ErrorCode | undefined {
  if (code === 'ECONNRESET') return undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'bad_request';
}

/**
 * Returns the method of a request whose headers are rejected. Returns undefined if the packet does not begin with it: the
 * headers came in several packets, or they are late, and Node has no packet to show.
 */
function methodOf({ code, rawPacket, bytesParsed = 0 }: ClientError): string | undefined {
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  const lastEnd = parsed.lastIndexOf('\r\n\r\n');
  const [method = ''] = parsed.slice(lastEnd < 0 ? 0 : lastEnd + 4).split(' ', 1);
  // The parser knows the methods of METHODS only. It reports any other, also in parts, with this code.
  return METHODS.includes(method) || code === 'HPE_INVALID_METHOD' ? method : undefined;
}
