import type { LeadEvent } from './lead-event.schema.ts';

/** Where events wait to be published. Its methods throw LeadsError `unavailable` without the database. */
export interface EventOutbox {
  /**
   * Publishes the oldest events and removes them. Only one caller publishes at a time, across all instances, so that
   * the events of a lead keep their order.
   *
   * @param limit about how many events; the events of one statement stay together.
   * @param publish must finish within the database's statement timeout. If it throws, the events stay.
   * @returns the number of events published; `undefined` while another caller publishes.
   */
  publishNext(
    limit: number,
    publish: (events: readonly LeadEvent[]) => Promise<void>,
  ): Promise<number | undefined>;

  /** Removes the events from before a time. @returns how many. */
  dropBefore(time: Date): Promise<number>;

  /** Returns the time of the oldest event. */
  oldest(): Promise<Date | undefined>;
}
