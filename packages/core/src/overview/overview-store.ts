import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadStatus } from '../lead/lead-status.ts';

export type StatusCounts = Readonly<Record<LeadStatus, number>>;

export function addCounts(one: StatusCounts, other: StatusCounts): StatusCounts {
  return {
    OnHold: one.OnHold + other.OnHold,
    Approved: one.Approved + other.Approved,
    Paid: one.Paid + other.Paid,
    Trashed: one.Trashed + other.Trashed,
  };
}

/** The leads of one campaign, landing page or sub-id. */
export type CountedValue = StatusCounts & { readonly value: string };

interface OverviewFigures {
  /** The counts of each step. */
  readonly steps: readonly StatusCounts[];
  readonly previous: StatusCounts;
  readonly campaigns: readonly (CountedValue & { readonly name: string })[];
  readonly landingPages: readonly CountedValue[];
  readonly s1: readonly CountedValue[];
  /** The number of leads whose sub-ids are not counted separately, because their day has too many sub-ids. */
  readonly s1Others: number;
}

/** The store of lead counts. Its methods throw LeadsError `unavailable` if the database is unavailable. */
export interface OverviewStore {
  /**
   * Counts leads.
   *
   * @param range.previousFrom the start of the previous range.
   * @param range.previousTo its end, at any time up to the start of the range.
   * @param range.bounds the start of each step, and the end of the last step. Each is a multiple of 15 minutes.
   * @param range.top the maximum of campaigns, landing pages and sub-ids.
   */
  count(
    scope: LeadScope,
    range: {
      readonly previousFrom: Date;
      readonly previousTo: Date;
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
