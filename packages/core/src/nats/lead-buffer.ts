import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  nanos,
  RetentionPolicy,
} from 'nats';
import { LeadsError } from '../errors.ts';
import { fromLeadJson, type LeadJson, toLeadJson } from '../lead/lead-json.ts';
import type { LeadToInsert } from '../lead/lead-store.ts';
import { type Broker, defaultMaxMessageBytes, headersRoom } from './broker.ts';
import { ensureStream } from './ensure-stream.ts';

/** Settings of the stream that buffers leads. */
export interface BufferStream {
  readonly name: string;
  /** The limit of its size, in bytes. Leads beyond it are rejected. */
  readonly maxBytes: number;
  readonly replicas: number;
}

/** A message of leads. It is redelivered until it is acknowledged. */
export interface BufferedLeads {
  /** The size of the leads as JSON. */
  readonly bytes: number;
  /** @throws Error for a message that cannot be parsed. */
  leads(): LeadToInsert[];
  /** Removes the message from the buffer. */
  acknowledge(): void;
  /** Has the message redelivered after a pause, which grows with each redelivery. */
  nak(): void;
}

/** The name of the stream, in every deployment. */
export const bufferStreamName = 'LEADS_BUFFER';
const bufferSubject = 'buffer.leads';

/** The messages in the buffer: all that are not acknowledged. */
export interface WaitingLeads {
  /** The number of messages. Each holds one lead or several. */
  readonly messages: number;
  /** Their size in the stream. */
  readonly bytes: number;
  /** The bytes that the stream has room for. */
  readonly room: number;
  /** When the oldest message was stored; absent if there is none. */
  readonly oldestAt: Date | undefined;
}

const durable = 'drainer';
/** How long the broker may take to acknowledge leads, in milliseconds. A request waits for it. */
const defaultAckTimeoutMs = 1_000;
/** When an unacknowledged message is redelivered, in milliseconds: its consumer may have been killed. */
const redeliverMs = 20_000;
/** Messages that may be delivered and not yet acknowledged, across all instances. */
const maxUnacknowledged = 10_000;
/**
 * Messages in one request to the broker, each of at most 1 MiB. Requests repeat until their leads are enough for an insert or
 * two.
 */
const maxPerFetch = 16;
const enoughBytes = 1024 * 1024;
/**
 * The consumer is recreated if the buffer holds leads and delivers none for this long, in milliseconds. It is longer than
 * `redeliverMs`, after which unacknowledged leads are delivered again.
 */
const defaultStandstillMs = 25_000;
/** The pause between two checks for a standstill, in milliseconds. */
const standstillCheckMs = 5_000;
const minRedeliveryMs = 500;
const maxRedeliveryMs = 10_000;
/**
 * The size of each message in the stream is a multiple of this, in bytes. nats-server before 2.10.5 ignores its own
 * overhead when it checks for room. If only the overhead does not fit, it drops the oldest message.
 */
const grain = 64;

/**
 * Buffers leads on disk while the database is unavailable, in a JetStream stream. It creates or updates the stream
 * first, if its NATS user may. A lead leaves the buffer only by being acknowledged.
 */
export class LeadBuffer {
  readonly #broker: Broker;
  readonly #stream: BufferStream;
  readonly #ackTimeoutMs: number;
  readonly #standstillMs: number;
  readonly #onOtherLimits: (() => void) | undefined;
  #isReported = false;
  #ready: Promise<Consumer> | undefined;
  #nextCheckAt = 0;
  /** The count of deliveries, and since when it has not grown although the buffer holds leads. */
  #standstill: { readonly delivered: number; readonly since: number } | undefined;

  /**
   * @param options.ackTimeoutMs how long the broker may take to acknowledge leads, in milliseconds.
   * @param options.standstillMs how long a buffer that holds leads may deliver none, in milliseconds.
   * @param options.onOtherLimits called once if the existing stream has other limits that the NATS user may not change.
   */
  constructor(
    broker: Broker,
    stream: BufferStream,
    options: {
      readonly ackTimeoutMs?: number;
      readonly standstillMs?: number;
      readonly onOtherLimits?: () => void;
    } = {},
  ) {
    this.#broker = broker;
    this.#stream = stream;
    this.#ackTimeoutMs = options.ackTimeoutMs ?? defaultAckTimeoutMs;
    this.#standstillMs = options.standstillMs ?? defaultStandstillMs;
    this.#onOtherLimits = options.onOtherLimits;
  }

