import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadStatus } from '../lead/lead-status.ts';

export type StatusCounts = Readonly<Record<LeadStatus, number>>;

/** The leads of one campaign, landing page or sub-id. */
export type CountedValue = StatusCounts & { readonly value: string };

interface OverviewFigures {
  /** One for each step. */
  readonly steps: readonly StatusCounts[];
  readonly previous: StatusCounts;
  readonly campaigns: readonly (CountedValue & { readonly name: string })[];
  readonly landingPages: readonly CountedValue[];
  readonly s1: readonly CountedValue[];
  /** How many leads have sub-ids that are not told apart, since their day had too many. */
  readonly s1Others: number;
}

/** Where leads are counted. Every method throws LeadsError `unavailable` when the database cannot be reached. */
export interface OverviewStore {
  /**
   * @param range.previousFrom where the time before the range begins that it is compared with.
   * @param range.bounds where each step begins, and the end of the last, each at a quarter of an hour.
   * @param range.top how many campaigns, landing pages and sub-ids.
   */
  count(
    scope: LeadScope,
    range: {
      readonly previousFrom: Date;
      readonly bounds: readonly Date[];
      readonly top: number;
    },
  ): Promise<OverviewFigures>;

  /**
   * Aggregates new lead counts, so that {@link count} stays quick. It may run at any time and in several instances.
   *
   * @param limit about how many leads; the last entry may exceed it.
   * @returns the number of leads aggregated; 0 while another instance aggregates.
   */
  aggregate(limit: number): Promise<number>;
}
