import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.ts';

/** A complete HTTP/1.1 request. */
export interface LoadRequest {
  readonly bytes: string;
  /** The request is invalid on purpose. Its response is counted separately, and its latency is ignored. */
  readonly expectsRejection?: boolean;
}

/**
 * The number of responses by status; `broken` counts the requests whose connection ended before the response.
 */
export type Statuses = Readonly<Record<string, number>>;

export interface Load {
  /** Responses with 200 per second. */
  readonly requestsPerSecond: number;
  /** The latency of each response with 200, in milliseconds, unordered. */
  readonly latenciesMs: number[];
  readonly statuses: Statuses;
  /** Responses to requests that expect a rejection. */
  readonly rejectionStatuses: Statuses;
  /** Requests that found no free connection until the end, at a fixed rate only. */
  readonly unsent: number;
}

/** The load may end early, so it does not wait longer for its next request. */
const longestPauseMs = 100;

/** The response to one request. */
export interface LoadAnswer {
  /** Three digits, or `broken`. */
  readonly status: string;
  /** The time since the request was due, in milliseconds. */
  readonly latencyMs: number;
  body(): string;
}

/**
 * Sends requests on keep-alive connections.
 *
 * @param options.next creates the next request.
 * @param options.rate requests per second, sent at fixed times. Latency counts from the time a request is
 * due, including the wait for a free connection. Without a rate, each connection sends its next request after
 * a response.
 * @param options.onAnswer called with each response before it is counted.
 * @param options.signal ends the load early.
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
  const rejectionStatuses: Record<string, number> = {};
  const connections = Array.from({ length: options.connections }, () => new HttpConnection(port));
  const exchange = async (connection: HttpConnection, dueAt: number) => {
    const { bytes, expectsRejection = false } = next();
    const { status, body } = await connection.exchange(bytes);
    const latencyMs = performance.now() - dueAt;
    onAnswer?.({ status, latencyMs, body });
    const counted = expectsRejection ? rejectionStatuses : statuses;
    counted[status] = (counted[status] ?? 0) + 1;
    if (status === '200' && !expectsRejection) latenciesMs.push(latencyMs);
  };

  await openAll(connections);
  const start = performance.now();
  const isOver = (now: number) => now >= start + durationMs || signal?.aborted === true;
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
    const inFlight = new Set<Promise<void>>();
    let due = 0;
    let sent = 0;
    const sendDue = () => {
      for (; sent < due; sent++) {
        const connection = idle.pop();
        if (connection === undefined) return;
        const exchanged: Promise<void> = exchange(connection, start + (sent / rate) * 1000).then(() => {
          inFlight.delete(exchanged);
          idle.push(connection);
          if (!isOver(performance.now())) sendDue();
        });
        inFlight.add(exchanged);
      }
    };
    for (let now = start; !isOver(now); now = performance.now()) {
      due = Math.floor(((now - start) / 1000) * rate) + 1;
      sendDue();
      // A timer each millisecond would take more processor time than a slow load itself.
      await sleep(Math.min(start + (due / rate) * 1000 - performance.now(), longestPauseMs));
    }
    unsent = due - sent;
    await Promise.all(inFlight);
  }
  const seconds = (performance.now() - start) / 1000;
  for (const connection of connections) connection.close();
  const accepted = (statuses['200'] ?? 0) + (rejectionStatuses['200'] ?? 0);
  return { requestsPerSecond: accepted / seconds, latenciesMs, statuses, rejectionStatuses, unsent };
}

const concurrentOpens = 16;

/**
 * Opens the connections, each with one request. At most 16 are opened at a time, because Node accepts one new
 * connection in each turn of its event loop. Of 256 connections opened at once under load, the last waited
 * for seconds.
 */
async function openAll(connections: readonly HttpConnection[]): Promise<void> {
  const pending = connections.values();
  const openNext = async () => {
    for (const connection of pending) await connection.exchange('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  };
  await Promise.all(Array.from({ length: concurrentOpens }, openNext));
}
