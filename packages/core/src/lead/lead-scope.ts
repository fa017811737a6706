import type { Principal } from '../credential/principal.ts';

/** Which leads may be seen: one workspace's, or in it only those of one user. */
export interface LeadScope {
  readonly workspaceId: string;
  readonly userId?: string | undefined;
}

/** Who looks at leads. */
export type Viewer = Pick<Principal, 'workspaceId' | 'userId' | 'role'>;

/** Owners and managers see the leads of their workspace, a publisher only its own. */
export function visibleTo(principal: Viewer): LeadScope {
  return principal.role === 'publisher'
    ? { workspaceId: principal.workspaceId, userId: principal.userId }
    : { workspaceId: principal.workspaceId };
}
