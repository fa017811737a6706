/** The route of an intake lead to a campaign. */
export interface IntakeRoute {
  readonly campaignId: string;
  /** The duplicate window of the campaign. */
  readonly duplicateWindowSeconds?: number | undefined;
  /** The hold time of the campaign. */
  readonly approveAfterSeconds?: number | undefined;
  /** Whether the workspace has a landing page of the given name. */
  readonly landingPageKnown: boolean;
}

/** Assigns the leads of the intake to campaigns. */
export interface IntakeRouting {
  /**
   * Finds the campaign of an intake lead: the campaign of its landing page, else the API key's default, else the
   * workspace's default. Paused and archived campaigns are skipped, so that no lead is rejected because of them.
   */
  findRoute(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): Promise<IntakeRoute>;
}
