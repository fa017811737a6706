import { LeadsError } from '../errors.ts';
import type { CompiledNetworks } from './networks.ts';
import { type MemberPermission, type MemberRole, may } from './roles.ts';

/** The member that a request acts for, by its API key or its session. */
export interface Principal {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: MemberRole;
  /** Absent for a session. */
  readonly apiKeyId?: string | undefined;
  /** `full` for a session. */
  readonly scope: ApiKeyScope;
  readonly defaultCampaignId?: string | undefined;
  /** The web origins that the key is bound to; absent or empty for a secret key. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The networks that the key is bound to; absent for a key that is accepted from every address. */
  readonly networks?: CompiledNetworks | undefined;
}

/** The scopes that a key can have separately. */
export const singleScopes = ['leads:read', 'leads:write', 'leads:status', 'events', 'admin'] as const;
export type SingleScope = (typeof singleScopes)[number];

/** The scope of a key: `full` for all scopes, `intake` for submitting leads to the intake API only, or single scopes. */
export type ApiKeyScope = 'full' | 'intake' | readonly SingleScope[];

/** The scope that a route requires. `leads:write` includes `intake`. */
export type RequiredScope = SingleScope | 'intake';

/** The scopes that a route requires: a key needs one of them. */
export type RequiredScopes = RequiredScope | readonly RequiredScope[];

/** Returns a scope as text for people, such as `full` or `leads:read, events`. */
export function formatScope(scope: ApiKeyScope): string {
  return typeof scope === 'string' ? scope : scope.join(', ');
}

/** Whether an API key has a scope. */
export function hasScope({ scope }: Pick<Principal, 'scope'>, required: RequiredScope): boolean {
  if (scope === 'full' || scope === required) return true;
  return typeof scope !== 'string' && scope.includes(singleScope(required));
}

/**
 * Checks that the scope of a key suffices.
 *
 * @throws LeadsError `forbidden`, with the name of the missing scope, or of each that would suffice.
 */
export function requireScope(principal: Pick<Principal, 'scope'>, required: RequiredScopes): void {
  const sufficient = [required].flat();
  if (sufficient.some((each) => hasScope(principal, each))) return;
  throw new LeadsError('forbidden', {
    message: `This API key does not have the scope ${sufficient.map(singleScope).join(' or ')}`,
  });
}

const singleScope = (required: RequiredScope) => (required === 'intake' ? 'leads:write' : required);

/** Whether a key may be public in a web page. Such a key can only submit leads, and only from pages of its origins. */
export function isBrowserKey({
  scope,
  allowedOrigins = [],
}: Pick<Principal, 'scope' | 'allowedOrigins'>): boolean {
  return scope === 'intake' && allowedOrigins.length > 0;
}

/** Checks that the role of a member has a permission. @throws LeadsError `forbidden` */
export function requirePermission({ role }: Pick<Principal, 'role'>, permission: MemberPermission): void {
  if (!may(role, permission)) throw new LeadsError('forbidden');
}
