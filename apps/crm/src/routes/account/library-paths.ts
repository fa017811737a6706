import { AccountId as id, UserName } from '@leads/core/account';
import { memberRoles } from '@leads/core/credential';
import type { Permission } from '@leads/http/server/permission';
import { type TObject, type TProperties, Type } from 'typebox';

const text = (maxLength = 255) => Type.String({ minLength: 1, maxLength, pattern: '^\\P{Cc}*$' });
const email = Type.String({ format: 'email', maxLength: 255 });
const password = Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' });
const newPassword = Type.String({ minLength: 10, maxLength: 128, pattern: '^[^\\u0000]*$' });
/** Whether to revoke the API keys and access tokens of the user in all workspaces. */
const revokeCredentials = Type.Optional(Type.Boolean());
const role = Type.Enum([...memberRoles]);
/** The workspace that the page shows. Without it, the library would act in the one that any tab has opened last. */
const shownWorkspace = id;
const code = Type.String({ minLength: 6, maxLength: 64, pattern: '^[\\w-]+$' });
const body = (properties: TProperties) => Type.Object(properties, { additionalProperties: false });

interface LibraryPath {
  /** Enforced by the library. */
  readonly permission: Permission;
  readonly body?: TObject;
  readonly querystring?: TObject;
  /** The reason to limit repeated requests: a client could guess a secret, or have mails sent to an address. */
  readonly limited?: 'guess' | 'mail';
}

/** The paths of the account library that the website uses, with permissions and bodies. Other paths are not exposed. */
export const libraryPaths: Readonly<Record<'GET' | 'POST', Readonly<Record<string, LibraryPath>>>> = {
  GET: {
    '/verify-email': {
      permission: 'public',
      querystring: body({ token: text(2048) }),
    },
  },
  POST: {
    '/sign-up/email': {
      permission: 'public',

      body: body({ name: UserName, email, password: newPassword, invitationId: Type.Optional(id) }),
      limited: 'guess',
    },
    '/sign-in/email': {
      permission: 'public',

      body: body({ email, password, rememberMe: Type.Optional(Type.Boolean()) }),
      limited: 'guess',
    },
    '/sign-out': {
      permission: 'public',
      body: body({}),
    },
    '/send-verification-email': {
      permission: 'public',
      body: body({ email }),
      limited: 'mail',
    },
    '/request-password-reset': {
      permission: 'public',
      body: body({ email }),
      limited: 'mail',
    },
    '/reset-password': {
      permission: 'public',
      body: body({ newPassword, token: text(), revokeCredentials }),
      limited: 'guess',
    },
    '/change-password': {
      permission: 'signedIn',

      body: body({
        currentPassword: password,
        newPassword,
        revokeOtherSessions: Type.Optional(Type.Boolean()),
        revokeCredentials,
      }),
      limited: 'guess',
    },
    '/confirm-password': {
      permission: 'signedIn',
      body: body({ password }),
      limited: 'guess',
    },
    '/update-user': {
      permission: 'signedIn',
      body: body({ name: UserName }),
    },
    '/two-factor/enable': {
      permission: 'signedIn',
      body: body({ password }),
      limited: 'guess',
    },
    '/two-factor/disable': {
      permission: 'signedIn',
      body: body({ password }),
      limited: 'guess',
    },
    '/two-factor/generate-backup-codes': {
      permission: 'signedIn',
      body: body({ password }),
      limited: 'guess',
    },
    '/two-factor/verify-totp': {
      permission: 'public',

      body: body({ code, trustDevice: Type.Optional(Type.Boolean()) }),
      limited: 'guess',
    },
    '/two-factor/verify-backup-code': {
      permission: 'public',

      body: body({ code, trustDevice: Type.Optional(Type.Boolean()) }),
      limited: 'guess',
    },
    '/organization/set-active': {
      permission: 'signedIn',
      body: body({ organizationId: id }),
    },
    '/organization/invite-member': {
      permission: 'manageMembers',
      body: body({ email, role, organizationId: shownWorkspace }),
    },
    '/organization/cancel-invitation': {
      permission: 'manageMembers',
      body: body({ invitationId: id }),
    },
    '/organization/accept-invitation': {
      permission: 'signedIn',
      body: body({ invitationId: id }),
    },
    '/organization/reject-invitation': {
      permission: 'signedIn',
      body: body({ invitationId: id }),
    },
    '/organization/update-member-role': {
      permission: 'manageMembers',

      body: body({ memberId: id, role, organizationId: shownWorkspace }),
    },
    '/organization/remove-member': {
      permission: 'manageMembers',
      body: body({ memberIdOrEmail: id, organizationId: shownWorkspace }),
    },
    '/organization/leave': {
      permission: 'member',
      body: body({ organizationId: id }),
    },
  },
};
