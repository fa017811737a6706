/** A campaign whose leads are kept for some time only. */
export interface RetainedCampaign {
  readonly id: string;
  readonly code: string;
  /** The slug of its workspace. */
  readonly workspace: string;
  readonly retentionDays: number;
}

/** A lead's place among those of its campaign, oldest first. */
export interface RetentionCursor {
  readonly createdAt: Date;
  readonly id: string;
}

/** Leads that are too old. Methods throw LeadsError `unavailable` without the database. */
export interface RetentionStore {
  campaigns(): Promise<RetainedCampaign[]>;

  /** How many leads of a campaign were created before a time, those of the quarantine too. */
  count(campaignId: string, before: Date): Promise<number>;

  /**
   * Deletes the oldest leads of a campaign with their histories, in one transaction; how many there were stays
   * counted. One that somebody is about to change is passed over: it goes the next time.
   *
   * @param after what was reached before: what was deleted is not looked at again.
   * @returns how many, and the last; nothing where another is at it.
   */
  deleteOldest(
    campaignId: string,
    before: Date,
    options: { most: number; after?: RetentionCursor | undefined },
  ): Promise<{ leads: number; last?: RetentionCursor | undefined } | undefined>;

  /** Deletes those of the quarantine. @returns how many. */
  deleteQuarantined(campaignId: string, before: Date): Promise<number>;
}
