import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import type { Span } from '../overview/overview-store.ts';
import type { Payout } from './payout.schema.ts';

/** A payout of one publisher in a campaign. */
export interface StoredPublisherPayout extends Payout {
  readonly userId: string;
  readonly updatedAt: Date;
}

/** Leads of one campaign, user, status and currency, added up. */
export interface PayoutTotal {
  readonly campaignId: string;
  readonly userId: string;
  readonly status: LeadStatus;
  /** Absent for leads without a payout. */
  readonly currency?: string | undefined;
  readonly leads: number;
  /** Decimal text. Absent for leads without a payout. */
  readonly amount?: string | undefined;
}

/** A store of the payouts of campaigns' publishers, and of totals. Its methods throw LeadsError `unavailable`. */
export interface PayoutStore {
  /** Lists the payouts of a campaign's publishers. @returns undefined if the workspace has no such campaign. */
  list(workspaceId: string, campaignId: string): Promise<StoredPublisherPayout[] | undefined>;

  /** Returns the payouts of one user by campaign id. */
  ofUser(workspaceId: string, userId: string): Promise<ReadonlyMap<string, Payout>>;

  /**
   * Sets the payout of a publisher in a campaign.
   *
   * @returns undefined if the workspace has no such campaign or no such member.
   * @throws LeadsError `limit_reached`
   */
  set(
    workspaceId: string,
    campaignId: string,
    userId: string,
    payout: Payout,
  ): Promise<StoredPublisherPayout | undefined>;

  /** Removes the payout of a publisher. @returns the removed payout; undefined if there was none. */
  remove(workspaceId: string, campaignId: string, userId: string): Promise<StoredPublisherPayout | undefined>;

  /**
   * Adds up the leads that were created in a range: every lead is counted once. Amounts of OnHold leads are expected, those
   * of Approved leads payable, and those of Paid leads paid. Trashed leads have no amount.
   *
   * @param range its bounds are multiples of 15 minutes, which those of days of all time zones are.
   * @returns totals in the order of campaign, user, status and currency.
   */
  totals(scope: LeadScope, range: Span): Promise<PayoutTotal[]>;
}
