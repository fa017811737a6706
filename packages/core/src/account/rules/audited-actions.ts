import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import type { AuditAction, AuditedAction, AuditOrigin, RecordAction } from '../../audit/index.ts';
import { addressHeader } from '../accounts.ts';
import type { LibraryContext } from './known-browser.ts';
import { challengedUser } from './second-factor-once.ts';

/** The actions of a signed-in user on the own account, by path. */
const ownActions: Readonly<Record<string, AuditAction>> = {
  '/change-password': 'password.changed',
  '/two-factor/disable': 'two_factor.disabled',
  '/two-factor/generate-backup-codes': 'two_factor.codes_renewed',
};

/** The actions on invitations and members, by path. */
const workspaceActions: Readonly<Record<string, AuditAction>> = {
  '/organization/invite-member': 'invitation.created',
  '/organization/cancel-invitation': 'invitation.canceled',
  '/organization/accept-invitation': 'invitation.accepted',
  '/organization/reject-invitation': 'invitation.rejected',
  '/organization/update-member-role': 'member.role_changed',
  '/organization/remove-member': 'member.removed',
  '/organization/leave': 'member.removed',
};

/** An invitation or a member in a response of the library. */
interface Subject {
  readonly id: string;
  readonly organizationId: string;
  readonly role: string;
  readonly email?: string;
  readonly userId?: string;
}

/** A response of the library to a path of {@link workspaceActions}. */
type Answer = Subject | { readonly invitation: Subject } | { readonly member: Subject };

/** Returns the origin of a request to the library. @param actorId the user that acts, if known. */
export function originOf(headers: Headers | undefined, actorId?: string): AuditOrigin {
  return {
    source: 'website',
    actorId,
    address: headers?.get(addressHeader) ?? undefined,
    userAgent: headers?.get('user-agent') ?? undefined,
  };
}

/** Records sign-ins, second factors, passwords, invitations and members in the audit log. */
export function auditedActions(record: RecordAction) {
  /** The users of the requests that end their session. */
  const leaving = new WeakMap<Request, string>();
  const save = (context: LibraryContext, actorId: string | undefined, action: AuditedAction) =>
    record(originOf(context.headers, actorId), action);

  const recordSignIn = async (context: LibraryContext, returned: unknown) => {
    const { newSession } = context.context;
    if (returned instanceof Error) {
      const { email } = context.body as { email: string };
      await save(context, undefined, { action: 'sign_in.failed', scope: { email } });
      return;
    }
    // With a second factor, the user is not signed in yet.
    const isChallenge = typeof returned === 'object' && returned !== null && 'twoFactorRedirect' in returned;
    if (isChallenge || newSession === null) return;
    const userId = newSession.user.id;
    await save(context, userId, { action: 'sign_in', scope: { userId } });
  };

  const recordSecondFactor = async (context: LibraryContext, hasFailed: boolean) => {
    const user = (await getSessionFromCtx(context))?.user;
    const signedIn = user?.id;
    if (hasFailed) {
      const userId = signedIn ?? (await challengedUser(context));
      if (userId !== undefined)
        await save(context, signedIn, { action: 'two_factor.failed', scope: { userId } });
      return;
    }
    // With a second factor, the code of a signed-in user confirms the identity for a sensitive action.
    if (user?.['twoFactorEnabled'] === true) return;
    const userId = signedIn ?? context.context.newSession?.user.id;
    if (userId === undefined) return;
    // A signed-in user confirms a new second factor by its first code.
    const action = signedIn === undefined ? 'sign_in' : 'two_factor.enabled';
    await save(context, userId, { action, scope: { userId }, details: { secondFactor: true } });
  };

  const recordInWorkspace = async (context: LibraryContext, action: AuditAction, returned: Answer) => {
    const actorId = (await getSessionFromCtx(context))?.user.id;
    const subject =
      'invitation' in returned ? returned.invitation : 'member' in returned ? returned.member : returned;
    const { id, organizationId, role, email, userId } = subject;
    await save(context, actorId, {
      action,
      scope: { workspaceId: organizationId },
      targetId: id,
      details: { role, email, userId },
    });
  };

  return {
    id: 'leads-audited-actions',
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === '/sign-out',
          handler: createAuthMiddleware(async (context) => {
            const session = await getSessionFromCtx(context);
            if (session !== null && context.request !== undefined)
              leaving.set(context.request, session.user.id);
          }),
        },
      ],
      after: [
        {
          matcher: () => true,
          handler: createAuthMiddleware(async (context) => {
            const { path, request } = context;
            const { returned } = context.context;
            const hasFailed = returned instanceof Error;
            if (path === '/sign-in/email') return recordSignIn(context, returned);
            if (path === '/two-factor/verify-totp' || path === '/two-factor/verify-backup-code')
              return recordSecondFactor(context, hasFailed);
            if (hasFailed) return undefined;
            const userId = request && leaving.get(request);
            if (userId !== undefined) return save(context, userId, { action: 'sign_out', scope: { userId } });
            const inWorkspace = workspaceActions[path];
            if (inWorkspace !== undefined) return recordInWorkspace(context, inWorkspace, returned as Answer);
            const own = ownActions[path];
            const session = own === undefined ? null : await getSessionFromCtx(context);
            if (own === undefined || session === null) return undefined;
            const { id } = session.user;
            const { revokeOtherSessions } = (context.body ?? {}) as { revokeOtherSessions?: boolean };
            const details = { revokeOtherSessions };
            return save(context, id, { action: own, scope: { userId: id }, details });
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}
