import {
  AckPolicy,
  type Consumer,
  DiscardPolicy,
  type JetStreamClient,
  type JsMsg,
  nanos,
  RetentionPolicy,
} from 'nats';
import { LeadsError } from '../errors.ts';
import { fromLeadJson, type LeadJson, toLeadJson } from '../lead/lead-json.ts';
import type { LeadToInsert } from '../lead/lead-store.ts';
import type { Broker } from './broker.ts';
import { ensureStream } from './ensure-stream.ts';

/** The stream that leads wait in, by what may be set about it. */
export interface BufferStream {
  readonly name: string;
  /** How much room they may take, in bytes; what is beyond is refused. */
  readonly maxBytes: number;
  readonly replicas: number;
}

/** Leads that were put together. Taken from the buffer they come again after a while, until they are acknowledged. */
export interface BufferedLeads {
  /** @throws Error where it is no message of ours. */
  leads(): LeadToInsert[];
  /** They are where they belong: the buffer forgets them. */
  acknowledge(): void;
  /** They are not: they come again after a pause, a longer one each time. */
  giveBack(): void;
}

/** What the stream is called, in every deployment. */
export const bufferStreamName = 'LEADS_BUFFER';
const bufferSubject = 'buffer.leads';

/** What is in the buffer and not yet acknowledged, taken or not. */
export interface WaitingLeads {
  /** Each holds the leads that were put together, or some of them. */
  readonly messages: number;
  /** What they take of its room. */
  readonly bytes: number;
  /** When the first of them was put into it; nothing of none. */
  readonly oldestAt: Date | undefined;
}

const durable = 'drainer';
/** How long to wait for the broker's word that leads are stored, in milliseconds: somebody waits for an answer. */
const ackTimeoutMs = 1_000;
/** What is not acknowledged for so long comes again, in milliseconds: whoever took it may have been killed. */
const redeliverMs = 20_000;
/** How many messages may be on their way to whoever takes them, all of them together. */
const maxTaken = 10_000;
/** Those that one call takes: so many at a time, until they hold enough for an insert or two. */
const maxAtOnce = 100;
const enoughBytes = 1024 * 1024;
/** Where it holds leads and none has come out for so long, taking starts over: longer than what was taken stays away. */
const standstillMs = 25_000;
/** How often one looks whether it does, where nothing comes. */
const lookMs = 5_000;
const leastPauseMs = 500;
const longestPauseMs = 10_000;
/** Servers take messages of 1 MiB by default, headers included. */
const largestMessage = 1024 * 1024;
const headersRoom = 1024;
/**
 * What a message takes of the stream is a multiple of this, in bytes. nats-server before 2.10.5 leaves out what it writes
 * around a message when it looks whether there is room, and where that is what is missing it drops the oldest one.
 */
const grain = 64;

/**
 * Where leads wait, on disk, while their database is away: a JetStream stream, which is made or set right first. A lead
 * leaves it once it is acknowledged, and no other way.
 */
export class LeadBuffer {
  readonly #broker: Broker;
  readonly #stream: BufferStream;
  readonly #standstillMs: number;
  #ready: Promise<Consumer> | undefined;
  #lookAt = 0;
  /** How many have ever come out, and since when none has, while there are some in it. */
  #standstill: { readonly delivered: number; readonly since: number } | undefined;

  constructor(broker: Broker, stream: BufferStream, options: { readonly standstillMs?: number } = {}) {
    this.#broker = broker;
    this.#stream = stream;
    this.#standstillMs = options.standstillMs ?? standstillMs;
  }

  get isConnected(): boolean {
    return this.#broker.isConnected;
  }