  get isConnected(): boolean {
    return this.#broker.isConnected;
  }

  /**
   * Stores leads in the buffer, as many in one message as fit.
   *
   * @returns the size of each lead in its message, in bytes.
   * @throws LeadsError `unavailable` without the broker or without room. Some of the leads may be stored nevertheless.
   */
  async put(leads: readonly LeadToInsert[]): Promise<readonly number[]> {
    return this.#attempt(async () => {
      const { jetStream, maxPayloadBytes } = this.#broker;
      await this.#getReady();
      const maxBytes = Math.min(maxPayloadBytes, defaultMaxMessageBytes - headersRoom);
      const { name } = this.#stream;
      const texts = leads.map((lead) => JSON.stringify(toLeadJson(lead)));
      // Each has a comma or a bracket after it.
      const sizes = texts.map((text) => Buffer.byteLength(text) + 1);
      await Promise.all(
        toPayloads(texts, sizes, maxBytes).map((payload) =>
          publishBuffered(jetStream, payload, name, this.#ackTimeoutMs),
        ),
      );
      return sizes;
    });
  }

  /**
   * Fetches the oldest messages. Concurrent callers get different messages.
   *
   * @param limit the number of messages; fewer if they are large.
   * @returns an empty array if no message comes within a second.
   * @throws LeadsError `unavailable`
   */
  async fetch(limit: number): Promise<BufferedLeads[]> {
    return this.#attempt(async () => {
      const consumer = await this.#getReady();
      const first = await consumer.next({ expires: 1_000 });
      if (first === null) {
        await this.#endStandstill(consumer);
        return [];
      }
      const fetched = [first];
      let bytes = first.data.length;
      // Asking for more than there are would wait for them.
      for (let left = first.info.pending; left > 0 && fetched.length < limit && bytes < enoughBytes; ) {
        const before = fetched.length;
        // The size of the next messages is unknown. The messages so far estimate how many are enough. Their number is at
        // most doubled, because the first messages may be much smaller than the next ones.
        const enough = Math.ceil(((enoughBytes - bytes) * before) / bytes);
        const count = Math.min(left, limit - before, maxPerFetch, before, enough);
        for await (const message of await consumer.fetch({ max_messages: count, expires: 1_000 })) {
          fetched.push(message);
          bytes += message.data.length;
        }
        // Other callers fetch messages too.
        if (fetched.length < before + count) break;
        left = fetched.at(-1)?.info.pending ?? 0;
      }
      return fetched.map(toBufferedLeads);
    });
  }

  /**
   * Deletes the consumer at a standstill. A broker that was killed may have restored leads that its consumer skips. A new
   * consumer delivers all leads in the stream.
   */
  async #endStandstill(consumer: Consumer): Promise<void> {
    const now = performance.now();
    if (now < this.#nextCheckAt) return;
    this.#nextCheckAt = now + Math.min(standstillCheckMs, this.#standstillMs);
    const { messages } = await this.waiting();
    const delivered = messages === 0 ? undefined : (await consumer.info()).delivered.consumer_seq;
    if (delivered === undefined) {
      this.#standstill = undefined;
    } else if (delivered !== this.#standstill?.delivered) {
      this.#standstill = { delivered, since: now };
    } else if (now - this.#standstill.since >= this.#standstillMs) {
      await (await this.#broker.manager()).consumers.delete(this.#stream.name, durable);
      this.#standstill = undefined;
      this.#ready = undefined;
    }
  }

  /** @throws LeadsError `unavailable` if the buffer is full or nearly full. */
  async checkRoom(): Promise<void> {
    const { maxBytes } = this.#stream;
    const { bytes } = await this.waiting();
    if (bytes + Math.min(defaultMaxMessageBytes, maxBytes / 10) > maxBytes)
      throw new LeadsError('unavailable');
  }

  /** @throws LeadsError `unavailable` */
  async waiting(): Promise<WaitingLeads> {
    return this.#attempt(async () => {
      await this.#getReady();
      const { config, state } = await (await this.#broker.manager()).streams.info(this.#stream.name);
      const { messages, bytes, first_ts: oldestAt } = state;
      // A stream that others have created may have no limit, which is -1.
      const room = config.max_bytes < 0 ? Number.POSITIVE_INFINITY : config.max_bytes - bytes;
      return { messages, bytes, room, oldestAt: messages === 0 ? undefined : new Date(oldestAt) };
    });
  }

  /** Prepares the stream once for all callers. A failure resets it, because the stream may have been deleted. */
  #getReady(): Promise<Consumer> {
    this.#ready ??= this.#prepare();
    return this.#ready;
  }

  async #prepare(): Promise<Consumer> {
    const manager = await this.#broker.manager();
    const { name } = this.#stream;
    if (!(await ensureBufferStream(manager, this.#stream))) {
      if (!this.#isReported) this.#onOtherLimits?.();
      this.#isReported = true;
    }
    await manager.consumers.add(name, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(redeliverMs),
      max_ack_pending: maxUnacknowledged,
      max_deliver: -1,
    });
    return this.#broker.jetStream.consumers.get(name, durable);
  }

  async #attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.#ready = undefined;
      throw error instanceof LeadsError ? error : new LeadsError('unavailable', { cause: error });
    }
  }
}

