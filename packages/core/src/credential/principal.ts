import { LeadsError } from '../errors.ts';

/** What a member may do in a workspace. */
export const memberRoles = ['owner', 'manager', 'publisher'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Who a request acts for: the member whose API key it carries, or who is signed in. */
export interface Principal {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: MemberRole;
  /** Absent for who is signed in. */
  readonly apiKeyId?: string | undefined;
  /** `intake` keys take leads at the edge and can do nothing else. */
  readonly scope: ApiKeyScope;
  readonly defaultCampaignId?: string | undefined;
  /** Web origins the key is bound to; none for a secret key. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

export type ApiKeyScope = 'full' | 'intake';

/** Whether a key may stand in a page that anyone can read: it takes leads only, and from pages of its origins only. */
export function isBrowserKey({ scope, allowedOrigins = [] }: Principal): boolean {
  return scope === 'intake' && allowedOrigins.length > 0;
}

/**
 * What only owners and managers may do: change statuses, campaigns and landing pages.
 *
 * @throws LeadsError `forbidden` for a publisher.
 */
export function requireManager({ role }: Pick<Principal, 'role'>): void {
  if (role === 'publisher') throw new LeadsError('forbidden');
}
