import type { SignedInBrowser } from '@leads/core/account';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../context.ts';

const Session = Type.Object({
  id: Type.String(),
  current: Type.Boolean({ description: 'Whether it is the session that asks.' }),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time', description: 'When it was last seen, to the day.' }),
  expiresAt: Type.String({ format: 'date-time' }),
  ipAddress: Type.Optional(Type.String()),
  userAgent: Type.Optional(Type.String()),
});

/** List the browsers in which the caller is signed in, newest first. */
export function listSessionsRoute(app: Server, { accountStore }: CrmContext): void {
  app.get('/sessions', { schema: { response: { 200: Type.Array(Session) } } }, async ({ signedIn }) => {
    const sessions = await accountStore.listSessions(signedIn.user.id);
    return sessions.map((session) => view(session, signedIn.sessionId));
  });
}

function view({ ipAddress, userAgent, ...session }: SignedInBrowser, current: string) {
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
