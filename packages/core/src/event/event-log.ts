import type { StreamState } from './event-reader.ts';
import type { LeadEvent } from './lead-event.schema.ts';

/** A page of the events of one workspace. */
export interface EventPage {
  readonly events: readonly { readonly sequence: number; readonly event: LeadEvent }[];
  /** The position up to which the page has all events of the workspace; the start if the log has no further events. */
  readonly upTo: number;
  /** Whether the log may have further events of the workspace. */
  readonly hasMore: boolean;
}

/** The published events, without NATS. Its methods throw LeadsError `unavailable` if the database is unavailable. */
export interface EventLog {
  /**
   * Publishes the oldest events of the outbox: moves them to the log and gives them positions. Only one caller publishes at
   * a time, across all instances.
   *
   * @param limit the approximate number of events. The events of one statement stay together.
   * @returns the number of events published; `undefined` while another caller publishes.
   */
  publishNext(limit: number): Promise<number | undefined>;

  /** Returns the state of the log; `undefined` if it does not exist yet. */
  state(): Promise<StreamState | undefined>;

  /** Returns the position of the last event that was published before a time; `undefined` if none is kept. */
  lastBefore(time: Date): Promise<number | undefined>;

  /**
   * Reads a bounded number of events of a workspace after a position. Events of erased leads are left out.
   *
   * @param signal ends the wait of a read that has not started.
   * @throws the reason of the signal if it aborts before the read starts.
   */
  read(workspaceId: string, after: number, signal?: AbortSignal): Promise<EventPage>;

  /** Returns the workspaces that have events after a position, each with the position after its last event. */
  workspacesAfter(position: number): Promise<ReadonlyMap<string, number>>;

  /**
   * Deletes the oldest events that were published before an age in milliseconds, by the clock of Postgres.
   *
   * @param max the maximum number of rows. Each has the events of one statement.
   * @returns the number of rows deleted.
   */
  dropOlderThan(ageMs: number, max: number): Promise<number>;
}
