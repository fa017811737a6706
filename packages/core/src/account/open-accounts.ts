import { hkdfSync } from 'node:crypto';
import { betterAuth } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { organization, twoFactor } from 'better-auth/plugins';
import { createAccessControl } from 'better-auth/plugins/access';
import type { MemberRef } from '../credential/credential-store.ts';
import type { AccountAdapter } from '../db/account-adapter.ts';
import { caps } from '../limits/caps.ts';
import { watchOutages } from '../outage-watch.ts';
import { newId } from '../uuid.ts';
import { openWorkspace } from '../workspace/open-workspace.ts';
import { type AccountOptions, type Accounts, addressHeader } from './accounts.ts';
import { mails } from './mail.ts';
import { auditedActions, originOf } from './rules/audited-actions.ts';
import { confirmedAddress } from './rules/confirmed-address.ts';
import { guessingDelays } from './rules/guessing-delays.ts';
import { invitationLimits } from './rules/invitation-limits.ts';
import { newPassword } from './rules/new-password.ts';
import { hashedPasswordLinks, onlyNewestPasswordLink } from './rules/password-links.ts';
import { readableSecondFactor } from './rules/readable-second-factor.ts';
import { recentSignIn } from './rules/recent-sign-in.ts';
import { secondFactorLock } from './rules/second-factor-lock.ts';
import { secondFactorOnce } from './rules/second-factor-once.ts';
import { unchangedPassword } from './rules/unchanged-password.ts';
import { createThrottle } from './throttle.ts';

const day = 24 * 60 * 60;

const access = createAccessControl({
  organization: ['update', 'delete'],
  member: ['create', 'update', 'delete'],
  invitation: ['create', 'cancel'],
  team: [],
  ac: [],
});
const nothing = access.newRole({});

/** The path that asks for a mail. Its route counts the mail, and answers 429 beyond the limit. */
const confirmationMailPath = /\/send-verification-email$/;

/** The paths that remove a role or a membership. */
const membershipPath = /\/organization\/(update-member-role|remove-member|leave)$/;

