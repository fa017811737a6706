import { hkdfSync } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { organization, twoFactor } from 'better-auth/plugins';
import { createAccessControl } from 'better-auth/plugins/access';
import type { AccountAdapter } from '../db/account-store.prisma.ts';
import { newId } from '../uuid.ts';
import { openWorkspace } from '../workspace/open-workspace.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import type { AccountStore } from './account-store.ts';
import { mails, type SendMail } from './mail.ts';

export interface AccountOptions {
  readonly adapter: AccountAdapter;
  readonly store: AccountStore;
  readonly workspaces: WorkspaceStore;
  /** What the keys of cookies and of second factors are derived from. */
  readonly secret: string;
  /** The website's own address, without a path: `https://leads.example`. With https, cookies are for https only. */
  readonly publicUrl: string;
  /** Whether strangers may sign up. Who is invited always may. */
  readonly signUp: boolean;
  /** Without it no address is confirmed, and operators hand out the links of new passwords. */
  readonly sendMail?: SendMail | undefined;
  /** Hears of what went wrong after the answer, a mail that was not sent for instance. */
  readonly onError: (error: unknown) => void;
}

/** Who is signed in, in which browser. */
export interface SignedIn {
  readonly sessionId: string;
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly email: string;
    readonly twoFactorEnabled: boolean;
  };
  /** The workspace the website shows; the user may not be a member of it any more. */
  readonly activeWorkspaceId?: string | undefined;
}

/** Accounts of people: passwords, second factors, sessions, invitations. */
export interface Accounts {
  /** Answers a request to one of the account's paths, `/api/auth/...`, from the website's own origin. */
  handle(request: Request): Promise<Response>;
  /**
   * Who the cookies of a request say is signed in.
   *
   * @returns with `cookies` to set: those of a session that goes on longer.
   */
  whoIs(headers: Headers): Promise<{ signedIn: SignedIn; cookies: readonly string[] } | undefined>;
  /** A link that sets a new password, good for an hour; `undefined` where there is no such user. */
  passwordLink(email: string): Promise<string | undefined>;
}

/** The header in which {@link Accounts.handle} is told the client's address. */
export const addressHeader = 'x-leads-client-address';

const day = 24 * 60 * 60;

const access = createAccessControl({
  organization: ['update', 'delete'],
  member: ['create', 'update', 'delete'],
  invitation: ['create', 'cancel'],
  team: [],
  ac: [],
});
const nothing = access.newRole({});

