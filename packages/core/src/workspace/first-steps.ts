import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { visibleTo } from '../lead/lead-scope.ts';
import type { FirstSteps } from './workspace.schema.ts';
import { maxCountedLeads, type WorkspaceStore } from './workspace-store.ts';

/** Returns the first steps of a member and whether each is done. */
export async function getFirstSteps(
  workspaces: Pick<WorkspaceStore, 'stepsDone'>,
  principal: Principal,
): Promise<FirstSteps> {
  const { workspaceId, userId, role } = principal;
  const done = await workspaces.stepsDone(workspaceId, userId, visibleTo(principal).userId);
  return {
    isNew: done.leads < maxCountedLeads,
    apiKey: done.apiKey,
    lead: done.leads > 0,
    ...(may(role, 'manageLandingPages') && { landingPage: done.landingPage }),
    ...(may(role, 'manageMembers') && { invitation: done.invitation }),
  };
}
