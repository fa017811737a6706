import { isRecentSignIn } from '@leads/core/account';
import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import type { Membership } from '@leads/core/workspace';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import { requireRoutePermission } from '@leads/http/server/permission';
import { limitRates } from '@leads/http/server/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { CrmContext } from '../../context.ts';
import { accountHeaders, lastMembership, setCookies } from '../account/session.ts';

/**
 * Guards a scope of the website: a request to a non-public route requires a session and the permission of the route. A
 * request that names a workspace acts in it, whatever other tabs show, and is rejected if the user is not a member. A request
 * that names another user is rejected, too. Routes that concern only the user accept any name.
 */
export function requireSession(scope: Server, { accounts, workspaces, rateLimits }: CrmContext): void {
  scope.decorateRequest('signedIn');
  scope.decorateRequest('memberships');
  scope.decorateRequest('membership');
  scope.decorateRequest('principal');
  scope.addHook('onRoute', (route) => {
    if (route.config?.permission === 'public') return;
    // The API routes do not declare this error: only requests of the website name a workspace.
    const response = { ...errorResponses('unknown_workspace'), ...(route.schema?.response as object) };
    route.schema = { ...route.schema, response };
  });
  scope.addHook('onRequest', async (request, reply) => {
    const { config } = request.routeOptions;
    if (config.permission === 'public') return;

    const session = await accounts.findSession(accountHeaders(request));
    if (session === undefined) throw notSignedIn();
    setCookies(reply, session.cookies);
    request.signedIn = session.signedIn;
    request.memberships = await workspaces.listMemberships(session.signedIn.user.id);
    const named = workspaceOf(request);
    const membership = named === undefined ? lastMembership(request) : membershipOf(request, named);
    request.membership = membership;
    const caller = {
      userId: session.signedIn.user.id,
      ...(membership !== undefined && { workspaceId: membership.workspace.id, role: membership.role }),
      scope: 'full',
    } as const;
    limitRates(reply, rateLimits, caller, clientAddress(request));
    if (config.permission === 'signedIn') return;

    // Another tab may have signed in as another user. The page must not act as that user.
    const { 'user-id': userId = caller.userId } = request.headers;
    if (userId !== caller.userId) {
      throw new LeadsError('forbidden', { message: 'Another user has signed in in this browser' });
    }
    if (membership === undefined) {
      if (named !== undefined) throw new LeadsError('unknown_workspace');
      throw new LeadsError('forbidden', { message: 'You are not a member of any workspace' });
    }
    const principal = principalOf(request, membership);
    if (config.recentSignIn === true && !isRecentSignIn(session.signedIn.signedInAt)) {
      throw new LeadsError('confirmation_required');
    }
    request.principal = principal;
  });
  scope.decorate('verifyPrincipal', async (request: FastifyRequest) => {
    const { userId, workspaceId } = request.principal;
    const session = await accounts.findSession(accountHeaders(request));
    if (session?.signedIn.user.id !== userId) throw notSignedIn();
    // The workspace of the request, although the session may have opened another one meanwhile.
    const memberships = await workspaces.listMemberships(userId);
    const membership = memberships.find(({ workspace }) => workspace.id === workspaceId);
    if (membership === undefined) {
      throw new LeadsError('forbidden', { message: 'You are no longer a member of the workspace' });
    }
    return principalOf(request, membership);
  });
}

const notSignedIn = () => new LeadsError('unauthenticated', { message: 'You are not signed in' });

/**
 * Returns the principal of a membership.
 *
 * @throws LeadsError `forbidden` if its role does not suffice for the route.
 */
function principalOf(
  { routeOptions: { config } }: FastifyRequest,
  { role, user, workspace }: Membership,
): Principal {
  requireRoutePermission(config, { role, scope: 'full' });
  return { workspaceId: workspace.id, userId: user.id, role, scope: 'full' };
}

/** Returns the membership in a workspace, which pages name by its slug and those of the previous release by its id. */
function membershipOf({ memberships }: FastifyRequest, named: unknown): Membership | undefined {
  return memberships.find(({ workspace: { id, slug } }) => slug === named || id === named);
}

/** Returns the workspace that a page names in a header, or in the query because a link cannot send headers. */
function workspaceOf({ headers, query }: FastifyRequest): unknown {
  return headers['workspace-id'] ?? (query as { workspaceId?: unknown }).workspaceId;
}