/** Creates or updates the stream of buffered leads. Returns and throws as {@link ensureStream} does. */
export function ensureBufferStream(
  manager: JetStreamManager,
  { name, maxBytes, replicas }: BufferStream,
): Promise<boolean> {
  return ensureStream(
    manager,
    { name, subjects: [bufferSubject], retention: RetentionPolicy.Workqueue },
    {
      max_bytes: maxBytes,
      num_replicas: replicas,
      // A full stream rejects new leads instead of dropping old ones, because clients have a response for the old ones.
      discard: DiscardPolicy.New,
      max_age: 0,
      max_msgs: -1,
      max_msgs_per_subject: -1,
    },
  );
}

/** Joins the JSON texts of leads to arrays of a limited size. All sizes are in bytes. */
function toPayloads(leads: readonly string[], sizes: readonly number[], maxBytes: number): string[] {
  const payloads: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [at, text] of leads.entries()) {
    const more = sizes[at] ?? 0;
    if (bytes + more > maxBytes) {
      payloads.push([]);
      bytes = 1;
    }
    payloads.at(-1)?.push(text);
    bytes += more;
  }
  return payloads.map((texts) => `[${texts.join(',')}]`);
}

/**
 * Publishes leads to the buffer stream. Spaces pad the message to a multiple of {@link grain}.
 *
 * @param json the leads as a JSON array.
 * @throws NatsError
 */
export async function publishBuffered(
  jetStream: JetStreamClient,
  json: string,
  streamName: string,
  timeoutMs: number,
): Promise<void> {
  const headers = `NATS/1.0\r\nNats-Expected-Stream: ${streamName}\r\n\r\n`;
  // nats-server writes length, sequence, time and the lengths of subject and headers first, and a checksum last.
  const overhead = 4 + 8 + 8 + 2 + bufferSubject.length + 4 + headers.length + 8;
  const over = (overhead + Buffer.byteLength(json)) % grain;
  const payload = over === 0 ? json : json + ' '.repeat(grain - over);
  await jetStream.publish(bufferSubject, payload, { timeout: timeoutMs, expect: { streamName } });
}

function toBufferedLeads(message: JsMsg): BufferedLeads {
  return {
    bytes: message.data.length,
    leads() {
      try {
        return message.json<LeadJson[]>().map(fromLeadJson);
      } catch {
        // The cause is omitted, because it quotes the message.
        throw new Error(`Message ${message.seq} of the buffer cannot be parsed`);
      }
    },
    acknowledge: () => message.ack(),
    nak: () =>
      message.nak(Math.min(minRedeliveryMs * 2 ** (message.info.redeliveryCount - 1), maxRedeliveryMs)),
  };
}
