import { AckPolicy, DeliverPolicy, type JetStreamManager, type JsMsg, NatsError, nanos } from 'nats';
import { LeadsError } from '../errors.ts';
import {
  type EventFilter,
  type EventReader,
  type EventStart,
  type EventStep,
  followEvents,
  isWanted,
  locateStart,
  type Place,
  type ReadEvent,
  requireKept,
  type StreamState,
} from '../event/event-reader.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { eventSubject } from '../event/lead-event.ts';
import { available, type Broker } from './broker.ts';

/** The events of a reader. Without a workspace, it reads those of all workspaces. */
type NatsEventFilter = Omit<EventFilter, 'workspaceId'> & { readonly workspaceId?: string | undefined };

/** The limit of data that the broker sends before the reader requests more. */
const maxFetchBytes = 2 * 1024 * 1024;
/** Events after which a fetch ends. With a byte limit, brokers do not report that a fetch is complete. */
const maxFetchEvents = 100;
/** How long one fetch waits for events, in milliseconds. The next fetch follows. */
const fetchTimeoutMs = 5_000;
/** The broker removes a consumer without requests after this time, in milliseconds. The reader then creates another. */
const idleMs = 60_000;

/** Reads the event stream in NATS. */
export class NatsEventReader implements EventReader {
  readonly #broker: Broker;
  readonly #stream: string;

  /** @param stream the name of the stream. */
  constructor(broker: Broker, stream: string) {
    this.#broker = broker;
    this.#stream = stream;
  }

  async open({
    start,
    filter,
    signal,
  }: {
    start: EventStart;
    filter: NatsEventFilter;
    signal: AbortSignal;
  }): Promise<AsyncGenerator<EventStep, void, undefined>> {
    const manager = () => this.#broker.manager();
    const place = await locateStart(
      start,
      async () => this.#state(await manager()),
      async (_, time) => this.#lastBefore(await manager(), time),
    );
    return followEvents(place, (from) => this.#read(from, filter, signal), signal);
  }

  /** Returns the sequence number of the last event before a time. */
  async #lastBefore(manager: JetStreamManager, time: Date): Promise<number> {
    const { name, delivered } = await available(
      manager.consumers.add(this.#stream, {
        ...consumerSettings,
        deliver_policy: DeliverPolicy.StartTime,
        opt_start_time: time.toISOString(),
      }),
    );
    await available(manager.consumers.delete(this.#stream, name));
    return delivered.stream_seq;
  }

  /** Reads until the broker, the stream or the consumer becomes unavailable. */
  async *#read(
    start: Place,
    filter: NatsEventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<ReadEvent, void, undefined> {
    const { jetStream } = this.#broker;
    const manager = await this.#broker.manager();
    const state = await this.#state(manager);
    if (state === undefined && start === undefined) return;
    const { streamMs, sequence: from } = start ?? { streamMs: state?.streamMs ?? 0, sequence: 0 };
    requireKept(state, { streamMs, sequence: from });
    const { workspaceId = '*', types = [] } = filter;
    const [onlyType] = types;
    const info = await available(
      manager.consumers.add(this.#stream, {
        ...consumerSettings,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from + 1,
        filter_subject: eventSubject(workspaceId, types.length === 1 ? onlyType : '*'),
      }),
    );
    const consumer = jetStream.consumers.getPullConsumerFor(info);
    let sequence = from;
    let received = 0;
    try {
      while (!signal.aborted) {
        const before = sequence;
        const enough = received + maxFetchEvents;
        const messages = await consumer.fetch({ max_bytes: maxFetchBytes, expires: fetchTimeoutMs });
        const stop = () => void messages.close();
        signal.addEventListener('abort', stop, { once: true });
        try {
          for await (const message of messages as AsyncIterable<JsMsg>) {
            if (signal.aborted) return;
            received += 1;
            // A gap in the delivery sequence means that a message was lost in transit.
            if (message.info.deliverySequence !== received) throw new LeadsError('unavailable');
            sequence = message.seq;
            const event = parseEvent(message);
            if (event !== undefined && isWanted(event, filter)) yield { streamMs, sequence, event };
            if (received === enough) break;
          }
        } catch (cause) {
          throw new LeadsError('unavailable', { cause });
        } finally {
          signal.removeEventListener('abort', stop);
        }
        if (signal.aborted) return;
        // The consumer reports its position past events that the filter excludes. All events before it are received.
        const { delivered } = await available(consumer.info());
        if (delivered.consumer_seq !== received) throw new LeadsError('unavailable');
        sequence = Math.max(sequence, delivered.stream_seq);
        const place = { streamMs, sequence: before };
        try {
          // The consumer skips removed events silently, so they are detected here.
          requireKept(await this.#state(manager), place);
        } catch (error) {
          if (error instanceof LeadsError && error.code === 'events_gone') yield place;
          throw error;
        }
        yield { streamMs, sequence };
      }
    } finally {
      if (this.#broker.isConnected) await consumer.delete().catch(() => undefined);
    }
  }

  /** Returns the state of the stream; `undefined` if it does not exist. The first event creates it. */
  async #state(manager: JetStreamManager): Promise<StreamState | undefined> {
    const found = await available(
      manager.streams.info(this.#stream).catch((error: unknown) => {
        if (error instanceof NatsError && error.api_error?.code === 404) return undefined;
        throw error;
      }),
    );
    if (found === undefined) return undefined;
    const { first_seq: first, last_seq: last, first_ts, last_ts } = found.state;
    return {
      streamMs: Date.parse(found.created),
      first,
      last,
      firstAt: new Date(first_ts),
      lastAt: new Date(last_ts),
    };
  }
}

const consumerSettings = {
  ack_policy: AckPolicy.None,
  mem_storage: true,
  num_replicas: 1,
  inactive_threshold: nanos(idleMs),
};

/** Parses an event; returns `undefined` for a message of another publisher that is not an event. */
function parseEvent(message: JsMsg): LeadEvent | undefined {
  try {
    const event = message.json<LeadEvent | null>();
    return event?.specversion === '1.0' ? event : undefined;
  } catch {
    return undefined;
  }
}
