import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { may } from '../../credential/roles.ts';
import type { WorkspaceStore } from '../../workspace/workspace-store.ts';
import type { AccountStore } from '../account-store.ts';
import { attemptKey } from '../attempt-key.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The maximum of invitations of a workspace in a day. */
const maxByWorkspace = 100;
/** The maximum of invitations of a workspace to one address in a day. */
const maxByRecipient = 3;
/** The maximum of invitation mails to one address in a day, from all workspaces. */
const maxMails = 5;

/**
 * Limits invitations. A workspace that exceeds its limits gets 429. If other workspaces have used up the mails to an
 * address, the invitation is created without a mail, so that no workspace can prevent the invitations of another.
 */
export function invitationLimits({
  store,
  workspaces,
  sendsMail,
}: {
  store: Pick<AccountStore, 'countAttempt' | 'cancelInvitations'>;
  workspaces: Pick<WorkspaceStore, 'listMemberships'>;
  sendsMail: boolean;
}) {
  const mailed = new WeakSet<Request>();
  const isInvite = ({ path }: { path?: string }) => path === '/organization/invite-member';

  /** @throws APIError beyond the limit. */
  const limit = async (kind: string, text: string, max: number, message: string) => {
    const { count, leftMs } = await store.countAttempt(attemptKey(kind, text), dayMs);
    if (count <= max) return;
    throw new APIError('TOO_MANY_REQUESTS', { message }, { 'Retry-After': `${Math.ceil(leftMs / 1000)}` });
  };

  const plugin = {
    id: 'leads-invitation-limits',
    hooks: {
      before: [
        {
          matcher: isInvite,
          handler: createAuthMiddleware(async (context) => {
            const body = context.body as { email: string; organizationId: string };
            const session = await getSessionFromCtx(context);
            if (session === null) return;
            const memberships = await workspaces.listMemberships(session.user.id);
            const membership = memberships.find(({ workspace }) => workspace.id === body.organizationId);
            // The library rejects the request. It must not count against the workspace.
            if (membership === undefined || !may(membership.role, 'manageMembers')) return;
            if (sendsMail && !session.user.emailVerified) {
              throw new APIError('FORBIDDEN', { code: 'EMAIL_NOT_VERIFIED' });
            }
            const { id } = membership.workspace;
            const email = body.email.toLowerCase();
            await limit(
              'invite',
              id,
              maxByWorkspace,
              'This workspace has sent too many invitations today: try again later',
            );
            await limit(
              'invite-recipient',
              `${id}:${email}`,
              maxByRecipient,
              'You have invited this address too often today: pass on the link, or try again later',
            );
            if (!sendsMail || context.request === undefined) return;
            const mails = await store.countAttempt(attemptKey('invite-mail', email), dayMs);
            if (mails.count <= maxMails) mailed.add(context.request);
          }),
        },
      ],
      after: [
        {
          matcher: isInvite,
          handler: createAuthMiddleware(async (context) => {
            const { returned } = context.context;
            if (typeof returned !== 'object' || returned === null || returned instanceof Error) return;
            return context.json({
              ...returned,
              mailed: context.request !== undefined && mailed.has(context.request),
            });
          }),
        },
        {
          // A member cannot accept a further invitation, which would be pending until it expires.
          matcher: ({ path }) => path === '/organization/accept-invitation',
          handler: createAuthMiddleware(async (context) => {
            const { returned } = context.context;
            if (typeof returned !== 'object' || returned === null || returned instanceof Error) return;
            const { invitation } = returned as { invitation: { organizationId: string; email: string } };
            await store.cancelInvitations(invitation.organizationId, invitation.email);
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;

  return {
    plugin,
    /** Whether the invitation of a request is mailed. */
    isMailed: (request: Request | undefined) => request !== undefined && mailed.has(request),
  };
}
