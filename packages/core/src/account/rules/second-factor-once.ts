import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import type { AccountStore } from '../account-store.ts';
import { attemptKey } from '../attempt-key.ts';

/** A code is valid for 90 s: the library accepts the codes of the current, the previous and the next 30 s. */
const codeMs = 120_000;
/** The name of the cookie between the password and the second factor, as the library derives cookie names from it. */
const challengeCookie = 'two_factor';

/**
 * Accepts each code of an authenticator app once (RFC 6238, 5.2). The library accepts it as long as it is valid. A second factor
 * is set up once, too: the library would replace it and its recovery codes, which no entry of the audit log would show.
 * When it is switched off, no browser is trusted any more: the library would trust the other ones with the next second factor.
 */
export function secondFactorOnce(store: Pick<AccountStore, 'countAttempt' | 'removeTrustedBrowsers'>) {
  return {
    id: 'leads-second-factor-once',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/two-factor/verify-totp',
          handler: createAuthMiddleware(async (context) => {
            const session = await getSessionFromCtx(context);
            const userId = session?.user.id ?? (await challengedUser(context));
            // The library rejects a request without a user.
            if (userId === undefined) return;
            const { code } = context.body as { code: string };
            const { count } = await store.countAttempt(attemptKey('totp', `${userId}:${code}`), codeMs);
            if (count > 1) throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE' });
          }),
        },
        {
          matcher: ({ path }) => path === '/two-factor/enable',
          handler: createAuthMiddleware(async (context) => {
            const session = await getSessionFromCtx(context);
            if (session?.user['twoFactorEnabled'] === true)
              throw new APIError('BAD_REQUEST', { code: 'SECOND_FACTOR_EXISTS' });
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === '/two-factor/disable',
          handler: createAuthMiddleware(async ({ context: { returned, session } }) => {
            if (!(returned instanceof Error) && session !== null)
              await store.removeTrustedBrowsers(session.user.id);
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}

type Context = Parameters<typeof getSessionFromCtx>[0];

/** Returns the user of a sign-in that has passed the password and waits for the second factor. */
export async function challengedUser({ context, getSignedCookie }: Context): Promise<string | undefined> {
  const { name } = context.createAuthCookie(challengeCookie);
  const challenge = await getSignedCookie(name, context.secret);
  if (typeof challenge !== 'string') return undefined;
  return (await context.internalAdapter.findVerificationValue(challenge))?.value;
}
