import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, type JetStreamManager, type JsMsg, NatsError, nanos } from 'nats';
import { isOutage, LeadsError } from '../errors.ts';
import { type EventPosition, formatPosition, parsePosition } from '../event/event-position.ts';
import type { LeadEvent, LeadEventType } from '../event/lead-event.schema.ts';
import { eventSubject } from '../event/lead-event.ts';
import { available, type Broker } from './broker.ts';

/** Where to start: with new events, with the oldest retained event, after an event id, or at a time. */
export type EventStart = 'now' | 'oldest' | { readonly after: string } | { readonly since: Date };

/** Selects the events of a reader. */
export interface EventFilter {
  /** The workspace; if absent, all workspaces. */
  readonly workspaceId?: string | undefined;
  /** The event types; if absent, all types. */
  readonly types?: readonly LeadEventType[] | undefined;
  /** An additional condition. */
  readonly wants?: ((event: LeadEvent) => boolean) | undefined;
}

/** A reader's progress: one event, or a new position past events that the filter excludes. */
export interface EventStep {
  /** The position to resume after; absent if the stream does not exist yet. */
  readonly id: string | undefined;
  readonly event?: LeadEvent;
}

/** The state of the stream. */
interface StreamState {
  readonly streamMs: number;
  readonly first: number;
  readonly last: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

type Place = EventPosition | undefined;

/** The limit of data that the broker sends before the reader requests more. */
const maxFetchBytes = 2 * 1024 * 1024;
/** Events after which a fetch ends. With a byte limit, brokers do not report that a fetch is complete. */
const maxFetchEvents = 100;
/** How long one fetch waits for events, in milliseconds. The next fetch follows. */
const fetchTimeoutMs = 5_000;
/** The broker removes a consumer without requests after this time, in milliseconds. The reader then creates another. */
const idleMs = 60_000;
const pauseMs = 500;

/** Reads the event stream. */
export class EventReader {
  readonly #broker: Broker;
  readonly #stream: string;

  /** @param stream the name of the stream. */
  constructor(broker: Broker, stream: string) {
    this.#broker = broker;
    this.#stream = stream;
  }

  /**
   * Reads events in stream order, each once, until the signal aborts. It resumes after an outage of the broker, and
   * reads no faster than the caller consumes.
   *
   * @param options.signal ends the generator.
   * @returns a generator. Its first step has the start position. A step without an event follows every few seconds, even
   *   if no event arrives. The generator throws LeadsError `events_gone` if unread events may have been removed. Its last
   *   step then has the position before them.
   * @throws LeadsError `unavailable` without the broker; `events_gone` if events after the start position are no longer
   *   retained; `invalid_input` for a malformed id.
   */
  async open(options: {
    start: EventStart;
    filter: EventFilter;
    signal: AbortSignal;
  }): Promise<AsyncGenerator<EventStep, void, undefined>> {
    const { start, filter, signal } = options;
    return this.#follow(await this.#locate(start), filter, signal);
  }

  async #locate(start: EventStart): Promise<Place> {
    const after = typeof start === 'object' && 'after' in start ? toPosition(start.after) : undefined;
    const manager = await this.#broker.manager();
    const state = await this.#state(manager);
    if (after !== undefined) {
      requireKept(state, after);
      return after;
    }
    if (state === undefined) return undefined;
    const { streamMs } = state;
    if (typeof start === 'object' && 'since' in start) {
      return { streamMs, sequence: await this.#lastBefore(manager, state, start.since) };
    }
    return { streamMs, sequence: start === 'now' ? state.last : Math.max(state.first - 1, 0) };
  }

  /** Returns the sequence number of the last event before a time. */
  async #lastBefore(manager: JetStreamManager, state: StreamState, time: Date): Promise<number> {
    const { first, last, firstAt, lastAt } = state;
    const isEmpty = first > last;
    // If the stream still has its first event, no older event was removed.
    if (first > 1 && (isEmpty ? time <= lastAt : time < firstAt)) {
      throw gone(isEmpty ? undefined : firstAt);
    }
    if (time > lastAt) return last;
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

  async *#follow(
    start: Place,
    filter: EventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<EventStep, void, undefined> {
    let place = start;
    yield { id: idOf(place) };
    while (!signal.aborted) {
      try {
        for await (const { event, ...position } of this.#read(place, filter, signal)) {
          place = position;
          yield { id: idOf(place), ...(event !== undefined && { event }) };
        }
      } catch (error) {
        if (!isOutage(error)) throw error;
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) yield { id: idOf(place) };
    }
  }

  /** Reads until the broker, the stream or the consumer becomes unavailable. */
  async *#read(
    start: Place,
    filter: EventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<EventPosition & { event?: LeadEvent }, void, undefined> {
    const { jetStream } = this.#broker;
    const manager = await this.#broker.manager();
    const state = await this.#state(manager);
    if (state === undefined && start === undefined) return;
    const { streamMs, sequence: from } = start ?? { streamMs: state?.streamMs ?? 0, sequence: 0 };
    requireKept(state, { streamMs, sequence: from });
    const { workspaceId = '*', types = [], wants } = filter;
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
            const isWanted =
              event !== undefined &&
              (types.length === 0 || types.includes(event.type)) &&
              wants?.(event) !== false;
            if (isWanted) yield { streamMs, sequence, event };
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

const idOf = (place: Place) => place && formatPosition(place);

function toPosition(id: string): EventPosition {
  const position = parsePosition(id);
  if (position === undefined) throw new LeadsError('invalid_input');
  return position;
}

/** Checks that the stream still has all events after a position. @throws LeadsError `events_gone` */
function requireKept(state: StreamState | undefined, { streamMs, sequence }: EventPosition): void {
  if (state?.streamMs !== streamMs || state.last < sequence) {
    throw new LeadsError('events_gone', {
      message: 'The event stream of this id is no longer kept: connect again without the id',
    });
  }
  if (state.first > sequence + 1) throw gone(state.first > state.last ? undefined : state.firstAt);
}

function gone(firstAt: Date | undefined): LeadsError {
  return new LeadsError('events_gone', {
    message: `Events before ${firstAt?.toISOString() ?? 'now'} are no longer kept`,
  });
}

/** Parses an event; returns `undefined` for a message of another publisher that is not an event. */
function parseEvent(message: JsMsg): LeadEvent | undefined {
  try {
    const event = message.json<LeadEvent | null>();
    return event?.specversion === '1.0' ? event : undefined;
  } catch {
    return undefined;
  }
}
