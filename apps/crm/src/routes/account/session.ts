import { addressHeader, type SignedIn } from '@leads/core/account';
import type { Membership } from '@leads/core/workspace';
import { clientAddress } from '@leads/http/server/create-server';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user of the session. Set by the website's guard; absent on public routes. */
    signedIn: SignedIn;
    /** The memberships of the signed-in user, oldest first. */
    memberships: readonly Membership[];
    /** The membership in the workspace of the request, if any. */
    membership: Membership | undefined;
  }
}

/** Returns the membership in the workspace that the session opened last, or else the first membership. */
export function lastMembership({
  signedIn,
  memberships,
}: Pick<FastifyRequest, 'signedIn' | 'memberships'>): Membership | undefined {
  return memberships.find(({ workspace }) => workspace.id === signedIn.activeWorkspaceId) ?? memberships[0];
}

/** Returns the headers that the account library reads: the cookies, the user agent and the client's address. */
export function accountHeaders(request: FastifyRequest): Headers {
  const { cookie = '', 'user-agent': userAgent = '' } = request.headers;
  return new Headers({ cookie, 'user-agent': userAgent, [addressHeader]: clientAddress(request) });
}

export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  for (const cookie of cookies) reply.header('set-cookie', cookie);
}
