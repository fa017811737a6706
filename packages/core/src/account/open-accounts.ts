import { hkdfSync } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { organization, twoFactor } from 'better-auth/plugins';
import { createAccessControl } from 'better-auth/plugins/access';
import type { MemberRef } from '../credential/credential-store.ts';
import type { AccountAdapter } from '../db/account-adapter.ts';
import { newId } from '../uuid.ts';
import { openWorkspace } from '../workspace/open-workspace.ts';
import { type AccountOptions, type Accounts, addressHeader } from './accounts.ts';
import { mails } from './mail.ts';

const day = 24 * 60 * 60;

const access = createAccessControl({
  organization: ['update', 'delete'],
  member: ['create', 'update', 'delete'],
  invitation: ['create', 'cancel'],
  team: [],
  ac: [],
});
const nothing = access.newRole({});

/** Where somebody loses a role, or a membership. */
const membershipPath = /\/organization\/(update-member-role|remove-member|leave)$/;

/** Accounts by better-auth, on the users, members and workspaces of the domain. */
export function openAccounts(options: AccountOptions, adapter: AccountAdapter): Accounts {
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
    database: adapter,
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
          async before(session, context) {
            const memberships = await workspaces.listMemberships(session.userId);
            // A session that takes another's place, with a second factor or a new password, shows what that did.
            const last =
              session['activeOrganizationId'] ?? context?.context.session?.session['activeOrganizationId'];
            const shown = memberships.find(({ workspace }) => workspace.id === last) ?? memberships[0];
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

  /** What the library tells of a database that is away is that something went wrong. */
  const orUnavailable = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      await options.ping();
      throw error;
    }
  };

  return {
    async handle(request) {
      // A sign-out would take the cookie only, and say that all went well.
      await options.ping();
      const run = () => auth.handler(request);
      // The library counts the owners before it takes one away: two at once would each leave the other.
      const takesAway = membershipPath.test(new URL(request.url).pathname);
      const answer = await (takesAway ? store.whileMembersStay(run) : run());
      if (takesAway && answer.ok) await options.onMemberChanged?.(await memberOf(answer));
      if (answer.status >= 500) await options.ping();
      return answer;
    },

    async whoIs(headers) {
      const { headers: answered, response } = await orUnavailable(
        auth.api.getSession({ headers, returnHeaders: true }),
      );
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
        await orUnavailable(auth.api.requestPasswordReset({ body: { email } }));
        return asked.get(email) || undefined;
      } finally {
        asked.delete(email);
      }
    },
  };
}

/** Whom an answer about a membership is about; the library puts it in `member`, or answers with it alone. */
async function memberOf(answer: Response): Promise<MemberRef> {
  interface Answered {
    readonly organizationId: string;
    readonly userId: string;
  }
  const said = (await answer.clone().json()) as Answered | { readonly member: Answered };
  const { organizationId: workspaceId, userId } = 'member' in said ? said.member : said;
  return { workspaceId, userId };
}
