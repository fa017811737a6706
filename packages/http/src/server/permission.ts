import {
  type MemberPermission,
  type Principal,
  type RequiredScopes,
  requirePermission,
  requireScope,
} from '@leads/core/credential';
import type { FastifyContextConfig } from 'fastify';

/**
 * The permission that a route requires. Each route declares it beside its handler. The guard of the scope enforces it.
 *
 * - `public`: no credential.
 * - `operator`: the operator of the service.
 * - `signedIn`: a signed-in user of the website, with or without a workspace.
 * - A permission of members: a member of the workspace whose role has it.
 */
export type Permission = 'public' | 'operator' | 'signedIn' | MemberPermission;

declare module 'fastify' {
  interface FastifyContextConfig {
    permission?: Permission;
    /** The scope that an API key needs, or several of which it needs one. Required for routes that are called with an API key. */
    scope?: RequiredScopes;
    /** Whether the session must not be older than 10 minutes. Only for routes of the website. */
    recentSignIn?: boolean;
    /** Whether the route is served at any host, such as the address of the instance. */
    anyHost?: true;
  }
}

/**
 * Checks that the role of a member and the scope of its API key suffice for a route. A session has all scopes.
 *
 * @throws LeadsError `forbidden`
 */
export function requireRoutePermission(
  { permission, scope }: FastifyContextConfig,
  principal: Pick<Principal, 'role' | 'scope'>,
): void {
  if (scope !== undefined) requireScope(principal, scope);
  if (permission === undefined || permission === 'public') return;
  if (permission === 'operator' || permission === 'signedIn') return;
  requirePermission(principal, permission);
}
