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

/** The campaigns of workspaces. */
export interface CampaignStore {
  findByCode(workspaceId: string, code: string): Promise<Campaign | undefined>;

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
}
