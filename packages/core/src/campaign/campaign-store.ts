import type { CampaignStatus } from './campaign.schema.ts';

export type { CampaignStatus };

export interface Campaign {
  readonly id: string;
  readonly workspaceId: string;
  readonly code: string;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly isDefault: boolean;
  /** A lead whose phone number the campaign has seen within this time is a duplicate; absent where none is. */
  readonly duplicateWindowSeconds?: number | undefined;
  /** For how many days leads are kept; absent where they are kept for good. */
  readonly retentionDays?: number | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is to become of a campaign; what is not named stays. */
export interface CampaignUpdate {
  readonly name?: string | undefined;
  readonly status?: CampaignStatus | undefined;
  /** `null` for no duplicates. */
  readonly duplicateWindowSeconds?: number | null | undefined;
  /** `null` to keep leads for good. */
  readonly retentionDays?: number | null | undefined;
  /** Takes the place of the workspace's default. */
  readonly isDefault?: true | undefined;
}

/** A landing page: one that leads came by, or that was registered for leads to come. */
export interface LandingPage {
  readonly id: string;
  readonly name: string;
  /** Absent where it is unmapped. */
  readonly campaignId?: string | undefined;
  readonly campaignCode?: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A landing page of a workspace, by either of its two unique names. */
type LandingPageRef = { readonly id: string } | { readonly name: string };

/** Where a lead of the intake goes. */
export interface IntakeRoute {
  readonly campaignId: string;
  /** As the campaign has it. */
  readonly duplicateWindowSeconds?: number | undefined;
  /** Whether the workspace has a landing page of the name that was asked for. */
  readonly landingPageKnown: boolean;
}

/** What a campaign's integration page tells whoever has its link. */
export interface IntegrationPage {
  readonly workspace: string;
  readonly campaignCode: string;
  readonly campaign: string;
  readonly status: CampaignStatus;
  /** The names of the landing pages that are mapped to it, 100 at most. */
  readonly landingPages: readonly string[];
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
    readonly workspaceId: string;
    readonly code: string;
    readonly name: string;
    readonly isDefault: boolean;
    readonly duplicateWindowSeconds?: number | undefined;
  }): Promise<Campaign>;

  /**
   * Changes a campaign. Changes within a workspace take turns, so that what `decide` sees of the campaign still
   * holds when it is written; what `decide` throws changes nothing.
   *
   * @returns the campaign as it is now; `undefined` where the workspace has none of that id.
   */
  update(
    workspaceId: string,
    id: string,
    decide: (campaign: Campaign) => CampaignUpdate,
  ): Promise<Campaign | undefined>;

  /** All campaigns of a workspace, or those of a status, oldest first. */
  list(workspaceId: string, status?: CampaignStatus): Promise<Campaign[]>;

  /** @returns `undefined` where the workspace has no such campaign, and no token where it has no page. */
  findIntegrationToken(
    workspaceId: string,
    id: string,
  ): Promise<{ readonly token?: string | undefined } | undefined>;

  /** @returns whether the workspace has such a campaign. */
  setIntegrationToken(workspaceId: string, id: string, token: string | undefined): Promise<boolean>;

  findIntegrationPage(token: string): Promise<IntegrationPage | undefined>;

  findLandingPage(workspaceId: string, page: LandingPageRef): Promise<LandingPage | undefined>;

  /** @throws LeadsError `conflict` when the workspace has a landing page of that name. */
  createLandingPage(page: {
    readonly workspaceId: string;
    readonly name: string;
    readonly campaignId?: string | undefined;
  }): Promise<LandingPage>;

  /**
   * @param campaignId of the same workspace; `undefined` unmaps.
   * @returns the landing page as it is now; `undefined` where the workspace has no such one.
   */
  mapLandingPage(
    workspaceId: string,
    page: LandingPageRef,
    campaignId: string | undefined,
  ): Promise<LandingPage | undefined>;

  /** At most `limit` landing pages by name, those after a name if one is given. */
  listLandingPages(
    workspaceId: string,
    filter: { readonly mapped?: boolean | undefined },
    piece: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<LandingPage[]>;

  /**
   * How many leads came by each landing page of these names, or how many of one user's.
   *
   * @param newest how many leads of a landing page are looked at, from the newest on.
   */
  countLeads(
    scope: { readonly workspaceId: string; readonly userId?: string | undefined },
    landingPages: readonly string[],
    newest: number,
  ): Promise<ReadonlyMap<string, number>>;
}
