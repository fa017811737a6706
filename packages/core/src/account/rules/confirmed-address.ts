import { randomUUID } from 'node:crypto';
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import type { WorkspaceStore } from '../../workspace/workspace-store.ts';
import type { AddressConfirmed } from '../account.schema.ts';
import type { AccountStore } from '../account-store.ts';
import { knownBrowser, type LibraryContext, setKnownBrowser } from './known-browser.ts';

/** The user whose address a request has confirmed. */
interface Confirmed {
  readonly id: string;
  readonly email: string;
  /** Whether the request is of a browser whose user knew the password. */
  readonly isKnown: boolean;
}

/**
 * Rules for the confirmation of an address. The link proves that the client reads the mails of the address. It does not
 * prove that the client chose the password: a stranger may have signed up with the address. So in a browser that is not
 * known for the account, a confirmation removes the password and ends all sessions, and the client chooses a password.
 * In a known browser, it signs in an account without a second factor.
 */
export function confirmedAddress({
  store,
  workspaces,
  createPasswordToken,
}: {
  store: Pick<AccountStore, 'removePassword'>;
  workspaces: Pick<WorkspaceStore, 'getUser'>;
  /** Returns the token of a new password link. */
  createPasswordToken: (email: string) => Promise<string | undefined>;
}) {
  const confirming = new WeakMap<Request, (email: string) => Promise<string | undefined>>();
  const confirmed = new WeakMap<Request, Confirmed>();

  /** Runs before the address is marked as confirmed, so that no sign-in with the old password can come between. */
  const beforeEmailVerification: NonNullable<
    BetterAuthOptions['emailVerification']
  >['beforeEmailVerification'] = async ({ id, email }, request) => {
    const browser = request && (await confirming.get(request)?.(email));
    if (browser === undefined) await store.removePassword(id);
    if (request !== undefined) confirmed.set(request, { id, email, isKnown: browser !== undefined });
  };

  const plugin = {
    id: 'leads-confirmed-address',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/verify-email',
          handler: createAuthMiddleware(async (context) => {
            if (context.request) confirming.set(context.request, (email) => knownBrowser(context, email));
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === '/verify-email',
          handler: createAuthMiddleware(async (context) => {
            if (context.context.returned instanceof Error) return;
            const user = context.request && confirmed.get(context.request);
            // A second click on the link changes nothing.
            const answer = (result: AddressConfirmed) => context.json(result);
            if (user === undefined) return answer({ next: 'signIn' });
            if (user.isKnown)
              return answer({ next: (await signIn(context, user.id)) ? 'signedIn' : 'signIn' });
            const passwordToken = await createPasswordToken(user.email);
            return answer({ next: 'choosePassword', ...(passwordToken !== undefined && { passwordToken }) });
          }),
        },
        {
          // The password of an unconfirmed account was correct, or the account is new.
          matcher: ({ path }) => path === '/sign-in/email' || path === '/sign-up/email',
          handler: createAuthMiddleware(async (context) => {
            const { returned } = context.context;
            const { email } = context.body as { email: string };
            if (returned instanceof APIError) {
              if (returned.body?.code === 'EMAIL_NOT_VERIFIED') await setKnownBrowser(context, email);
              return;
            }
            if (context.path !== '/sign-up/email' || context.context.newSession !== null) return;
            // The answer to a sign-up with a taken address names a user who does not exist. It gets a useless cookie,
            // because an answer without a cookie would reveal that the address is taken.
            const { user } = returned as { user: { id: string } };
            const isNew = (await workspaces.getUser(user.id)) !== undefined;
            await setKnownBrowser(context, isNew ? email : randomUUID());
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
  return { plugin, beforeEmailVerification };
}

/** Signs in a user without a second factor. Returns whether it did. */
async function signIn(request: LibraryContext, userId: string): Promise<boolean> {
  const { internalAdapter } = request.context;
  const user = await internalAdapter.findUserById(userId);
  if (user === null || ('twoFactorEnabled' in user && user.twoFactorEnabled === true)) return false;
  const session = await internalAdapter.createSession(userId);
  await setSessionCookie(request, { session, user });
  return true;
}
