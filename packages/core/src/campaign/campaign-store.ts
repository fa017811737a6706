import type { Payout } from '../payout/payout.schema.ts';
import type { CampaignStatus } from './campaign.schema.ts';

export type { CampaignStatus };

export interface Campaign {
  readonly id: string;
  readonly workspaceId: string;
  readonly code: string;
  readonly name: string;
  readonly status: CampaignStatus;
  readonly isDefault: boolean;
  /** A lead is a duplicate if the campaign has another lead of the same phone number within this time. Absent if disabled. */
  readonly duplicateWindowSeconds?: number | undefined;
  /** The time after which a new lead becomes Approved. Absent if leads have no timer. */
  readonly approveAfterSeconds?: number | undefined;
  /** The retention of leads in days; absent if leads are kept without a limit. */
  readonly retentionDays?: number | undefined;
  /** The members to whom new leads are assigned in turn. */
  readonly assigneeIds: readonly string[];
  /** The payout of leads whose publisher has none of its own. */
  readonly payout?: Payout | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The changes of a campaign. Absent fields stay as they are. */
export interface CampaignUpdate {
  readonly name?: string | undefined;
  readonly status?: CampaignStatus | undefined;
  /** `null` disables duplicate detection. */
  readonly duplicateWindowSeconds?: number | null | undefined;
  /** `null` removes the timer, also from leads that wait. */
  readonly approveAfterSeconds?: number | null | undefined;
  /** `null` keeps leads without a limit. */
  readonly retentionDays?: number | null | undefined;
  readonly assigneeIds?: readonly string[] | undefined;
  /** `null` removes it. */
  readonly payout?: Payout | null | undefined;
  /** Replaces the default campaign of the workspace. */
  readonly isDefault?: true | undefined;
}

/** A landing page. It is registered by its first lead, or by a user before that. */
export interface LandingPage {
  readonly id: string;
  readonly name: string;
  /** Absent if the landing page is unmapped. */
  readonly campaignId?: string | undefined;
  readonly campaignCode?: string | undefined;
  /** Since when it waits for approval; absent if it is approved. A dismissed landing page has it, too. */
  readonly pendingSince?: Date | undefined;
  readonly dismissedAt?: Date | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The state of landing pages to list. A dismissed landing page does not wait. */
export type LandingPageState = 'approved' | 'pending' | 'dismissed';

/** A landing page to add. */
export interface UnknownLandingPage {
  readonly workspaceId: string;
  readonly name: string;
  /** The API key of the lead that names the landing page; absent if no lead names it. */
  readonly apiKeyId?: string | undefined;
}

/** A reference to a landing page of a workspace, by id or by name. */
type LandingPageRef = { readonly id: string } | { readonly name: string };

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

/** Campaigns and the landing pages mapped to them. */
export interface CampaignStore {
  findByCode(workspaceId: string, code: string): Promise<Campaign | undefined>;

  /**
   * Finds the campaign of an intake lead: the campaign of its landing page, else the API key's default, else the
   * workspace's default. Paused and archived campaigns are skipped, so that no lead is rejected because of them.
   */
  routeIntakeLead(
    workspaceId: string,
    landingPage: string | undefined,
    keyCampaignId: string | undefined,
  ): Promise<IntakeRoute>;

  /**
   * Adds unmapped landing pages. Existing landing pages stay as they are.
   *
   * @param capPerKey the maximum of landing pages that an API key registers on one day (UTC). Further landing pages wait
   *   for approval, up to a maximum for each workspace, beyond which they are not added.
   */
  addLandingPages(pages: readonly UnknownLandingPage[], capPerKey?: number): Promise<void>;

  /**
   * Creates a campaign. A new default replaces the previous default in the same transaction.
   *
   * @throws LeadsError `conflict` if the workspace has a campaign of that code.
   */
  create(campaign: {
    readonly workspaceId: string;
    readonly code: string;
    readonly name: string;
    readonly isDefault: boolean;
    readonly duplicateWindowSeconds?: number | undefined;
    readonly approveAfterSeconds?: number | undefined;
  }): Promise<Campaign>;

  /**
   * Changes a campaign. Concurrent changes in a workspace run one after another, so that `decide` never sees an outdated
   * campaign. If `decide` throws, nothing changes.
   *
   * @returns the changed campaign; `undefined` if the workspace has no campaign of that id.
   */
  update(
    workspaceId: string,
    id: string,
    decide: (campaign: Campaign) => CampaignUpdate,
  ): Promise<Campaign | undefined>;

  /** Lists the campaigns of a workspace, optionally of one status, oldest first. */
  list(workspaceId: string, status?: CampaignStatus): Promise<Campaign[]>;

  findLandingPage(workspaceId: string, page: LandingPageRef): Promise<LandingPage | undefined>;

  /**
   * Creates a landing page, or approves one of that name that waits for approval or is dismissed.
   *
   * @throws LeadsError `conflict` if the workspace has a landing page of that name.
   */
  createLandingPage(page: {
    readonly workspaceId: string;
    readonly name: string;
    readonly campaignId?: string | undefined;
  }): Promise<LandingPage>;

  /**
   * Maps a landing page to a campaign. A landing page that waits for approval or is dismissed is thereby approved.
   *
   * @param campaignId a campaign of the same workspace; `undefined` unmaps.
   * @returns the changed landing page; `undefined` if the workspace has no such landing page.
   */
  mapLandingPage(
    workspaceId: string,
    page: LandingPageRef,
    campaignId: string | undefined,
  ): Promise<LandingPage | undefined>;

  /**
   * Dismisses a landing page without a campaign, or lets a dismissed one wait for approval. Its leads are not affected.
   *
   * @returns the landing page; `undefined` if the workspace has no such landing page.
   * @throws LeadsError `conflict` if a landing page to dismiss is mapped to a campaign, or one to restore is approved;
   *   `limit_reached`.
   */
  dismissLandingPage(
    workspaceId: string,
    page: LandingPageRef,
    isDismissed: boolean,
  ): Promise<LandingPage | undefined>;

  /**
   * Lists at most `limit` landing pages, sorted by name, after the name `after` if it is given.
   *
   * @param filter.state lists the landing pages of this state; the default is `approved`.
   * @param filter.campaignId lists only landing pages that are mapped to this campaign.
   * @param filter.userId lists only landing pages that sent leads of this user, or that a key of this user registered.
   */
  listLandingPages(
    workspaceId: string,
    filter: {
      readonly mapped?: boolean | undefined;
      readonly campaignId?: string | undefined;
      readonly state?: LandingPageState | undefined;
      readonly userId?: string | undefined;
    },
    piece: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<LandingPage[]>;

  /** Counts the approved landing pages of each campaign that has any, by the campaign's id. */
  countLandingPages(workspaceId: string): Promise<ReadonlyMap<string, number>>;

  /**
   * Counts the leads of landing pages by name, optionally of one user.
   *
   * @param newest the maximum of leads to examine for each landing page, from the newest on.
   */
  countLeads(
    scope: { readonly workspaceId: string; readonly userId?: string | undefined },
    landingPages: readonly string[],
    newest: number,
  ): Promise<ReadonlyMap<string, number>>;
}
