/** A campaign with a retention period. */
export interface RetainedCampaign {
  readonly id: string;
  readonly code: string;
  /** The slug of its workspace. */
  readonly workspace: string;
  readonly retentionDays: number;
}

/** The position of a lead in its campaign, in the order of creation. */
export interface RetentionCursor {
  readonly createdAt: Date;
  readonly id: string;
}

/** The leads of campaigns with a retention period. Methods throw LeadsError `unavailable` without the database. */
export interface RetentionStore {
  campaigns(): Promise<RetainedCampaign[]>;

  /** Counts the leads of a campaign that were created before a time, including quarantined leads. */
  count(campaignId: string, before: Date): Promise<number>;

  /**
   * Deletes the oldest leads of a campaign with their histories, in one transaction. The overview still counts them. Skips
   * leads that are locked by a change; the next run deletes them.
   *
   * @param options.after the last deleted lead, to continue from.
   * @returns the number of deleted leads and the last of them; undefined if another run is in progress.
   */
  deleteOldest(
    campaignId: string,
    before: Date,
    options: { maxLeads: number; after?: RetentionCursor | undefined },
  ): Promise<{ leads: number; last?: RetentionCursor | undefined } | undefined>;

  /** Counts the entries of the audit log that are older than a time. */
  countAuditEntries(before: Date): Promise<number>;
  /** Deletes the oldest of these entries. Returns their number, `maxEntries` at most. */
  deleteAuditEntries(before: Date, maxEntries: number): Promise<number>;

  /** Deletes the oldest quarantined leads. Returns their number, `maxLeads` at most. */
  deleteQuarantined(campaignId: string, before: Date, maxLeads: number): Promise<number>;
}
