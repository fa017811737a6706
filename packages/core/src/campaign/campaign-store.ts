export type CampaignStatus = 'active' | 'paused' | 'archived';

export interface Campaign {
  readonly id: string;
  readonly workspaceId: string;
  readonly code: string;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly isDefault: boolean;
  readonly createdAt: Date;
}

/** Where a lead of the intake goes. */
export interface IntakeRoute {
  readonly campaignId: string;
  /** Whether the workspace has a landing page of the name that was asked for. */
  readonly landingPageKnown: boolean;
}

/** Campaigns and the landing pages mapped to them. */
export interface CampaignStore {
  findByCode(workspaceId: string, code: string): Promise<Campaign | undefined>;

  /**
   * The campaign of an intake lead: the one its landing page is mapped to, else the API key's default, else
   * the workspace's default. One that is paused or archived is passed over, so that no lead is refused for it.
   */
  routeIntakeLead(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): Promise<IntakeRoute>;

  /** Adds unmapped landing pages; those that stand already are left as they are. */
  addLandingPages(pages: readonly { workspaceId: string; name: string }[]): Promise<void>;

  /**
   * A campaign made as the default takes the place of the one that was, in the same transaction.
   *
   * @throws LeadsError `conflict` when the workspace has a campaign of that code.
   */
  create(campaign: {
    workspaceId: string;
    code: string;
    name: string;
    isDefault: boolean;
  }): Promise<Campaign>;

  /** All campaigns of a workspace, oldest first. */
  list(workspaceId: string): Promise<Campaign[]>;
}
