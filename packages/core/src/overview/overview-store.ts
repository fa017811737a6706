import type { PublishersByCampaign } from './campaign-figures.schema.ts';
import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import type { ZoneOffset } from './days.ts';
import type { PayoutSum } from './overview.schema.ts';

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

/** The leads of one campaign or publisher. */
export type CountedRecord = CountedValue & { readonly name: string };

/** A range of time. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

interface OverviewFigures {
  /** The counts of each step. */
  readonly steps: readonly StatusCounts[];
  readonly previous: StatusCounts;
  readonly campaigns: readonly CountedRecord[];
  /** The users who created the leads, by their id. Empty in the scope of one user. */
  readonly publishers: readonly CountedRecord[];
  /** The hours of the day with leads, in the time zone of the offsets. */
  readonly hours: readonly (StatusCounts & { readonly hour: number })[];
  readonly landingPages: readonly CountedValue[];
  readonly s1: readonly CountedValue[];
  /** The number of leads whose sub-ids are not counted separately, because their day has too many sub-ids. */
  readonly s1Others: number;
}

/** The payouts of the leads of one campaign, publisher or sub-id. */
interface PayoutsOfValue {
  readonly value: string;
  readonly payouts: PayoutSum[];
}

/** Payouts in the order of their currencies. Amounts of different currencies are never added. */
interface PayoutFigures {
  readonly total: PayoutSum[];
  readonly previous: PayoutSum[];
  /** The payouts of each step. Undefined if too many leads would have to be read for them. */
  readonly steps: PayoutSum[][] | undefined;
  /** The payouts of the campaigns with the most leads, by their codes. */
  readonly campaigns: PayoutsOfValue[];
}

/** The counts of the leads of one campaign. */
export interface CampaignCounts {
  readonly campaignId: string;
  readonly total: StatusCounts;
  /** The leads of each of the last days (UTC), oldest first. The last day is today. */
  readonly days: readonly number[];
  /** When the newest stored lead was created. */
  readonly lastLeadAt?: Date | undefined;
}

/** The store of lead counts. Its methods throw LeadsError `unavailable` if the database is unavailable. */
export interface OverviewStore {
  /**
   * Counts leads.
   *
   * @param range.previous the range to compare with. Its start is a multiple of 15 minutes.
   * @param range.bounds the start of each step, and the end of the last step. Each is a multiple of 15 minutes.
   * @param range.offsets the offsets of the time zone in the range.
   * @param range.top the maximum of campaigns, publishers, landing pages and sub-ids.
   */
  count(
    scope: LeadScope,
    range: {
      readonly previous: Span;
      readonly bounds: readonly Date[];
      readonly offsets: readonly ZoneOffset[];
      readonly top: number;
    },
  ): Promise<OverviewFigures>;

  /** Counts the leads of each country, for the `top` countries with the most leads. Reads leads, so it may take seconds. */
  countByCountry(scope: LeadScope, span: Span, top: number): Promise<CountedValue[]>;

  /**
   * Adds up the payouts of leads. They agree with the totals of the payout store.
   *
   * @param range as in {@link count}; `top` is the maximum of campaigns.
   */
  sumPayouts(
    scope: LeadScope,
    range: { readonly previous: Span; readonly bounds: readonly Date[]; readonly top: number },
  ): Promise<PayoutFigures>;

  /** Adds up the payouts of the leads of some users, by user id. */
  sumPayoutsByPublisher(
    workspaceId: string,
    span: Span,
    userIds: readonly string[],
  ): Promise<PayoutsOfValue[]>;

  /**
   * Adds up the payouts of the `top` sub-ids with the most leads. Reads their leads, so it may take seconds. Payouts of
   * erased leads are missing, because their sub-ids are erased.
   */
  sumPayoutsByS1(scope: LeadScope, span: Span, top: number): Promise<PayoutsOfValue[]>;

  /** Counts the leads of each campaign that has any, in total and for the last `days` UTC days. */
  countByCampaign(scope: LeadScope, now: Date, days: number): Promise<CampaignCounts[]>;

  /** Counts the users who created leads of each campaign since the start of a UTC day. */
  countPublishersByCampaign(workspaceId: string, since: Date): Promise<PublishersByCampaign>;

  /** Counts the leads of a campaign by the user who created them, since the start of a UTC day. Most leads first. */
  countByPublisher(workspaceId: string, campaignId: string, since: Date): Promise<CountedRecord[]>;

  /**
   * Aggregates new lead counts, so that {@link count} stays quick. It may run at any time and in several instances.
   *
   * @param limit about how many leads; the last entry may exceed it.
   * @returns the number of leads aggregated; 0 while another instance aggregates.
   */
  aggregate(limit: number): Promise<number>;
}