/** Accounts by better-auth, on the users, members and workspaces of the domain. */
export function createAccounts(options: AccountOptions): Accounts {
  const { store, workspaces, publicUrl, sendMail } = options;
  const page = (path: string, query: Record<string, string>) =>
    `${publicUrl}${path}?${new URLSearchParams(query).toString()}`;

  /** The link of the reset that is under way, for {@link Accounts.passwordLink}, which sends nothing. */
  const asked = new Map<string, string>();

  const auth = betterAuth({
    appName: 'Leads',
    baseURL: publicUrl,
    basePath: '/api/auth',
    secret: Buffer.from(hkdfSync('sha256', options.secret, '', 'leads accounts', 32)).toString('base64url'),
    database: options.adapter,
    telemetry: { enabled: false },
    logger: { level: 'error', log: (_level, message, ...details) => options.onError({ message, details }) },
    // What is refused is answered, and the routes log it; it is no error of ours.
    onAPIError: {
      onError(error) {
        if (!(error instanceof APIError) || error.statusCode >= 500) options.onError(error);
      },
    },
    // Both are this service's own: the routes refuse other origins, and attempts are counted in the database.
    rateLimit: { enabled: false },
    advanced: {
      disableCSRFCheck: true,
      disableOriginCheck: true,
      useSecureCookies: publicUrl.startsWith('https:'),
      cookiePrefix: 'leads',
      database: { generateId: () => newId() },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // Not awaited: how long a mail takes would tell whether there is an account.
      backgroundTasks: { handler: (task) => void task.catch(options.onError) },
    },
    session: { expiresIn: 14 * day, updateAge: day },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      requireEmailVerification: sendMail !== undefined,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 60 * 60,
      async sendResetPassword({ user, token }) {
        const link = page('/reset-password', { token });
        if (asked.has(user.email)) asked.set(user.email, link);
        else await sendMail?.(mails.resetPassword(user.email, link));
      },
      async onExistingUserSignUp({ user }) {
        await sendMail?.(mails.alreadySignedUp(user.email, page('/sign-in', { email: user.email })));
      },
    },
    emailVerification: {
      sendOnSignUp: sendMail !== undefined,
      sendOnSignIn: sendMail !== undefined,
      autoSignInAfterVerification: true,
      expiresIn: day,
      async sendVerificationEmail({ user, token }) {
        await sendMail?.(mails.verifyAddress(user.email, page('/verify-email', { token })));
      },
    },
    hooks: {
      before: createAuthMiddleware(async (context) => {
        if (context.path !== '/sign-up/email' || options.signUp) return;
        const { email, invitationId } = context.body as { email: string; invitationId?: string };
        const invitation = invitationId === undefined ? undefined : await store.findInvitation(invitationId);
        if (invitation?.email !== email.toLowerCase()) {
          throw new APIError('FORBIDDEN', { message: 'Sign-up is by invitation only' });
        }
      }),
    },
    databaseHooks: {
      session: {
        create: {
          // Everyone who signs in has a workspace, unless they are invited to one.
          async before(session) {
            const memberships = await workspaces.listMemberships(session.userId);
            // A session that takes another's place, when a second factor is set up for instance, shows what that did.
            const shown =
              memberships.find(({ workspace }) => workspace.id === session['activeOrganizationId']) ??
              memberships[0];
            if (shown !== undefined) {
              return { data: { ...session, activeOrganizationId: shown.workspace.id } };
            }
            const user = await workspaces.getUser(session.userId);
            if (user === undefined || (await store.isInvited(user.email))) return { data: session };
            const { workspace } = await openWorkspace(workspaces, user);
            return { data: { ...session, activeOrganizationId: workspace.id } };
          },
        },
      },
    },
    plugins: [
      organization({
        creatorRole: 'owner',
        ac: access,
        roles: {
          owner: access.newRole({
            organization: ['update'],
            member: ['create', 'update', 'delete'],
            invitation: ['create', 'cancel'],
          }),
          manager: nothing,
          publisher: nothing,
        },
        // A workspace starts with a campaign, which the library knows nothing of.
        allowUserToCreateOrganization: false,
        disableOrganizationDeletion: true,
        membershipLimit: 10_000,
        invitationLimit: 1_000,
        invitationExpiresIn: 14 * day,
        cancelPendingInvitationsOnReInvite: true,
        // Ids hold 74 random bits and are shown to owners only; who accepts has the invited address.
        requireEmailVerificationOnInvitation: sendMail !== undefined,
        async sendInvitationEmail({ id, email, inviter, organization: { name } }) {
          const link = `${publicUrl}/invitations/${id}`;
          await sendMail?.(mails.invitation(email, inviter.user.name, name, link));
        },
        schema: {
          session: { fields: { activeOrganizationId: 'activeWorkspaceId' } },
          organization: { modelName: 'workspace' },
          member: { fields: { organizationId: 'workspaceId' } },
          invitation: { fields: { organizationId: 'workspaceId' } },
        },
      }),
      twoFactor({ issuer: 'Leads' }),
    ],
  });

  return {
    handle: (request) => auth.handler(request),

    async whoIs(headers) {
      const { headers: answered, response } = await auth.api.getSession({ headers, returnHeaders: true });
      if (response === null) return undefined;
      const { session, user } = response;
      return {
        signedIn: {
          sessionId: session.id,
          user: {
            id: user.id,
            name: user.name,
            email: user.email,
            twoFactorEnabled: user.twoFactorEnabled ?? false,
          },
          activeWorkspaceId: session.activeOrganizationId ?? undefined,
        },
        cookies: answered.getSetCookie(),
      };
    },

    async passwordLink(address) {
      const email = address.toLowerCase();
      asked.set(email, '');
      try {
        await auth.api.requestPasswordReset({ body: { email } });
        return asked.get(email) || undefined;
      } finally {
        asked.delete(email);
      }
    },
  };
}
