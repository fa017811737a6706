import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A whole HTTP/1.1 request. */
export interface LoadRequest {
  readonly bytes: string;
  /** Is meant to be refused: its answer is counted by itself, and its time not at all. */
  readonly isPoison?: boolean;
}

/** How many answers there were, by status; `broken` are the requests whose connection ended before the answer. */
export type Statuses = Readonly<Record<string, number>>;

export interface Load {
  /** Answers with 200 a second. */
  readonly requestsPerSecond: number;
  /** How long each answer with 200 took, in milliseconds, in no order. */
  readonly latenciesMs: number[];
  readonly statuses: Statuses;
  readonly poisonStatuses: Statuses;
  /** Requests that found no connection free until the end; at a given rate only. */
  readonly unsent: number;
}

/** What came of one request. */
export interface LoadAnswer {
  /** Three digits, or `broken` where the connection ended before the answer. */
  readonly status: string;
  /** From when it was due, in milliseconds. */
  readonly tookMs: number;
  body(): string;
}

/**
 * Sends requests on keep-alive connections. It looks at no more of an answer than its status and length, since it
 * shares the cores with what it measures.
 *
 * @param options.next makes the next request.
 * @param options.rate requests a second, whatever becomes of them: each is timed from when it is due, also where it
 *   finds none of the connections free and waits. Without it, each connection sends as soon as it is answered.
 * @param options.onAnswer hears of each answer, before it is counted.
 * @param options.signal ends it before its time.
 */
export async function sendLoad(options: {
  port: number;
  connections: number;
  durationMs: number;
  next: () => LoadRequest;
  rate?: number | undefined;
  onAnswer?: ((answer: LoadAnswer) => void) | undefined;
  signal?: AbortSignal | undefined;
}): Promise<Load> {
  const { port, durationMs, next, rate, onAnswer, signal } = options;
  const latenciesMs: number[] = [];
  const statuses: Record<string, number> = {};
  const poisonStatuses: Record<string, number> = {};
  const connections = Array.from({ length: options.connections }, () => new Connection(port));
  const exchange = async (connection: Connection, dueAt: number) => {
    const request = next();
    const { status, body } = await connection.exchange(request.bytes);
    const tookMs = performance.now() - dueAt;
    onAnswer?.({ status, tookMs, body });
    const counted = request.isPoison === true ? poisonStatuses : statuses;
    counted[status] = (counted[status] ?? 0) + 1;
    if (status === '200' && request.isPoison !== true) latenciesMs.push(tookMs);
  };

  await openAll(connections);
  const start = performance.now();
  const end = start + durationMs;
  const isOver = (now: number) => now >= end || signal?.aborted === true;
  let unsent = 0;
  if (rate === undefined) {
    await Promise.all(
      connections.map(async (connection) => {
        for (let now = performance.now(); !isOver(now); now = performance.now()) {
          await exchange(connection, now);
        }
      }),
    );
  } else {
    const idle = connections.toReversed();
    const underWay = new Set<Promise<void>>();
    let due = 0;
    let sent = 0;
    const dueAt = (number: number) => start + (number / rate) * 1000;
    const sendDue = () => {
      for (; sent < due; sent++) {
        const connection = idle.pop();
        if (connection === undefined) return;
        const exchanged: Promise<void> = exchange(connection, dueAt(sent)).then(() => {
          underWay.delete(exchanged);
          idle.push(connection);
          if (!isOver(performance.now())) sendDue();
        });
        underWay.add(exchanged);
      }
    };
    for (let now = start; !isOver(now); now = performance.now()) {
      due = Math.floor(((now - start) / 1000) * rate) + 1;
      sendDue();
      await sleep(1);
    }
    unsent = due - sent;
    await Promise.all(underWay);
  }
  const seconds = (performance.now() - start) / 1000;
  for (const connection of connections) connection.close();
  const answered = (statuses['200'] ?? 0) + (poisonStatuses['200'] ?? 0);
  return { requestsPerSecond: answered / seconds, latenciesMs, statuses, poisonStatuses, unsent };
}

/** How many connections are made side by side. */
const opening = 16;

/**
 * Makes the connections, each with a request for nothing. Node takes one new connection in each turn of its loop: of
 * 256 that were made under load, the last waited for seconds.
 */
async function openAll(connections: readonly Connection[]): Promise<void> {
  const pending = connections.values();
  const one = async () => {
    for (const connection of pending) await connection.exchange('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  };
  await Promise.all(Array.from({ length: opening }, one));
}

/**
 * Sends one GET over and over, each as soon as the one before is answered.
 *
 * @throws Error for an answer that is not 200.
 */
export async function loadGet(options: {
  port: number;
  path: string;
  headers: Readonly<Record<string, string>>;
  connections: number;
  durationMs: number;
}): Promise<Load> {
  const request = {
    bytes: `GET ${options.path} HTTP/1.1\r\n${headerLines(options.port, options.headers)}\r\n`,
  };
  const load = await sendLoad({ ...options, next: () => request });
  const { '200': _, ...others } = load.statuses;
  if (Object.keys(others).length > 0) {
    throw new Error(`The service does not answer with 200 only: ${JSON.stringify(load.statuses)}`);
  }
  return load;
}

/** The lines of a head after the first, each with its end. */
export function headerLines(port: number, headers: Readonly<Record<string, string>>): string {
  return Object.entries({ Host: `127.0.0.1:${port}`, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

interface Answer {
  /** Three digits, or `broken`. */
  readonly status: string;
  readonly body: () => string;
}

const broken: Answer = { status: 'broken', body: () => '' };
/** What takes longer will not come. */
const patienceMs = 30_000;

/** A keep-alive connection with one request at a time; made anew when it was closed. */
class Connection {
  readonly #port: number;
  #socket: Socket | undefined;
  #settle: ((answer: Answer) => void) | undefined;
  #head = '';
  #body: Buffer[] = [];
  /** Bytes of the body that are still to come; undefined within the head. */
  #missing: number | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  exchange(bytes: string): Promise<Answer> {
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
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true).setTimeout(patienceMs);
    socket.on('data', (data) => this.#read(data));
    socket.on('timeout', () => socket.destroy());
    // What went wrong is told by the close that follows.
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
      const ofBody = this.#head.length - end - 4;
      this.#missing = Number(length) - ofBody;
      this.#body.push(data.subarray(data.length - ofBody));
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

  #finish(answer: Answer): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
  }
}
