import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import type { AccountStore } from '../account-store.ts';

/** A sign-in, and the hash of the password at its beginning. */
interface SignIn {
  readonly email: string;
  readonly hash: string | undefined;
}

/**
 * Rejects a sign-in if the password changes while the library compares it. Otherwise, its session could begin right after
 * the change has ended all sessions.
 */
export function unchangedPassword(store: Pick<AccountStore, 'findPasswordHash' | 'endSession'>) {
  const signIns = new WeakMap<Request, SignIn>();

  const plugin = {
    id: 'leads-unchanged-password',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/sign-in/email',
          handler: createAuthMiddleware(async ({ body, request }) => {
            const { email } = body as { email: string };
            if (request) signIns.set(request, { email, hash: await store.findPasswordHash(email) });
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;

  return {
    plugin,
    /** Ends a new session if the password has changed since the sign-in began. @throws APIError */
    async checkSession(
      session: { readonly id: string; readonly userId: string },
      request: Request | undefined,
    ): Promise<void> {
      const signIn = request && signIns.get(request);
      if (signIn === undefined || (await store.findPasswordHash(signIn.email)) === signIn.hash) return;
      await store.endSession(session.userId, session.id);
      throw new APIError('UNAUTHORIZED', { code: 'INVALID_EMAIL_OR_PASSWORD' });
    },
  };
}
