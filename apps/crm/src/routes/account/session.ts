import { addressHeader, type SignedIn } from '@leads/core/account';
import { LeadsError } from '@leads/core/errors';
import type { Membership } from '@leads/core/workspace';
import { clientAddress, type Server } from '@leads/http/server/create-server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CrmContext } from '../../context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in. Set by {@link requireSignedIn}. */
    signedIn: SignedIn;
    /** The memberships of who is signed in, oldest first. */
    memberships: readonly Membership[];
  }
}

/**
 * Every route of the scope is for who is signed in, whether a member of a workspace or not. A page that names its
 * workspace is refused where the session is in another: another tab may have gone on.
 */
export function requireSignedIn(scope: Server, { accounts, workspaces }: CrmContext): void {
  scope.decorateRequest('signedIn');
  scope.decorateRequest('memberships');
  scope.addHook('onRequest', async (request, reply) => {
    const found = await accounts.whoIs(accountHeaders(request));
    if (found === undefined) throw new LeadsError('unauthenticated', { message: 'You are not signed in' });
    setCookies(reply, found.cookies);
    request.signedIn = found.signedIn;
    request.memberships = await workspaces.listMemberships(found.signedIn.user.id);
    const named = workspaceOfPage(request);
    if (named !== undefined && named !== activeMembership(request)?.workspace.id) {
      throw new LeadsError('other_workspace');
    }
  });
}

/** Every route of the scope acts for the session's workspace. Within {@link requireSignedIn}. */
export function requireMember(scope: Server): void {
  scope.decorateRequest('principal');
  scope.addHook('onRequest', async (request) => {
    const membership = activeMembership(request);
    if (membership === undefined) {
      throw new LeadsError('forbidden', { message: 'You are not a member of any workspace' });
    }
    const { role, user, workspace } = membership;
    request.principal = { workspaceId: workspace.id, userId: user.id, role, scope: 'full' };
  });
}

/** The workspace that a page names: by a header, or in the address where a link sends none. */
function workspaceOfPage({ headers, query }: FastifyRequest): unknown {
  return headers['workspace-id'] ?? (query as { workspaceId?: unknown }).workspaceId;
}

/** Every route of the scope is for owners. Within {@link requireMember}. */
export function requireOwners(scope: Server): void {
  scope.addHook('onRequest', async ({ principal }) => {
    if (principal.role !== 'owner') throw new LeadsError('forbidden');
  });
}

/** The membership in the session's workspace: the one that was chosen, else the first. */
export function activeMembership({
  signedIn,
  memberships,
}: Pick<FastifyRequest, 'signedIn' | 'memberships'>): Membership | undefined {
  return memberships.find(({ workspace }) => workspace.id === signedIn.activeWorkspaceId) ?? memberships[0];
}

/** What accounts are told of a request: its cookies, and whom it comes from as the trusted proxies tell. */
export function accountHeaders(request: FastifyRequest): Headers {
  const { cookie = '', 'user-agent': userAgent = '' } = request.headers;
  return new Headers({ cookie, 'user-agent': userAgent, [addressHeader]: clientAddress(request) });
}

export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  for (const cookie of cookies) reply.header('set-cookie', cookie);
}
