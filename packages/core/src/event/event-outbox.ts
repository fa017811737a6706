import type { LeadEvent } from './lead-event.schema.ts';

/** The outbox of events to publish. Its methods throw LeadsError `unavailable` if the database is unavailable. */
export interface EventOutbox {
  /**
   * Publishes the oldest events and removes them. Only one caller publishes at a time, across all instances, so that
   * the events of a lead keep their order. If the event log was used before, its events return to the outbox first.
   *
   * @param limit the approximate number of events.
   * @param publish is called for each part of large events. It must finish within the database's statement timeout. If it
   * throws, the events of its part stay.
   * @returns the number of events published; `undefined` while another caller publishes.
   */
  publishNext(
    limit: number,
    publish: (events: readonly LeadEvent[]) => Promise<void>,
  ): Promise<number | undefined>;

  /** Returns the time of the oldest event. */
  oldest(): Promise<Date | undefined>;
}
