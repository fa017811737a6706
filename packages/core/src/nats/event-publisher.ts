import { nanos, RetentionPolicy } from 'nats';
import { LeadsError } from '../errors.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { eventSubject } from '../event/lead-event.ts';
import type { Broker } from './broker.ts';
import { ensureStream } from './ensure-stream.ts';
import type { StreamMessage } from './publish-all.ts';

/** What the stream of all events is called, in every deployment. */
export const eventStreamName = 'LEADS';

/** The stream of all events, by what may be set about it. */
export interface EventStream {
  readonly name: string;
  /** How long events are kept, in milliseconds. */
  readonly maxAgeMs: number;
  /** How much room they may take, in bytes; the oldest make room for the newest. */
  readonly maxBytes: number;
  readonly replicas: number;
}

/** Within it JetStream leaves out repeats by itself, in milliseconds: the rest is for who listens. */
const duplicateWindowMs = 120_000;

/** Publishes events to a JetStream stream, which it makes, or sets right, first. */
export class EventPublisher {
  readonly #broker: Broker;
  readonly #stream: EventStream;
  #isStreamReady = false;

  constructor(broker: Broker, stream: EventStream) {
    this.#broker = broker;
    this.#stream = stream;
  }

  get isConnected(): boolean {
    return this.#broker.isConnected;
  }

  /**
   * Publishes events, many at once but each after those of the same lead that come before it.
   *
   * @throws LeadsError `unavailable`: some may be published all the same.
   */
  async publish(events: readonly LeadEvent[]): Promise<void> {
    try {
      if (!this.#isStreamReady) await this.#prepare();
      this.#isStreamReady = true;
      await inTurns(events, (turn) => this.#broker.publish(turn.map(toMessage)));
    } catch (error) {
      // The stream itself may be what is gone.
      this.#isStreamReady = false;
      throw error instanceof LeadsError ? error : new LeadsError('unavailable', { cause: error });
    }
  }

  async #prepare(): Promise<void> {
    const { name, maxAgeMs, maxBytes, replicas } = this.#stream;
    await ensureStream(
      await this.#broker.manager(),
      {
        name,
        subjects: ['leads.>'],
        retention: RetentionPolicy.Limits,
        duplicate_window: nanos(Math.min(duplicateWindowMs, maxAgeMs)),
      },
      { max_age: nanos(maxAgeMs), max_bytes: maxBytes, num_replicas: replicas },
    );
  }
}

/** Does something for events, for many at once, but for each once it is done for those of the same lead before it. */
export async function inTurns<Event extends { readonly subject: string }>(
  events: readonly Event[],
  work: (turn: readonly Event[]) => Promise<unknown>,
): Promise<void> {
  let turn: Event[] = [];
  const leads = new Set<string>();
  for (const event of events) {
    if (leads.has(event.subject)) {
      await work(turn);
      turn = [];
      leads.clear();
    }
    leads.add(event.subject);
    turn.push(event);
  }
  if (turn.length > 0) await work(turn);
}

function toMessage(event: LeadEvent): StreamMessage {
  const { id, source, type, traceparent } = event;
  const workspaceId = source.slice(source.lastIndexOf('/') + 1);
  return { subject: eventSubject(workspaceId, type), payload: JSON.stringify(event), id, traceparent };
}