/** Returns accounts that use better-auth with the users, members and workspaces of the database. */
export function openAccounts(options: AccountOptions, adapter: AccountAdapter): Accounts {
  const { store, workspaces, publicUrl, sendMail } = options;
  const page = (path: string, query: Record<string, string>) =>
    `${publicUrl}${path}?${new URLSearchParams(query).toString()}`;

  /** Password links to return from {@link Accounts.passwordLink} instead of sending them, by address. */
  const requestedLinks = new Map<string, string>();

  const throttle = createThrottle(store);
  const delays = guessingDelays(store);
  const passwords = newPassword(options);
  const unchanged = unchangedPassword(store);
  const invitations = invitationLimits({ store, workspaces, sendsMail: sendMail !== undefined });
  const confirmation = confirmedAddress({
    store,
    workspaces,
    async createPasswordToken(email) {
      const link = await passwordLink(email);
      return link === undefined ? undefined : (new URL(link).searchParams.get('token') ?? undefined);
    },
  });

  const auth = betterAuth({
    appName: 'Leads',
    baseURL: publicUrl,
    basePath: '/api/auth',
    secret: Buffer.from(hkdfSync('sha256', options.secret, '', 'leads accounts', 32)).toString('base64url'),
    database: adapter,
    telemetry: { enabled: false },
    logger: { level: 'error', log: (_level, message, ...details) => options.onError({ message, details }) },
    // The routes log rejected requests. Only server errors are reported here.
    onAPIError: {
      onError(error) {
        if (!(error instanceof APIError) || error.statusCode >= 500) options.onError(error);
      },
    },
    // The service replaces these checks: its routes reject other origins and count attempts in the database.
    rateLimit: { enabled: false },
    advanced: {
      disableCSRFCheck: true,
      disableOriginCheck: true,
      useSecureCookies: publicUrl.startsWith('https:'),
      cookiePrefix: 'leads',
      database: { generateId: () => newId() },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // Not awaited, because the duration of sending would reveal whether the account exists.
      backgroundTasks: { handler: (task) => void task.catch(options.onError) },
    },
    session: { expiresIn: 14 * day, updateAge: day },
    verification: hashedPasswordLinks,
    emailAndPassword: {
      enabled: true,
      ...(options.passwordHash !== undefined && { password: options.passwordHash }),
      minPasswordLength: 10,
      maxPasswordLength: 128,
      requireEmailVerification: sendMail !== undefined,
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 60 * 60,
      async sendResetPassword({ user, token }) {
        const link = page('/reset-password', { token });
        if (requestedLinks.has(user.email)) requestedLinks.set(user.email, link);
        else await sendMail?.(mails.resetPassword(user.email, link));
      },
      async onPasswordReset({ user }, request) {
        passwords.onPasswordReset({ user }, request);
        await options.recordAction?.(originOf(request?.headers, user.id), {
          action: 'password.reset',
          scope: { userId: user.id },
          details: { revokeOtherSessions: true },
        });
      },
      async onExistingUserSignUp({ user }) {
        if (!(await throttle.mayMail(user.email))) return;
        await sendMail?.(mails.alreadySignedUp(user.email, page('/sign-in', { email: user.email })));
      },
    },
    emailVerification: {
      sendOnSignUp: sendMail !== undefined,
      sendOnSignIn: sendMail !== undefined,
      expiresIn: day,
      beforeEmailVerification: confirmation.beforeEmailVerification,
      async sendVerificationEmail({ user, token }, request) {
        // A sign-up and a sign-in succeed without the mail. An error would let strangers prevent a sign-up.
        const isCounted = request !== undefined && confirmationMailPath.test(new URL(request.url).pathname);
        if (!isCounted && !(await throttle.mayMail(user.email))) return;
        await sendMail?.(mails.verifyAddress(user.email, page('/verify-email', { token })));
      },
    },
    hooks: {
      before: createAuthMiddleware(async (context) => {
        if (context.path !== '/sign-up/email') return;
        const { email, invitationId } = context.body as { email: string; invitationId?: string };
        // Without mails, nothing but the link of the invitation proves that the address is the user's own.
        if (options.signUp && (sendMail !== undefined || !(await store.isInvited(email)))) return;
        const invitation = invitationId === undefined ? undefined : await store.findInvitation(invitationId);
        if (invitation?.email === email.toLowerCase()) return;
        throw new APIError('FORBIDDEN', {
          code: 'INVITATION_REQUIRED',
          message: options.signUp
            ? 'This address is invited: sign up by the link of the invitation'
            : 'Sign-up is by invitation only',
        });
      }),
    },
    databaseHooks: {
      verification: onlyNewestPasswordLink(store),
      session: {
        create: {
          // A user without a workspace gets one at sign-in, unless the user has an invitation.
          async before(session, context) {
            await delays.checkSession(session.userId, context?.request);
            const memberships = await workspaces.listMemberships(session.userId);
            // A second factor or a new password replaces the session. The new session keeps its workspace.
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
          after: (session, context) => unchanged.checkSession(session, context?.request),
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
        // A new workspace needs a default campaign, which the library cannot create.
        allowUserToCreateOrganization: false,
        disableOrganizationDeletion: true,
        membershipLimit: 10_000,
        invitationLimit: caps.invitations.max,
        invitationExpiresIn: 14 * day,
        cancelPendingInvitationsOnReInvite: true,
        organizationHooks: {
          // The library cancels an accepted invitation too, and answers 200, although its user is a member.
          async beforeCancelInvitation({ invitation }) {
            if (!(await store.cancelInvitation(invitation.id)))
              throw new APIError('BAD_REQUEST', { code: 'INVITATION_ACCEPTED' });
          },
        },
        // Invitation ids have 74 random bits, only owners see them, and only an account of the address can accept.
        requireEmailVerificationOnInvitation: sendMail !== undefined,
        async sendInvitationEmail({ id, email, inviter, organization: { name } }, request) {
          const link = `${publicUrl}/invitations/${id}`;
          if (invitations.isMailed(request))
            await sendMail?.(mails.invitation(email, inviter.user.email, name, link));
        },
        schema: {
          session: { fields: { activeOrganizationId: 'activeWorkspaceId' } },
          organization: { modelName: 'workspace' },
          member: { fields: { organizationId: 'workspaceId' } },
          invitation: { fields: { organizationId: 'workspaceId' } },
        },
      }),
      twoFactor({ issuer: 'Leads' }),
      readableSecondFactor(),
      secondFactorOnce(store),
      secondFactorLock(),
      invitations.plugin,
      passwords.plugin,
      unchanged.plugin,
      delays.plugin,
      recentSignIn(),
      confirmation.plugin,
      // The last plugin, because it records the response of the others.
      ...(options.recordAction === undefined ? [] : [auditedActions(options.recordAction)]),
    ],
  });

  /** Throws LeadsError `unavailable` if work fails in an outage of the database, because the library's error is generic. */
  const orUnavailable = <Result>(work: () => Promise<Result>): Promise<Result> =>
    watchOutages(async (findOutage) => {
      try {
        return await work();
      } catch (error) {
        throw findOutage() ?? error;
      }
    });

  /** Creates a password link instead of mailing it. */
  async function passwordLink(address: string): Promise<string | undefined> {
    const email = address.toLowerCase();
    requestedLinks.set(email, '');
    try {
      await orUnavailable(() => auth.api.requestPasswordReset({ body: { email } }));
      return requestedLinks.get(email) || undefined;
    } finally {
      requestedLinks.delete(email);
    }
  }

  /**
   * Returns the workspace whose members a request may change. The library rejects the other requests to these paths: those
   * without a session, and those to a workspace that the user is not a member of.
   */
  const workspaceToChange = async (request: Request): Promise<string | undefined> => {
    if (!membershipPath.test(new URL(request.url).pathname)) return undefined;
    const { headers } = request;
    const session = await orUnavailable(() =>
      auth.api.getSession({ headers, query: { disableRefresh: true } }),
    );
    if (session === null) return undefined;
    const { organizationId } = (await request.clone().json()) as { organizationId: string };
    const memberships = await workspaces.listMemberships(session.user.id);
    return memberships.find(({ workspace }) => workspace.id === organizationId)?.workspace.id;
  };

  return {
    passwordLink,

    handle: (request) =>
      watchOutages(async (findOutage) => {
        const run = async () => delays.answerTo(request, await auth.handler(request));
        // The library counts the owners before it removes one. Without the lock, two requests could remove the last two.
        // A request that the library rejects must not delay the changes of members.
        const workspaceId = await workspaceToChange(request);
        const answer = await (workspaceId === undefined ? run() : store.withMembersLocked(workspaceId, run));
        if (workspaceId !== undefined && answer.ok) await options.onMemberChanged?.(await memberOf(answer));
        const outage = findOutage();
        if (outage === undefined) return answer;
        // If the library cannot read a session, it answers 401. A sign-out ignores that it cannot end the session.
        const hidesOutage = !answer.ok || new URL(request.url).pathname.endsWith('/sign-out');
        if (hidesOutage) throw outage;
        return answer;
      }),

    async findSession(headers) {
      const { headers: answered, response } = await orUnavailable(() =>
        auth.api.getSession({ headers, returnHeaders: true }),
      );
      if (response === null) return undefined;
      const { session, user } = response;
      return {
        signedIn: {
          sessionId: session.id,
          signedInAt: session.createdAt,
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
  };
}

/** Returns the member of a membership response. The library returns it in `member` or as the whole body. */
async function memberOf(answer: Response): Promise<MemberRef> {
  interface MemberBody {
    readonly organizationId: string;
    readonly userId: string;
  }
  const body = (await answer.clone().json()) as MemberBody | { readonly member: MemberBody };
  const { organizationId: workspaceId, userId } = 'member' in body ? body.member : body;
  return { workspaceId, userId };
}
