import type { BetterAuthPlugin } from 'better-auth';
import {
  APIError,
  createAuthEndpoint,
  createAuthMiddleware,
  getSessionFromCtx,
  sessionMiddleware,
} from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { isRecentSignIn } from '../recent-sign-in.ts';
import type { LibraryContext } from './known-browser.ts';

/** The paths that can make a member an owner. */
const rolePath = /^\/organization\/(update-member-role|invite-member)$/;

/**
 * Sensitive actions need a recent sign-in. A signed-in user renews the sign-in by the password (`/confirm-password`) or
 * by a code (`/two-factor/verify-totp`). Both replace the session by a new one.
 */
export function recentSignIn() {
  return {
    id: 'leads-recent-sign-in',
    endpoints: {
      confirmPassword: createAuthEndpoint(
        '/confirm-password',
        { method: 'POST', use: [sessionMiddleware] },
        async (context) => {
          const { user } = context.context.session;
          const account = await context.context.internalAdapter.findCredentialAccount(user.id);
          const hash = account?.password;
          const { password } = context.body as { password: string };
          if (!hash || !(await context.context.password.verify({ hash, password }))) {
            throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD' });
          }
          await renewSession(context, context.context.session);
          return context.json({ status: true });
        },
      ),
    },
    hooks: {
      before: [
        {
          matcher: ({ path }) => path !== undefined && rolePath.test(path),
          handler: createAuthMiddleware(async (context) => {
            if ((context.body as { role: string }).role !== 'owner') return;
            const session = await getSessionFromCtx(context);
            if (session !== null && !isRecentSignIn(session.session.createdAt)) {
              throw new APIError('FORBIDDEN', { code: 'CONFIRMATION_REQUIRED' });
            }
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === '/two-factor/verify-totp',
          handler: createAuthMiddleware(async (context) => {
            const { returned, session, newSession } = context.context;
            if (returned instanceof Error || session === null || newSession !== null) return;
            await renewSession(context, session);
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}

async function renewSession(
  request: LibraryContext,
  { session, user }: NonNullable<LibraryContext['context']['session']>,
): Promise<void> {
  const { internalAdapter } = request.context;
  const renewed = await internalAdapter.createSession(user.id, false, session);
  await setSessionCookie(request, { session: renewed, user });
  await internalAdapter.deleteSession(session.token);
}
