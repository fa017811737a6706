import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { isConfidential } from './log-check/confidential.ts';

export interface TestRequest {
  readonly method?: string;
  /** With the query string. */
  readonly path: string;
  /** Names go out as they are written here; a list goes out as one header line each. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A text or bytes go out as they are; anything else as JSON, with the media type where none is given. */
  readonly body?: unknown;
  /** Sends the body in chunks, without a content-length. */
  readonly chunked?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** @throws SyntaxError when the body is no JSON. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test says what it expects
  json<Body = unknown>(): Body;
}

/** HTTP over real sockets, to one server. Metrics and error bodies that hold what a caller sent are no answer. */
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
              reject(new Error(`The answer to ${method} ${path} holds what a caller sent: ${answered.text}`));
            else resolve(answered);
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  /**
   * Writes bytes to a socket of its own, and reads until the server hangs up.
   *
   * @param options.end hangs up after writing: only for what must not be complete.
   * @returns the answers; none when the server hung up without one.
   */
  sendRaw(bytes: string | Buffer, options: { end?: boolean } = {}): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true });
      socket.setTimeout(15_000, () => socket.destroy(new Error('The server neither answers nor hangs up')));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('end', () => socket.end());
      socket.on('error', (error: NodeJS.ErrnoException) => {
        // A server that refuses early may reset while the rest is still being written.
        if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
      });
      socket.on('close', () => resolve(parseAnswers(Buffer.concat(chunks))));
      socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
      if (options.end === true) socket.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function answer(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  const text = bytes.toString('utf8');
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as declared
  return { status, headers, bytes, text, json: <Body>() => JSON.parse(text) as Body };
}

/** Reads answers that say their content-length, as all of ours do. */
function parseAnswers(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN);
    if (headEnd < 0 || Number.isNaN(status)) throw new Error(`No HTTP answer: ${rest.toString('latin1')}`);
    const headers: IncomingHttpHeaders = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const bodyEnd = headEnd + 4 + Number(headers['content-length'] ?? 0);
    if (status >= 200) answers.push(answer(status, headers, rest.subarray(headEnd + 4, bodyEnd)));
    rest = rest.subarray(bodyEnd);
  }
  return answers;
}
