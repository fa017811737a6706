import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import type { AccountStore } from '../account-store.ts';
import { attemptKey } from '../attempt-key.ts';
import { knownBrowser, type LibraryContext, setKnownBrowser } from './known-browser.ts';

/** The paths that sign in a user. */
const signInPath = /^\/(sign-in|sign-up)\/email$|^\/two-factor\/verify-/;
/** The paths that ask a signed-in user for the password or the second factor. */
const passwordPath =
  /^\/(change|confirm)-password$|^\/two-factor\/(enable|disable|generate-backup-codes|verify-totp|verify-backup-code)$/;

/**
 * Delays guesses of a password. After 10 failures, each further attempt needs a longer pause, up to 5 minutes.
 *
 * Failures of browsers that are not known for the account count together, from all addresses. Each known browser and
 * each signed-in user has a count of its own, so a stranger cannot delay them. A stranger also cannot delay an account
 * with a second factor: during the pause, its password is still checked, and the correct one leads to the second factor.
 * For all other accounts and passwords, the response during the pause is 429. It does not reveal whether the account
 * exists or the password is correct. A password link makes a browser known.
 */
export function guessingDelays(store: Pick<AccountStore, 'takeTurn' | 'resetAttempts' | 'hasSecondFactor'>) {
  /** The pause of a request that is checked nevertheless, in milliseconds. */
  const paused = new WeakMap<Request, number>();

  const keyOf = async (request: LibraryContext, email: string) => {
    const browser = await knownBrowser(request, email);
    return browser === undefined ? attemptKey('stranger', email) : `browser:${browser}`;
  };

  const plugin = {
    id: 'leads-guessing-delays',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/sign-in/email',
          handler: createAuthMiddleware(async (context) => {
            const key = await keyOf(context, (context.body as { email: string }).email);
            const pauseMs = await store.takeTurn(key);
            if (pauseMs === 0) return;
            if (context.request === undefined || key.startsWith('browser:')) throw tooMany(pauseMs);
            paused.set(context.request, pauseMs);
          }),
        },
        {
          matcher: ({ path }) => path !== undefined && passwordPath.test(path),
          handler: createAuthMiddleware(async (context) => {
            const session = await getSessionFromCtx(context);
            if (session === null) return;
            const pauseMs = await store.takeTurn(`user:${session.user.id}`);
            if (pauseMs > 0) throw tooMany(pauseMs);
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path !== undefined && passwordPath.test(path),
          handler: createAuthMiddleware(async (context) => {
            if (context.context.returned instanceof Error) return;
            const { session } = context.context;
            if (session !== null) await store.resetAttempts(`user:${session.user.id}`);
          }),
        },
        {
          matcher: ({ path }) => path !== undefined && signInPath.test(path),
          handler: createAuthMiddleware(async (context) => {
            // It is null between the password and the second factor.
            const user = context.context.newSession?.user;
            if (user === undefined) return;
            const key = await keyOf(context, user.email);
            await store.resetAttempts(key);
            if (!key.startsWith('browser:')) await setKnownBrowser(context, user.email);
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;

  return {
    plugin,
    /** Rejects the session of an account without a second factor during a pause. @throws APIError */
    async checkSession(userId: string, request: Request | undefined): Promise<void> {
      const pauseMs = request && paused.get(request);
      if (pauseMs !== undefined && !(await store.hasSecondFactor(userId))) throw tooMany(pauseMs);
    },
    /** Returns the answer of the library, or 429 instead of an error during a pause. */
    answerTo(request: Request, answer: Response): Response {
      const pauseMs = paused.get(request);
      if (pauseMs === undefined || answer.ok) return answer;
      const { statusCode, body, headers } = tooMany(pauseMs);
      return Response.json(body, { status: statusCode, headers });
    },
  };
}

function tooMany(pauseMs: number): APIError {
  return new APIError(
    'TOO_MANY_REQUESTS',
    { message: 'Too many attempts: try again later' },
    { 'Retry-After': `${Math.ceil(pauseMs / 1000)}` },
  );
}
