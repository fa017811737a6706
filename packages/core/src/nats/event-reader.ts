import { setTimeout as sleep } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, type JetStreamManager, type JsMsg, NatsError, nanos } from 'nats';
import { isOutage, LeadsError } from '../errors.ts';
import { type EventPosition, formatPosition, parsePosition } from '../event/event-position.ts';
import type { LeadEvent, LeadEventType } from '../event/lead-event.schema.ts';
import { eventSubject } from '../event/lead-event.ts';
import { available, type Broker } from './broker.ts';

/** Where to begin: with what comes from now, with the oldest there is, after an event, or at a time. */
export type EventStart = 'now' | 'oldest' | { readonly after: string } | { readonly since: Date };

export interface EventFilter {
  /** Of one workspace; without it of all. */
  readonly workspaceId?: string | undefined;
  /** Without it, all. */
  readonly types?: readonly LeadEventType[] | undefined;
  /** What else is asked of an event. */
  readonly wants?: ((event: LeadEvent) => boolean) | undefined;
}

/** How far a reader has come: with an event, or past some that it was not asked for. */
export interface EventStep {
  /** To begin after, another time; none where there is no stream yet. */
  readonly id: string | undefined;
  readonly event?: LeadEvent;
}

/** What is known of the stream. */
interface StreamState {
  readonly streamMs: number;
  readonly first: number;
  readonly last: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

type Place = EventPosition | undefined;

/** The broker sends so much ahead of a reader at most. */
const aheadBytes = 2 * 1024 * 1024;
/** So many events the client asks for at once; that they have all come, brokers do not say where bytes are bounded. */
const atOnce = 100;
/** How long the broker is asked for what comes, in milliseconds; then again. */
const waitMs = 5_000;
/** A consumer whose reader is gone, or asks for nothing, is removed by the broker: it is made anew where it is missed. */
const idleMs = 60_000;
const pauseMs = 500;

/** Reads the stream of events. */
export class EventReader {
  readonly #broker: Broker;
  readonly #stream: string;

  /** @param stream the name of the stream. */
  constructor(broker: Broker, stream: string) {
    this.#broker = broker;
    this.#stream = stream;
  }

  /**
   * Reads events in the order of the stream, each once, for as long as it is asked to: also when the broker was away
   * meanwhile. It reads no faster than its steps are taken.
   *
   * @param options.signal ends it.
   * @returns the first step tells where it begins; one without an event comes every few seconds, also where there is
   *   nothing to tell. It throws LeadsError `events_gone` where events may have been removed that it has not read; the
   *   step before tells after which.
   * @throws LeadsError `unavailable` without the broker, `events_gone` where it would begin with events that are no
   *   longer kept, `invalid_input` for an id that is none.
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

  /** The number of the last event before a time. */
  async #lastBefore(manager: JetStreamManager, state: StreamState, time: Date): Promise<number> {
    const { first, last, firstAt, lastAt } = state;
    const isEmpty = first > last;
    // Where nothing was ever removed, there is nothing older.
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

  /** Reads until the broker, the stream or the consumer is away. */
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
        const enough = received + atOnce;
        const messages = await consumer.fetch({ max_bytes: aheadBytes, expires: waitMs });
        const stop = () => void messages.close();
        signal.addEventListener('abort', stop, { once: true });
        try {
          for await (const message of messages as AsyncIterable<JsMsg>) {
            if (signal.aborted) return;
            received += 1;
            // One before it was lost on the way.
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
        // The consumer itself says how far it has looked, past events of others; that much has been received.
        const { delivered } = await available(consumer.info());
        if (delivered.consumer_seq !== received) throw new LeadsError('unavailable');
        sequence = Math.max(sequence, delivered.stream_seq);
        const place = { streamMs, sequence: before };
        try {
          // What was removed before the consumer came to it, it passed over without a word.
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

  /** @returns nothing where there is no stream: it is made with the first event. */
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

/** @throws LeadsError `events_gone` where what comes after a position is not all there. */
function requireKept(state: StreamState | undefined, { streamMs, sequence }: EventPosition): void {
  if (state?.streamMs !== streamMs || state.last < sequence) {
    throw new LeadsError('events_gone', {
      message: 'The events that this id is one of are no longer kept: begin anew, without it',
    });
  }
  if (state.first > sequence + 1) throw gone(state.first > state.last ? undefined : state.firstAt);
}

function gone(firstAt: Date | undefined): LeadsError {
  return new LeadsError('events_gone', {
    message: `Events before ${firstAt?.toISOString() ?? 'now'} are no longer kept`,
  });
}

/** What somebody else has published there is no event. */
function parseEvent(message: JsMsg): LeadEvent | undefined {
  try {
    const event = message.json<LeadEvent | null>();
    return event?.specversion === '1.0' ? event : undefined;
  } catch {
    return undefined;
  }
}
