import { type JetStreamManager, nanos, RetentionPolicy } from 'nats';
import { LeadsError } from '../errors.ts';
import { type LeadEvent, truncatedTextLength } from '../event/lead-event.schema.ts';
import { eventSubject } from '../event/lead-event.ts';
import type { Broker } from './broker.ts';
import { ensureStream } from './ensure-stream.ts';
import type { StreamMessage } from './publish-all.ts';

/** The name of the event stream, in every deployment. */
export const eventStreamName = 'LEADS';

/** Settings of the event stream. */
export interface EventStream {
  readonly name: string;
  /** How long events are retained, in milliseconds. */
  readonly maxAgeMs: number;
  /** The size limit of the stream, in bytes. At the limit, the oldest events are removed. */
  readonly maxBytes: number;
  readonly replicas: number;
}

/** JetStream drops duplicates within this time, in milliseconds. Consumers must ignore later ones. */
const duplicateWindowMs = 120_000;

/** Publishes events to a JetStream stream. It creates or updates the stream first, if its NATS user may. */
export class EventPublisher {
  readonly #broker: Broker;
  readonly #stream: EventStream;
  readonly #onOtherLimits: (() => void) | undefined;
  #isStreamReady = false;
  #isReported = false;

  /** @param onOtherLimits called once if the existing stream has other limits that the NATS user may not change. */
  constructor(broker: Broker, stream: EventStream, onOtherLimits?: () => void) {
    this.#broker = broker;
    this.#stream = stream;
    this.#onOtherLimits = onOtherLimits;
  }

  get isConnected(): boolean {
    return this.#broker.isConnected;
  }

  /**
   * Publishes events concurrently. Events of the same lead keep their order. An event that exceeds the largest message of
   * the server is truncated, because it would otherwise prevent the publishing of all later events.
   *
   * @throws LeadsError `unavailable`. Some events may be published nevertheless.
   */
  async publish(events: readonly LeadEvent[]): Promise<void> {
    try {
      if (!this.#isStreamReady) await this.#prepare();
      this.#isStreamReady = true;
      const { maxPayloadBytes } = this.#broker;
      await processInOrder(events, (batch) =>
        this.#broker.publish(batch.map((event) => toMessage(event, maxPayloadBytes))),
      );
    } catch (error) {
      // The stream may have been deleted.
      this.#isStreamReady = false;
      throw error instanceof LeadsError ? error : new LeadsError('unavailable', { cause: error });
    }
  }

  async #prepare(): Promise<void> {
    if (await ensureEventStream(await this.#broker.manager(), this.#stream)) return;
    if (!this.#isReported) this.#onOtherLimits?.();
    this.#isReported = true;
  }
}

/** Creates or updates the stream of events. Returns and throws as {@link ensureStream} does. */
export function ensureEventStream(
  manager: JetStreamManager,
  { name, maxAgeMs, maxBytes, replicas }: EventStream,
): Promise<boolean> {
  return ensureStream(
    manager,
    {
      name,
      subjects: ['leads.>'],
      retention: RetentionPolicy.Limits,
      duplicate_window: nanos(Math.min(duplicateWindowMs, maxAgeMs)),
    },
    { max_age: nanos(maxAgeMs), max_bytes: maxBytes, num_replicas: replicas },
  );
}

/** Processes events in consecutive batches. No batch has two events of the same lead. */
export async function processInOrder<Event extends { readonly subject: string }>(
  events: readonly Event[],
  work: (batch: readonly Event[]) => Promise<unknown>,
): Promise<void> {
  let batch: Event[] = [];
  const leads = new Set<string>();
  for (const event of events) {
    if (leads.has(event.subject)) {
      await work(batch);
      batch = [];
      leads.clear();
    }
    leads.add(event.subject);
    batch.push(event);
  }
  if (batch.length > 0) await work(batch);
}

function toMessage(event: LeadEvent, maxBytes: number): StreamMessage {
  const { id, source, type, traceparent } = event;
  const workspaceId = source.slice(source.lastIndexOf('/') + 1);
  const whole = JSON.stringify(event);
  const payload = Buffer.byteLength(whole) > maxBytes ? truncatedJson(event) : whole;
  return { subject: eventSubject(workspaceId, type), payload, id, traceparent };
}

/** Returns the JSON of an event of any size in at most 100 KiB. */
function truncatedJson(event: LeadEvent): string {
  return JSON.stringify({ ...event, data: { ...event.data, truncated: true } }, (key, value: unknown) => {
    if (key === 'extra') return {};
    return typeof value === 'string' ? value.slice(0, truncatedTextLength).toWellFormed() : value;
  });
}
