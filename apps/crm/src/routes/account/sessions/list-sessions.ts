import { SessionView, type SignedInBrowser } from '@leads/core/account';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the caller's sessions, newest first. */
export function listSessionsRoute(app: Server, { accountStore }: CrmContext): void {
  app.get(
    '/sessions',
    {
      config: { permission: 'signedIn' },
      schema: { response: { 200: Type.Array(SessionView), ...errorResponses(...sessionErrors) } },
    },
    async ({ signedIn }) => {
      const sessions = await accountStore.listSessions(signedIn.user.id);
      return sessions.map((session) => view(session, signedIn.sessionId));
    },
  );
}

function view({ ipAddress, userAgent, ...session }: SignedInBrowser, current: string): SessionView {
  return {
    id: session.id,
    current: session.id === current,
    createdAt: session.createdAt.toISOString(),
    updatedAt: session.updatedAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    ...(ipAddress !== undefined && { ipAddress }),
    ...(userAgent !== undefined && { userAgent }),
  };
}
