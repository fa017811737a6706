import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, errorTable } from '@leads/core/errors';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../service/metrics.ts';
import { errorBody } from './errors.ts';

/** The last request of a connection and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type ClientError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number };

/**
 * Answers requests that Node's HTTP parser rejects, and `CONNECT`. Fastify has no request object for them. A request
 * gets one response only.
 */
export class ClientErrorAnswers {
  readonly #headers: string;
  readonly #metrics: Metrics | undefined;
  readonly #exchanges = new WeakMap<Duplex, Exchange>();

  /** @param headers the headers of every response. */
  constructor(headers: Readonly<Record<string, string>>, metrics: Metrics | undefined) {
    this.#headers = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    this.#metrics = metrics;
  }

  /** Watches the requests of a server, and answers its `CONNECT` requests with 405. */
  watch({ server, log }: Pick<FastifyInstance, 'server' | 'log'>): void {
    server.on('request', (request, response) => {
      this.#exchanges.set(request.socket, { request, response });
    });
    // Without a listener, Node closes the connection without a response.
    server.on('connect', ({ method }, socket) => {
      socket.on('error', () => socket.destroy());
      const { status } = errorTable.method_not_allowed;
      log.info({ method, status }, 'Request');
      this.#metrics?.countRequest(String(method), undefined, status, 0);
      this.#afterLastResponse(socket, () => this.#send(socket, 'method_not_allowed', 'allow: \r\n'));
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
    const { request, response } = this.#exchanges.get(socket) ?? {};
    const isBodyRejected = request !== undefined && !request.complete;
    if (isBodyRejected && response?.headersSent === true) {
      // The request has its response already. A second one would be read as the response to the next request.
      socket.destroy();
      return;
    }
    const isHead = isBodyRejected ? request.method === 'HEAD' : beginsHead(error);
    if (isBodyRejected) this.#send(socket, code, '', isHead);
    else this.#afterLastResponse(socket, () => this.#send(socket, code, '', isHead));
  }

  /** Runs an action when the last request of a connection has its whole response: responses have the order of requests. */
  #afterLastResponse(socket: Duplex, action: () => void): void {
    const { response } = this.#exchanges.get(socket) ?? {};
    if (response === undefined || response.writableFinished || response.destroyed) action();
    else response.once('close', action);
  }

  #send(socket: Duplex, code: ErrorCode, headers = '', isHead = false): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { status, message } = errorTable[code];
    const body = JSON.stringify(errorBody(code));
    socket.end(
      `HTTP/1.1 ${status} ${message}\r\n${this.#headers}${headers}` +
        'content-type: application/json; charset=utf-8\r\n' +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${isHead ? '' : body}`,
    );
  }
}

function codeOf({ code }: ClientError): ErrorCode | undefined {
  if (code === 'ECONNRESET') return undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'bad_request';
}

/** Returns whether the rejected request of a packet is a `HEAD` request: its response has no body. */
function beginsHead({ rawPacket, bytesParsed = 0 }: ClientError): boolean {
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  const lastEnd = parsed.lastIndexOf('\r\n\r\n');
  return parsed.startsWith('HEAD ', lastEnd < 0 ? 0 : lastEnd + 4);
}
