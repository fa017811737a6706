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

/** The landing pages of workspaces, and their campaigns. */
export interface LandingPageStore {
  find(workspaceId: string, page: LandingPageRef): Promise<LandingPage | undefined>;

  /**
   * Adds unmapped landing pages. Existing landing pages stay as they are.
   *
   * @param capPerKey the maximum of landing pages that an API key registers on one day (UTC). Further landing pages wait
   *   for approval, up to a maximum for each workspace, beyond which they are not added.
   */
  add(pages: readonly UnknownLandingPage[], capPerKey?: number): Promise<void>;

  /**
   * Creates a landing page, or approves one of that name that waits for approval or is dismissed.
   *
   * @throws LeadsError `conflict` if the workspace has a landing page of that name.
   */
  create(page: {
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
  map(
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
  dismiss(workspaceId: string, page: LandingPageRef, isDismissed: boolean): Promise<LandingPage | undefined>;

  /**
   * Lists at most `limit` landing pages, sorted by name, after the name `after` if it is given.
   *
   * @param filter.state lists the landing pages of this state; the default is `approved`.
   * @param filter.campaignId lists only landing pages that are mapped to this campaign.
   * @param filter.userId lists only landing pages that sent leads of this user, or that a key of this user registered.
   */
  list(
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
  countByCampaign(workspaceId: string): Promise<ReadonlyMap<string, number>>;

  /**
   * Counts the leads of landing pages by name, optionally of one user.
   *
   * @param newest the maximum of leads to examine for each landing page, from the newest on. A count is truncated if so many
   * leads were examined.
   */
  countLeads(
    scope: { readonly workspaceId: string; readonly userId?: string | undefined },
    landingPages: readonly string[],
    newest: number,
  ): Promise<ReadonlyMap<string, { readonly leads: number; readonly isTruncated: boolean }>>;
}
