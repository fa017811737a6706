import { createHash } from 'node:crypto';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import type { AuditOrigin } from '../../audit/index.ts';
import type { AccountStore } from '../account-store.ts';
import { originOf } from './audited-actions.ts';
import { isCommonPassword } from './common-password.ts';
import { setKnownBrowser } from './known-browser.ts';

/** The paths that set a password. */
const newPasswordPath = /^\/(sign-up\/email|reset-password|change-password)$/;
const breachTimeoutMs = 3_000;

/** A body of these paths. */
interface NewPasswordBody {
  readonly email?: string;
  readonly name?: string;
  readonly password?: string;
  readonly newPassword?: string;
  readonly revokeCredentials?: boolean;
}

/**
 * Rules for new passwords. A common or a breached password is rejected. A change voids the password links of the user and
 * ends sign-ins that wait for the second factor. If the body asks for it, it also revokes the API keys and access tokens.
 * The browser becomes known for the account.
 */
export function newPassword({
  store,
  revokeCredentials,
  breachedPasswordsUrl,
  onError,
}: {
  store: Pick<AccountStore, 'endPendingSignIns' | 'voidPasswordLinks'>;
  revokeCredentials?: (userId: string, origin: AuditOrigin) => Promise<void>;
  breachedPasswordsUrl?: string | undefined;
  onError: (error: unknown) => void;
}) {
  const reset = new WeakMap<Request, { readonly id: string; readonly email: string }>();

  /** An unavailable service must not prevent a change of the password. */
  const isBreached = (password: string) =>
    breachedPasswordsUrl === undefined
      ? false
      : isInBreach(breachedPasswordsUrl, password).catch((error: unknown) => {
          onError(error);
          return false;
        });

  const plugin = {
    id: 'leads-new-password',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path !== undefined && newPasswordPath.test(path),
          handler: createAuthMiddleware(async (context) => {
            const body = context.body as NewPasswordBody;
            const password = body.newPassword ?? body.password ?? '';
            const { email, name } = (await getSessionFromCtx(context))?.user ?? body;
            const ownWords = ['leads', email ?? '', email?.split('@', 1)[0] ?? '', name ?? ''];
            if (isCommonPassword(password, [...ownWords, ...(name ?? '').split(/\s+/)])) {
              throw new APIError('BAD_REQUEST', { code: 'EASY_PASSWORD' });
            }
            if (await isBreached(password)) {
              throw new APIError('BAD_REQUEST', { code: 'BREACHED_PASSWORD' });
            }
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === '/reset-password' || path === '/change-password',
          handler: createAuthMiddleware(async (context) => {
            if (context.context.returned instanceof Error) return;
            const user = (context.request && reset.get(context.request)) ?? context.context.session?.user;
            if (user === undefined) return;
            await store.voidPasswordLinks(user.id);
            // They were begun with the old password.
            await store.endPendingSignIns(user.id);
            if ((context.body as NewPasswordBody).revokeCredentials === true)
              await revokeCredentials?.(user.id, originOf(context.headers, user.id));
            if (context.path === '/reset-password') await setKnownBrowser(context, user.email);
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;

  return {
    plugin,
    onPasswordReset: (
      { user }: { readonly user: { readonly id: string; readonly email: string } },
      request?: Request,
    ) => {
      if (request !== undefined) reset.set(request, user);
    },
  };
}

/**
 * Queries a service with the range interface of Have I Been Pwned. The service gets the first 5 digits of the password's
 * SHA-1 hash and returns the rest of each breached hash with these digits.
 *
 * @throws Error if the service does not answer.
 */
async function isInBreach(url: string, password: string): Promise<boolean> {
  const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
  const answer = await fetch(`${url}/range/${hash.slice(0, 5)}`, {
    headers: { 'Add-Padding': 'true' },
    signal: AbortSignal.timeout(breachTimeoutMs),
  });
  if (!answer.ok) throw new Error(`The service for breached passwords answered ${answer.status}`);
  const lines = (await answer.text()).split(/\r?\n/);
  // Padding has the count 0.
  return lines.some((line) => line.startsWith(`${hash.slice(5)}:`) && !line.endsWith(':0'));
}
