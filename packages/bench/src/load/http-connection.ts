import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  /** Three digits, or `broken` if the connection ended before the response. */
  readonly status: string;
  readonly body: () => string;
}

const broken: HttpAnswer = { status: 'broken', body: () => '' };
/** How long a request waits for more of its answer, in milliseconds. After it, the answer is `broken`. */
export const answerTimeoutMs = 30_000;

/**
 * A keep-alive HTTP/1.1 connection to 127.0.0.1 with one request at a time. It reconnects after it was
 * closed.
 *
 * It parses only the status, the length and the body of a response. The load generator shares the cores with
 * the measured program, and a complete HTTP client takes several times as much processor time.
 */
export class HttpConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #settle: ((answer: HttpAnswer) => void) | undefined;
  #head = '';
  #body: Buffer[] = [];
  /** The number of body bytes still to be read; undefined while the head is read. */
  #missing: number | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends the bytes of a complete request. */
  exchange(bytes: string): Promise<HttpAnswer> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#head = '';
      this.#body = [];
      this.#missing = undefined;
      this.#socket ??= this.#open();
      this.#socket.write(bytes, 'latin1');
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true).setTimeout(answerTimeoutMs);
    socket.on('data', (data) => this.#read(data));
    socket.on('timeout', () => socket.destroy());
    // The event `close` follows and settles the request.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#finish(broken);
    });
    return socket;
  }

  #read(data: Buffer): void {
    if (this.#missing === undefined) {
      this.#head += data.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1];
      if (length === undefined) {
        this.#socket?.destroy();
        return;
      }
      const bodyBytes = this.#head.length - end - 4;
      this.#missing = Number(length) - bodyBytes;
      this.#body.push(data.subarray(data.length - bodyBytes));
    } else {
      this.#missing -= data.length;
      this.#body.push(data);
    }
    if (this.#missing > 0) return;
    const [status, body] = [this.#head.slice(9, 12), this.#body];
    if (/\r\nconnection: close/i.test(this.#head)) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    this.#finish({ status, body: () => Buffer.concat(body).toString('latin1') });
  }

  #finish(answer: HttpAnswer): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
  }
}
