import { BackgroundLoop, untilWoken } from '../background/background-loop.ts';
import type { EventLog, EventPage } from './event-log.ts';
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
} from './event-reader.ts';

/** The pause between two polls, in milliseconds. */
const pollMs = 250;
/** How long a reader waits for events before it reports its position, in milliseconds. */
const waitMs = 5_000;

/** A reader that has read all events and waits for further ones. */
interface Waiter {
  readonly workspaceId: string;
  readonly streamMs: number;
  /** The position up to which the log has no events of the workspace that the reader has not read. */
  sequence: number;
  /** Ends the wait: there are events to read. */
  readonly wake: () => void;
}

/** What a reader reads at once: a page, and the state of the log after it. */
interface Reading {
  readonly page: EventPage;
  readonly state: StreamState | undefined;
}

/** A read that the readers of one workspace at one position share. */
interface SharedRead {
  readonly reading: Promise<Reading>;
  /** The number of readers that wait for the read. */
  readers: number;
  /** Removes the read from its queue if it has not started. */
  readonly stop: () => void;
}

/**
 * Reads the event log. One poll of a process serves all its readers, while there are any. Readers of one workspace that are
 * at the same position share one page.
 */
export class EventLogReader implements EventReader, AsyncDisposable {
  readonly #log: EventLog;
  readonly #poll: BackgroundLoop;
  readonly #waiters = new Set<Waiter>();
  readonly #reads = new Map<string, SharedRead>();

  constructor(log: EventLog) {
    this.#log = log;
    // An outage needs no report: the service reports it itself, and each reader reads again.
    this.#poll = new BackgroundLoop({ step: () => this.#wakeWaiters(), retryMs: pollMs });
  }

  async open({
    start,
    filter,
    signal,
  }: {
    start: EventStart;
    filter: EventFilter;
    signal: AbortSignal;
  }): Promise<AsyncGenerator<EventStep, void, undefined>> {
    const place = await locateStart(
      start,
      () => this.#log.state(),
      async ({ first }, time) => (await this.#log.lastBefore(time)) ?? first - 1,
    );
    return followEvents(place, (from) => this.#read(from, filter, signal), signal);
  }

  async *#read(
    start: Place,
    filter: EventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<ReadEvent, void, undefined> {
    const { workspaceId } = filter;
    let place = start;
    if (place === undefined) {
      const state = await this.#log.state();
      if (state === undefined) return;
      place = { streamMs: state.streamMs, sequence: state.first - 1 };
    }
    const { streamMs } = place;
    let { sequence } = place;
    while (!signal.aborted) {
      const reading = await this.#shared(workspaceId, sequence, signal);
      if (reading === undefined) return;
      const { page, state } = reading;
      // The state is newer than the page. If it still has the position, the page lacks no event.
      requireKept(state, { streamMs, sequence });
      for (const { sequence: at, event } of page.events) {
        if (signal.aborted) return;
        if (isWanted(event, filter)) yield { streamMs, sequence: at, event };
      }
      sequence = page.upTo;
      yield { streamMs, sequence };
      if (page.hasMore) continue;
      sequence = await this.#wait({ workspaceId, streamMs, sequence }, signal);
      if (!signal.aborted) yield { streamMs, sequence };
    }
  }

  /** Returns what the readers at the position read together; `undefined` after the signal aborts. */
  #shared(workspaceId: string, after: number, signal: AbortSignal): Promise<Reading | undefined> {
    const key = `${workspaceId} ${after}`;
    const shared = this.#reads.get(key) ?? this.#begin(key, workspaceId, after);
    shared.readers += 1;
    return new Promise((resolve, reject) => {
      const leave = () => {
        shared.readers -= 1;
        if (shared.readers === 0) shared.stop();
        resolve(undefined);
      };
      signal.addEventListener('abort', leave, { once: true });
      shared.reading.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
    });
  }

  #begin(key: string, workspaceId: string, after: number): SharedRead {
    const unwanted = new AbortController();
    // After the last reader has left, another reader at this position may have begun a read.
    const remove = () => {
      if (this.#reads.get(key) === shared) this.#reads.delete(key);
    };
    const read = async () => {
      try {
        const page = await this.#log.read(workspaceId, after, unwanted.signal);
        return { page, state: await this.#log.state() };
      } finally {
        remove();
      }
    };
    const shared: SharedRead = {
      reading: read(),
      readers: 0,
      stop() {
        remove();
        unwanted.abort();
      },
    };
    this.#reads.set(key, shared);
    return shared;
  }

  /** Waits for events, for a few seconds at most. Returns the position up to which there are none. */
  #wait({ workspaceId, streamMs, sequence }: Omit<Waiter, 'wake'>, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.resolve(sequence);
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiters.delete(waiter);
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve(waiter.sequence);
      };
      const waiter: Waiter = { workspaceId, streamMs, sequence, wake };
      const timer = setTimeout(wake, waitMs);
      signal.addEventListener('abort', wake, { once: true });
      this.#waiters.add(waiter);
      if (this.#waiters.size === 1) this.#poll.wake();
    });
  }

  async #wakeWaiters(): Promise<number> {
    if (this.#waiters.size === 0) return untilWoken;
    const state = await this.#log.state();
    const behind = [...this.#waiters].filter(
      ({ streamMs, sequence }) => streamMs !== state?.streamMs || sequence !== state.last,
    );
    if (behind.length === 0) return pollMs;
    const newest = await this.#log.workspacesAfter(Math.min(...behind.map(({ sequence }) => sequence)));
    const stateAfter = await this.#log.state();
    for (const waiter of behind) {
      const { workspaceId, streamMs, sequence } = waiter;
      const isOver =
        streamMs !== state?.streamMs || streamMs !== stateAfter?.streamMs || state.last < sequence;
      // The second state is newer than the workspaces. If it still has the position, they lack no event.
      if (isOver || stateAfter.first > sequence + 1 || (newest.get(workspaceId) ?? 0) > sequence)
        waiter.wake();
      else waiter.sequence = state.last;
    }
    return pollMs;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#poll[Symbol.asyncDispose]();
  }
}