  /**
   * Puts leads into the buffer, together as far as one message holds them.
   *
   * @throws LeadsError `unavailable` without the broker, and where there is no room: some may be in it all the same.
   */
  async put(leads: readonly LeadToInsert[]): Promise<void> {
    await this.#attempt(async () => {
      const { connection, jetStream } = this.#broker;
      await this.#getReady();
      const most = Math.min(connection.info?.max_payload ?? largestMessage, largestMessage) - headersRoom;
      const { name } = this.#stream;
      await Promise.all(
        toPayloads(leads, most).map((payload) => publishBuffered(jetStream, payload, name, ackTimeoutMs)),
      );
    });
  }

  /**
   * Takes what waits, oldest first, a part each where several take.
   *
   * @param most messages at most; fewer where they are large.
   * @returns nothing where nothing comes within a second.
   * @throws LeadsError `unavailable`
   */
  async take(most: number): Promise<BufferedLeads[]> {
    return this.#attempt(async () => {
      const consumer = await this.#getReady();
      const first = await consumer.next({ expires: 1_000 });
      if (first === null) {
        await this.#endStandstill(consumer);
        return [];
      }
      const taken = [first];
      let bytes = first.data.length;
      // Not more than there are: it would be waited for.
      for (let left = first.info.pending; left > 0 && taken.length < most && bytes < enoughBytes; ) {
        const count = Math.min(left, most - taken.length, maxAtOnce);
        const before = taken.length;
        for await (const message of await consumer.fetch({ max_messages: count, expires: 1_000 })) {
          taken.push(message);
          bytes += message.data.length;
        }
        // Others take them too.
        if (taken.length < before + count) break;
        left = taken.at(-1)?.info.pending ?? 0;
      }
      return taken.map(toBufferedLeads);
    });
  }

  /**
   * A broker that was killed may have leads again that were acknowledged, and perhaps others, and not know that they are
   * to come out: with a new consumer all that it has does.
   */
  async #endStandstill(consumer: Consumer): Promise<void> {
    const now = performance.now();
    if (now < this.#lookAt) return;
    this.#lookAt = now + Math.min(lookMs, this.#standstillMs);
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

  /** @throws LeadsError `unavailable` where it takes no leads, or hardly any more. */
  async checkRoom(): Promise<void> {
    const { maxBytes } = this.#stream;
    const { bytes } = await this.waiting();
    if (bytes + Math.min(largestMessage, maxBytes / 10) > maxBytes) throw new LeadsError('unavailable');
  }

  /** @throws LeadsError `unavailable` */
  async waiting(): Promise<WaitingLeads> {
    return this.#attempt(async () => {
      await this.#getReady();
      const { state } = await (await this.#broker.manager()).streams.info(this.#stream.name);
      const { messages, bytes, first_ts: oldestAt } = state;
      return { messages, bytes, oldestAt: messages === 0 ? undefined : new Date(oldestAt) };
    });
  }

  /** Once for all who ask, until something goes wrong: the stream itself may be what is gone. */
  #getReady(): Promise<Consumer> {
    this.#ready ??= this.#prepare();
    return this.#ready;
  }

  async #prepare(): Promise<Consumer> {
    const manager = await this.#broker.manager();
    const { name, maxBytes, replicas } = this.#stream;
    await ensureStream(
      manager,
      // What does not fit is refused: the oldest was acknowledged first of all.
      { name, subjects: [bufferSubject], retention: RetentionPolicy.Workqueue, discard: DiscardPolicy.New },
      { max_bytes: maxBytes, num_replicas: replicas },
    );
    await manager.consumers.add(name, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(redeliverMs),
      max_ack_pending: maxTaken,
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

/** Leads as JSON arrays of so many bytes at most. */
function toPayloads(leads: readonly LeadToInsert[], most: number): string[] {
  const payloads: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const lead of leads) {
    const text = JSON.stringify(toLeadJson(lead));
    const more = Buffer.byteLength(text) + 1;
    if (bytes + more > most) {
      payloads.push([]);
      bytes = 1;
    }
    payloads.at(-1)?.push(text);
    bytes += more;
  }
  return payloads.map((texts) => `[${texts.join(',')}]`);
}

/**
 * Publishes leads to the stream they wait in, with blanks behind them so that the message takes a multiple of
 * {@link grain}.
 *
 * @param json a JSON array of them.
 * @throws NatsError
 */
export async function publishBuffered(
  jetStream: JetStreamClient,
  json: string,
  streamName: string,
  timeoutMs: number,
): Promise<void> {
  const headers = `NATS/1.0\r\nNats-Expected-Stream: ${streamName}\r\n\r\n`;
  // Length, sequence, time and the lengths of subject and headers before it; a checksum behind it.
  const around = 4 + 8 + 8 + 2 + bufferSubject.length + 4 + headers.length + 8;
  const over = (around + Buffer.byteLength(json)) % grain;
  const payload = over === 0 ? json : json + ' '.repeat(grain - over);
  await jetStream.publish(bufferSubject, payload, { timeout: timeoutMs, expect: { streamName } });
}

function toBufferedLeads(message: JsMsg): BufferedLeads {
  return {
    leads() {
      try {
        return message.json<LeadJson[]>().map(fromLeadJson);
      } catch {
        // Without the cause, which quotes what it cannot read.
        throw new Error(`Message ${message.seq} of the buffer cannot be read`);
      }
    },
    acknowledge: () => message.ack(),
    giveBack: () =>
      message.nak(Math.min(leastPauseMs * 2 ** (message.info.redeliveryCount - 1), longestPauseMs)),
  };
}
