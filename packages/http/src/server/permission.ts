import { type Principal, requireManager } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import type { FastifyContextConfig } from 'fastify';

/**
 * Who may call a route. Each route declares its own beside its handler, and the guard of its scope enforces it.
 *
 * - `public`: anyone.
 * - `operator`: who runs the service.
 * - `signedIn`: a user of the website, whether a member of a workspace or not.
 * - `member`, `manager`, `owner`: a member of the workspace with this role or a higher one.
 */
export type Permission = 'public' | 'operator' | 'signedIn' | 'member' | 'manager' | 'owner';

declare module 'fastify' {
  interface FastifyContextConfig {
    permission?: Permission;
  }
}

/**
 * Checks that the role of a member suffices for a route.
 *
 * @throws LeadsError `forbidden`
 */
export function requirePermission(
  { permission }: FastifyContextConfig,
  principal: Pick<Principal, 'role'>,
): void {
  if (permission === 'manager') requireManager(principal);
  if (permission === 'owner' && principal.role !== 'owner') throw new LeadsError('forbidden');
}
