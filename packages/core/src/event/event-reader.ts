import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage, LeadsError } from '../errors.ts';
import { type EventPosition, formatPosition, parsePosition } from './event-position.ts';
import type { LeadEvent, LeadEventType } from './lead-event.schema.ts';

/** Where to start: with new events, with the oldest retained event, after an event id, or at a time. */
export type EventStart = 'now' | 'oldest' | { readonly after: string } | { readonly since: Date };

/** Selects the events of a reader. */
export interface EventFilter {
  readonly workspaceId: string;
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

/** Reads the event stream. */
export interface EventReader {
  /**
   * Reads events in stream order, each once, until the signal aborts. It resumes after an outage, and reads no faster than
   * the caller consumes.
   *
   * @param options.signal ends the generator.
   * @returns a generator. Its first step has the start position. A step without an event follows every few seconds, even
   *   if no event arrives. The generator throws LeadsError `events_gone` if unread events may have been removed. Its last
   *   step then has the position before them.
   * @throws LeadsError `unavailable` in an outage; `events_gone` if events after the start position are no longer
   *   retained; `invalid_input` for a malformed id.
   */
  open(options: {
    start: EventStart;
    filter: EventFilter;
    signal: AbortSignal;
  }): Promise<AsyncGenerator<EventStep, void, undefined>>;
}

/** The state of the stream. It has the events from `first` to `last`; it is empty if `first` is greater. */
export interface StreamState {
  /** The creation time of the stream, in milliseconds since 1970. */
  readonly streamMs: number;
  readonly first: number;
  readonly last: number;
  /** The time of the first event. Without meaning if the stream is empty. */
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export type Place = EventPosition | undefined;

/** One event, or a position past events that the filter excludes. */
export type ReadEvent = EventPosition & { readonly event?: LeadEvent };

const pauseMs = 500;

/**
 * Returns the position at which a stream starts.
 *
 * @param findBefore returns the sequence number of the last event before a time within the stream.
 * @returns `undefined` if the stream does not exist yet.
 * @throws LeadsError `events_gone`, `invalid_input`
 */
export async function locateStart(
  start: EventStart,
  readState: () => Promise<StreamState | undefined>,
  findBefore: (state: StreamState, time: Date) => Promise<number>,
): Promise<Place> {
  const after = typeof start === 'object' && 'after' in start ? toPosition(start.after) : undefined;
  const state = await readState();
  if (after !== undefined) {
    requireKept(state, after);
    return after;
  }
  if (state === undefined) return undefined;
  const { streamMs, first, last, firstAt, lastAt } = state;
  if (typeof start === 'object' && 'since' in start) {
    const { since } = start;
    const isEmpty = first > last;
    // If the stream still has its first event, no older event was removed.
    if (first > 1 && (isEmpty ? since <= lastAt : since < firstAt)) {
      throw gone(isEmpty ? undefined : firstAt);
    }
    return { streamMs, sequence: since > lastAt ? last : await findBefore(state, since) };
  }
  return { streamMs, sequence: start === 'now' ? last : Math.max(first - 1, 0) };
}

/**
 * Returns the steps of a reader. It reads again after an outage.
 *
 * @param read reads from a place until an outage.
 */
export async function* followEvents(
  start: Place,
  read: (from: Place) => AsyncGenerator<ReadEvent, void, undefined>,
  signal: AbortSignal,
): AsyncGenerator<EventStep, void, undefined> {
  let place = start;
  yield { id: idOf(place) };
  while (!signal.aborted) {
    try {
      for await (const { event, ...position } of read(place)) {
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

/** Whether the filter selects the event. The workspace is not compared. */
export function isWanted(event: LeadEvent, { types = [], wants }: Omit<EventFilter, 'workspaceId'>): boolean {
  return (types.length === 0 || types.includes(event.type)) && wants?.(event) !== false;
}

const idOf = (place: Place) => place && formatPosition(place);

function toPosition(id: string): EventPosition {
  const position = parsePosition(id);
  if (position === undefined) throw new LeadsError('invalid_input');
  return position;
}

/** Checks that the stream still has all events after a position. @throws LeadsError `events_gone` */
export function requireKept(state: StreamState | undefined, { streamMs, sequence }: EventPosition): void {
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
