import { gunzipSync } from 'node:zlib';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { isConfidential } from './log-check/confidential.ts';

export interface TestRequest {
  readonly method?: string;
  /** The path with the query string. */
  readonly path: string;
  /** Header names are sent exactly as written; a list is sent as one header line for each value. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * Text and bytes are sent unchanged. Other values are sent as JSON, with its media type unless `headers`
   * sets one.
   */
  readonly body?: unknown;
  /** Sends the body in chunks, without a content-length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** Parses the body. @throws SyntaxError if the body is not JSON. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test declares the expected type
  json<Body = unknown>(): Body;
}

/**
 * An HTTP client for one server over real sockets. It rejects metrics and error bodies that contain
 * confidential data.
 */
export class HttpClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 50 });

  constructor(port: number) {
    this.#port = port;
  }

  send({ method = 'GET', path, headers = {}, body, chunked = false }: TestRequest): Promise<Answer> {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const named = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
    const isJson = payload !== body && payload !== undefined && !named;
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          agent: this.#agent,
          host: '127.0.0.1',
          port: this.#port,
          method,
          path,
          headers: {
            ...(headers as Record<string, string | string[]>),
            ...(isJson && { 'Content-Type': 'application/json' }),
            ...(chunked && { 'Transfer-Encoding': 'chunked' }),
          },
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const answered = answer(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(chunks));
            if ((path === '/metrics' || answered.status >= 400) && isConfidential(answered.text))
              reject(
                new Error(`The response to ${method} ${path} contains confidential data: ${answered.text}`),
              );
            else resolve(answered);
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /**
   * Writes bytes to a new socket and reads until the server closes the connection.
   *
   * @param options.rest written after the first response, so the server receives it as another packet.
   * @param options.end closes the connection after writing: only for incomplete requests.
   * @returns the responses; empty if the server closed the connection without one.
   */
  sendRaw(bytes: string | Buffer, options: { end?: boolean; rest?: string } = {}): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true });
      socket.setTimeout(60_000, () =>
        socket.destroy(new Error('The server sends no response and keeps the connection open')),
      );
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('end', () => socket.end());
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // A server that rejects early may reset the connection while the rest is still being written.
        if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
      });
      socket.on('close', () => {
        try {
          resolve(parseAnswers(Buffer.concat(chunks)));
        } catch (error) {
          reject(error);
        }
      });
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      if (options.end === true) socket.end();
      const { rest } = options;
      if (rest !== undefined) socket.once('data', () => socket.write(rest, 'latin1'));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function answer(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  // The response to HEAD names the encoding, but has no body.
  const isGzip = headers['content-encoding'] === 'gzip' && bytes.length > 0;
  const text = (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- same signature as declared
  return { status, headers, bytes, text, json: <Body>() => JSON.parse(text) as Body };
}

/** Parses responses with a content-length or in chunks. A response without a body has neither. */
function parseAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN);
    if (headEnd < 0 || Number.isNaN(status))
      throw new Error(`Not an HTTP response: ${rest.toString('latin1')}`);
    const headers: IncomingHttpHeaders = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const following = rest.subarray(headEnd + 4);
    const { body, length } =
      headers['transfer-encoding'] === 'chunked'
        ? readChunks(following)
        : readLength(following, Number(headers['content-length'] ?? 0));
    if (status >= 200) answers.push(answer(status, headers, body));
    rest = following.subarray(length);
  }
  return answers;
}

/** A body, and its length with its framing. */
interface FramedBody {
  readonly body: Buffer;
  readonly length: number;
}

/** The response to HEAD has a length, and no body. */
function readLength(bytes: Buffer, length: number): FramedBody {
  return { body: bytes.subarray(0, length), length };
}

function readChunks(bytes: Buffer): FramedBody {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const sizeEnd = bytes.indexOf('\r\n', at);
    const size = sizeEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString('latin1', at, sizeEnd), 16);
    const chunkEnd = sizeEnd + 2 + size;
    if (Number.isNaN(size) || bytes.length < chunkEnd + 2)
      throw new Error('The body ends before its last chunk');
    chunks.push(bytes.subarray(sizeEnd + 2, chunkEnd));
    at = chunkEnd + 2;
    if (size === 0) return { body: Buffer.concat(chunks), length: at };
  }
}
