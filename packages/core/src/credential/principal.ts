/** What a member may do in a workspace. */
export const memberRoles = ['owner', 'manager', 'publisher'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Who a request acts for: the member whose API key it carries. */
export interface Principal {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly apiKeyId: string;
  /** `intake` keys take leads at the edge and can do nothing else. */
  readonly scope: ApiKeyScope;
  readonly defaultCampaignId?: string | undefined;
}

export type ApiKeyScope = 'full' | 'intake';
