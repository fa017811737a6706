import { isRecentSignIn } from '@leads/core/account';
import { LeadsError } from '@leads/core/errors';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import { requirePermission } from '@leads/http/server/permission';
import { limitRates } from '@leads/http/server/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { CrmContext } from '../../context.ts';
import { accountHeaders, activeMembership, setCookies } from '../account/session.ts';

/**
 * Guards a scope of the website: a request to a non-public route requires a session and the permission of the route. A
 * request that names a workspace is rejected if the session is in another one: the user may have switched in another
 * tab.
 */
export function requireSession(scope: Server, { accounts, workspaces, rateLimits }: CrmContext): void {
  scope.decorateRequest('signedIn');
  scope.decorateRequest('memberships');
  scope.decorateRequest('principal');
  scope.addHook('onRoute', (route) => {
    if (route.config?.permission === 'public') return;
    // The API routes do not declare this error: only a session can be in another workspace.
    const response = { ...errorResponses('other_workspace'), ...(route.schema?.response as object) };
    route.schema = { ...route.schema, response };
  });
  scope.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions;
    if (config.permission === 'public') return;

    const session = await accounts.findSession(accountHeaders(request));
    if (session === undefined) throw new LeadsError('unauthenticated', { message: 'You are not signed in' });
    setCookies(reply, session.cookies);
    request.signedIn = session.signedIn;
    request.memberships = await workspaces.listMemberships(session.signedIn.user.id);
    const membership = activeMembership(request);
    const caller = {
      userId: session.signedIn.user.id,
      ...(membership !== undefined && { workspaceId: membership.workspace.id }),
      scope: 'full',
    } as const;
    limitRates(reply, rateLimits, caller, clientAddress(request));
    const named = workspaceOf(request);
    if (named !== undefined && named !== membership?.workspace.id) throw new LeadsError('other_workspace');
    if (config.permission === 'signedIn') return;

    if (membership === undefined) {
      throw new LeadsError('forbidden', { message: 'You are not a member of any workspace' });
    }
    const { role, user, workspace } = membership;
    requirePermission(config, { role, scope: 'full' });
    if (config.recentSignIn === true && !isRecentSignIn(session.signedIn.signedInAt)) {
      throw new LeadsError('confirmation_required');
    }
    request.principal = { workspaceId: workspace.id, userId: user.id, role, scope: 'full' };
  });
}

/** Returns the workspace that a page names in a header, or in the query because a link cannot send headers. */
function workspaceOf({ headers, query }: FastifyRequest): unknown {
  return headers['workspace-id'] ?? (query as { workspaceId?: unknown }).workspaceId;
}
