import type { LeadEvent } from './lead-event.schema.ts';

/** Where events wait until they are told. Methods throw LeadsError `unavailable` without the database. */
export interface EventOutbox {
  /**
   * Hands over the oldest events, and removes them once they are told. One caller at a time, of all instances: events
   * of a lead keep their order.
   *
   * @param most events at once, about: those of one statement stay together.
   * @param tell what it throws leaves them where they are. To be done within the database's statement timeout.
   * @returns how many were told; nothing where another caller is at it.
   */
  handOver(most: number, tell: (events: readonly LeadEvent[]) => Promise<void>): Promise<number | undefined>;

  /** Removes what was noted before a time. @returns how many events. */
  dropBefore(time: Date): Promise<number>;

  /** When the oldest event that waits was noted. */
  oldest(): Promise<Date | undefined>;
}
