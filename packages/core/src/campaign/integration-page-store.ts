import type { CampaignStatus } from './campaign.schema.ts';

/** The content of a campaign's integration page, readable by anyone with its link. */
export interface IntegrationPage {
  readonly workspace: string;
  readonly campaignCode: string;
  readonly campaign: string;
  readonly status: CampaignStatus;
  readonly isDefault: boolean;
  /** The names of at most 100 landing pages that are mapped to the campaign. */
  readonly landingPages: readonly string[];
}

/** The integration pages of campaigns, and the tokens in their addresses. */
export interface IntegrationPageStore {
  /** Returns `undefined` if the workspace has no such campaign, and no token if the campaign has no integration page. */
  findToken(workspaceId: string, id: string): Promise<{ readonly token?: string | undefined } | undefined>;

  /** Sets or removes the token. Returns whether the workspace has such a campaign. */
  setToken(workspaceId: string, id: string, token: string | undefined): Promise<boolean>;

  findPage(token: string): Promise<IntegrationPage | undefined>;
}
