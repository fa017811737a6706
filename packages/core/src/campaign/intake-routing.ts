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

/** The values of an intake lead that determine its route. */
export interface RouteQuery {
  readonly workspaceId: string;
  readonly landingPage: string | undefined;
  /** The default campaign of the API key. */
  readonly keyCampaignId: string | undefined;
}

/** Assigns the leads of the intake to campaigns. */
export interface IntakeRouting {
  /**
   * Finds the campaigns of intake leads of any workspaces, in one statement. A lead goes to the campaign of its landing
   * page, else to the API key's default, else to the workspace's default. Paused and archived campaigns are skipped, so
   * that no lead is rejected because of them.
   *
   * @returns the route of each query; undefined if the workspace has no default campaign.
   */
  findRoutes(queries: readonly RouteQuery[]): Promise<readonly (IntakeRoute | undefined)[]>;
}
