import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectionOptions,
  connect,
  Events,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats';
import { LeadsError } from '../errors.ts';
import { timedOut, withTimeout } from '../with-timeout.ts';
import { publishAll, type StreamMessage } from './publish-all.ts';

export interface BrokerOptions {
  /** `nats://user:password@host:4222`, or several, separated by commas; `tls://` for TLS. */
  readonly url: string;
  /** Shown in the broker's list of connections. */
  readonly name: string;
  /** Told when the connection comes and when it goes: once a change. */
  readonly onChange?: ((isConnected: boolean, reason?: unknown) => void) | undefined;
}

const reconnectMs = 500;
const connectTimeoutMs = 2_000;
/** A broker that is gone without a word is noticed within three of these. */
const pingMs = 5_000;
/** How long to wait for the broker's word that a message is stored, in milliseconds. */
const ackTimeoutMs = 2_000;
const tellTimeoutMs = 1_000;

/**
 * A connection to NATS that comes back by itself, however long the broker is away; also when it was never there.
 *
 * What cannot be done without it throws LeadsError `unavailable`, at once where it is known to be away.
 */
export class Broker implements AsyncDisposable {
  readonly #options: BrokerOptions;
  readonly #isOver = new AbortController();
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

  /** Waits until there is a connection, or until the time is over. */
  async connected(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (!this.#isConnected && !this.#isOver.signal.aborted && performance.now() < deadline)
      await sleep(20);
    return this.#isConnected;
  }

  /** Of the server it is connected to: `2.10.4`. */
  get serverVersion(): string | undefined {
    return this.#connection?.info?.version;
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

  /** @throws LeadsError `unavailable`, also where the broker has no JetStream. */
  async manager(): Promise<JetStreamManager> {
    return available(this.connection.jetstreamManager({ timeout: ackTimeoutMs }));
  }

  /**
   * Publishes to a stream, all at once, and waits until the broker has stored it.
   *
   * @throws LeadsError `unavailable`: what is stored is then not known.
   */
  async publish(messages: readonly StreamMessage[]): Promise<void> {
    const options = { inboxPrefix: this.#inboxPrefix, timeoutMs: ackTimeoutMs };
    await available(publishAll(this.connection, messages, options));
  }

  /**
   * Publishes to whoever listens now, and waits until the broker has it, for a second at most.
   *
   * @throws LeadsError `unavailable`
   */
  async broadcast(subject: string, payload: string): Promise<void> {
    const { connection } = this;
    const telling = (async () => {
      connection.publish(subject, payload);
      await connection.flush();
    })();
    if ((await available(withTimeout(tellTimeoutMs, telling))) === timedOut)
      throw new LeadsError('unavailable');
  }

  /** Listens from when there is a connection until it is closed; what is said while there is none is not heard. */
  subscribe(subject: string, listener: (payload: string) => void): void {
    void this.#opening.then(() => {
      if (this.#isOver.signal.aborted) return;
      this.#connection?.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) listener(message.string());
        },
      });
    });
  }

  async #open(options: ConnectionOptions): Promise<void> {
    const { signal } = this.#isOver;
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
      if (type === Events.Disconnect) this.#setConnected(false, data);
      if (type === Events.Reconnect) this.#setConnected(true);
    }
  }

  #setConnected(isConnected: boolean, reason?: unknown): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    if (!this.#isOver.signal.aborted) this.#options.onChange?.(isConnected, reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver.abort();
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
    // Answers go to inboxes of its own, so that no other user needs the right to hear them (docker/nats-server.conf).
    ...(/^[\w-]+$/.test(user) && { inboxPrefix: `_INBOX.${user}` }),
    ...(first?.password && { pass: decodeURIComponent(first.password) }),
    ...(first?.protocol === 'tls:' && { tls: {} }),
    timeout: connectTimeoutMs,
    // By itself it gives up after ten.
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectMs,
    pingInterval: pingMs,
    maxPingOut: 2,
  };
}

/** @throws LeadsError `unavailable` where the broker, or what it is asked for, is away. */
export async function available<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    throw new LeadsError('unavailable', { cause });
  }
}
