import { LeadsError } from '../errors.ts';

/** The roles of members in a workspace. */
export const memberRoles = ['owner', 'manager', 'publisher'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** The member that a request acts for, by its API key or its session. */
export interface Principal {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: MemberRole;
  /** Absent for a session. */
  readonly apiKeyId?: string | undefined;
  /** A key of the scope `intake` can only submit leads to the intake API. */
  readonly scope: ApiKeyScope;
  readonly defaultCampaignId?: string | undefined;
  /** The web origins that the key is bound to; absent or empty for a secret key. */
  readonly allowedOrigins?: readonly string[] | undefined;
}

export type ApiKeyScope = 'full' | 'intake';

/** Whether a key may be public in a web page. Such a key can only submit leads, and only from pages of its origins. */
export function isBrowserKey({
  scope,
  allowedOrigins = [],
}: Pick<Principal, 'scope' | 'allowedOrigins'>): boolean {
  return scope === 'intake' && allowedOrigins.length > 0;
}

/**
 * Checks the permission of owners and managers to change statuses, campaigns and landing pages.
 *
 * @throws LeadsError `forbidden` for a publisher.
 */
export function requireManager({ role }: Pick<Principal, 'role'>): void {
  if (role === 'publisher') throw new LeadsError('forbidden');
}
