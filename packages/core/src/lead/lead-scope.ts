import type { Principal } from '../credential/principal.ts';

/** The visible leads: those of a workspace, or only those of one of its users. */
export interface LeadScope {
  readonly workspaceId: string;
  readonly userId?: string | undefined;
}

/** The part of a principal that decides which leads are visible. */
export type Viewer = Pick<Principal, 'workspaceId' | 'userId' | 'role'>;

/** Returns the visible leads: owners and managers see all leads of their workspace, publishers only their own. */
export function visibleTo(principal: Viewer): LeadScope {
  return principal.role === 'publisher'
    ? { workspaceId: principal.workspaceId, userId: principal.userId }
    : { workspaceId: principal.workspaceId };
}
