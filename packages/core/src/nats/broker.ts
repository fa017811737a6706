import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectionOptions,
  Events,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats';
import { BrokerError, LeadsError } from '../errors.ts';
import { timedOut, withTimeout } from '../with-timeout.ts';
import { connect } from './connect.ts';
import { publishAll, type StreamMessage } from './publish-all.ts';

/** Connection settings of the broker. */
export interface BrokerOptions {
  /** `nats://user:password@host:4222`, or several URLs separated by commas; `tls://` enables TLS. */
  readonly url: string;
  /** The client name in the broker's list of connections. */
  readonly name: string;
  /** Called once for each change between connected and disconnected. */
  readonly onChange?: ((isConnected: boolean, reason?: unknown) => void) | undefined;
}

const reconnectMs = 500;
const connectTimeoutMs = 2_000;
/** The ping interval. A broker that stops responding is detected within 3 intervals. */
const pingMs = 5_000;
/** The timeout of an acknowledgment by JetStream, in milliseconds. */
const ackTimeoutMs = 2_000;
const broadcastTimeoutMs = 1_000;
/** The default limit of nats-server for a message with its headers: 1 MiB. */
export const defaultMaxMessageBytes = 1024 * 1024;
/** The part of that limit that is left for the headers. */
export const headersRoom = 1024;

/**
 * A connection to NATS that reconnects by itself, without a time limit. The broker may also be down at the start.
 *
 * While the connection is down, all operations throw LeadsError `unavailable` at once.
 */
export class Broker implements AsyncDisposable {
  readonly #options: BrokerOptions;
  readonly #disposal = new AbortController();
  readonly #inboxPrefix: string | undefined;
  readonly #opening: Promise<void>;
  #connection: NatsConnection | undefined;
  #jetStream: JetStreamClient | undefined;
  #isConnected = false;

  constructor(options: BrokerOptions) {
    this.#options = options;
    const connecting = connectionOptions(options);
    this.#inboxPrefix = connecting.inboxPrefix;
    this.#opening = this.#open(connecting);
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Waits for the connection, for at most `timeoutMs`. Returns whether it is connected. */
  async connected(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (!this.#isConnected && !this.#disposal.signal.aborted && performance.now() < deadline)
      await sleep(20);
    return this.#isConnected;
  }

  /** The version of the connected server: `2.10.4`. */
  get serverVersion(): string | undefined {
    return this.#connection?.info?.version;
  }

  /** The largest payload that the connected server accepts in a message with headers, in bytes. */
  get maxPayloadBytes(): number {
    return (this.#connection?.info?.max_payload ?? defaultMaxMessageBytes) - headersRoom;
  }

  /** @throws LeadsError `unavailable` */
  get connection(): NatsConnection {
    if (!this.#isConnected || this.#connection === undefined) throw new LeadsError('unavailable');
    return this.#connection;
  }

  /** @throws LeadsError `unavailable` */
  get jetStream(): JetStreamClient {
    const { connection } = this;
    this.#jetStream ??= connection.jetstream({ timeout: ackTimeoutMs });
    return this.#jetStream;
  }

  /** @throws LeadsError `unavailable`, also if JetStream is disabled in the broker. */
  async manager(): Promise<JetStreamManager> {
    return available(this.connection.jetstreamManager({ timeout: ackTimeoutMs }));
  }

  /**
   * Publishes messages to a stream concurrently, and waits until the broker has stored all of them.
   *
   * @throws LeadsError `unavailable`. Some of the messages may be stored nevertheless.
   */
  async publish(messages: readonly StreamMessage[]): Promise<void> {
    const options = { inboxPrefix: this.#inboxPrefix, timeoutMs: ackTimeoutMs };
    await available(publishAll(this.connection, messages, options));
  }

  /**
   * Publishes to the current subscribers, and waits until the broker has received the message, for at most 1 s.
   *
   * @throws LeadsError `unavailable`
   */
  async broadcast(subject: string, payload: string): Promise<void> {
    const { connection } = this;
    const publishing = (async () => {
      connection.publish(subject, payload);
      await connection.flush();
    })();
    if ((await available(withTimeout(broadcastTimeoutMs, publishing))) === timedOut)
      throw new LeadsError('unavailable');
  }

  /** Subscribes once connected, until the connection is closed. Messages published while it is down are lost. */
  subscribe(subject: string, listener: (payload: string) => void): void {
    void this.#opening.then(() => {
      if (this.#disposal.signal.aborted) return;
      this.#connection?.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) listener(message.string());
        },
      });
    });
  }

  async #open(options: ConnectionOptions): Promise<void> {
    const { signal } = this.#disposal;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        const connection = await connect(options);
        this.#connection = connection;
        if (signal.aborted) {
          await connection.close();
          return;
        }
        this.#setConnected(true);
        void this.#watch(connection);
        return;
      } catch (error) {
        if (attempt === 1) this.#options.onChange?.(false, error);
        await sleep(reconnectMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type, data } of connection.status()) {
      if (type === Events.Disconnect)
        this.#setConnected(false, new BrokerError(`The connection to ${data as string} ended`));
      if (type === Events.Reconnect) this.#setConnected(true);
    }
  }

  #setConnected(isConnected: boolean, reason?: unknown): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    if (!this.#disposal.signal.aborted) this.#options.onChange?.(isConnected, reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await this.#opening;
    await this.#connection?.close();
  }
}

function connectionOptions({ url, name }: BrokerOptions): ConnectionOptions {
  const urls = url.split(',').map((one) => new URL(one.trim()));
  const [first] = urls;
  const user = decodeURIComponent(first?.username ?? '');
  return {
    servers: urls.map(({ host }) => host),
    name,
    ...(user && { user }),
    // Each user has its own inbox prefix, so that no user may subscribe to replies to another (docker/nats-server.conf).
    ...(/^[\w-]+$/.test(user) && { inboxPrefix: `_INBOX.${user}` }),
    ...(first?.password && { pass: decodeURIComponent(first.password) }),
    ...(first?.protocol === 'tls:' && { tls: {} }),
    timeout: connectTimeoutMs,
    // By default, the client stops after 10 attempts.
    maxReconnectAttempts: -1,
    // By default, the client closes for good after the second error of authentication. The credentials of the broker may
    // be changed and restored while a process runs.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: reconnectMs,
    pingInterval: pingMs,
    maxPingOut: 2,
  };
}

/** Awaits work of the broker. @throws LeadsError `unavailable` if the work fails. */
export async function available<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    throw new LeadsError('unavailable', { cause });
  }
}
