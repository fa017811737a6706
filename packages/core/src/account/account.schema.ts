import { type Static, Type } from 'typebox';
import { memberRoles } from '../credential/roles.ts';
import { dateTime, id, properName } from '../fields.ts';
import { uuidPattern } from '../uuid.ts';
import { workspaceSlug } from '../workspace/workspace.schema.ts';

/** The name of a user. */
export const UserName = properName('The name of the user.', 'Ada Lovelace');

/**
 * An id in a request to the account library. It is in lower case, because the rules of the accounts compare ids as texts,
 * and Postgres compares them without regard to case.
 */
export const AccountId = Type.String({
  pattern: uuidPattern.source,
  'x-reason': 'must be a UUID in lower case',
});

/** A workspace of the signed-in user, and the user's role there. */
export const OwnWorkspace = Type.Object({
  id: id('Identifier of the workspace.'),
  slug: workspaceSlug,
  name: Type.String(),
  role: Type.Enum([...memberRoles]),
});
export type OwnWorkspace = Static<typeof OwnWorkspace>;

/** The addresses of the two APIs. */
export const ApiAddresses = Type.Object({
  crm: Type.String({ description: 'The CRM API, with its /api prefix.' }),
  intake: Type.Optional(Type.String({ description: 'The intake API, with its /api prefix.' })),
});
export type ApiAddresses = Static<typeof ApiAddresses>;

/** The signed-in user, the user's workspaces, and the addresses of the APIs. */
export const Me = Type.Object({
  user: Type.Object({
    id: id('Identifier of the user.'),
    name: Type.String(),
    email: Type.String(),
    twoFactorEnabled: Type.Boolean(),
  }),
  sessionId: id('Identifier of the session.'),
  workspaces: Type.Array(OwnWorkspace),
  workspace: Type.Optional({
    ...OwnWorkspace,
    description:
      'The workspace that the request names. Without one, the last opened one. Absent if the user is not a member.',
  }),
  lastWorkspaceId: Type.Optional(id('Identifier of the workspace that the session opened last.')),
  addresses: ApiAddresses,
  mail: Type.Boolean({ description: 'Whether the service sends emails.' }),
});
export type Me = Static<typeof Me>;

/** The features available without signing in. */
export const Features = Type.Object({
  signUp: Type.Boolean({ description: 'Whether anyone may sign up. If false, sign-up needs an invitation.' }),
  mail: Type.Boolean({ description: 'Whether the service sends emails.' }),
});
export type Features = Static<typeof Features>;

/** A session of the signed-in user: a browser in which the user is signed in. */
export const SessionView = Type.Object({
  id: id('Identifier of the session.'),
  current: Type.Boolean({ description: 'Whether this session sent the request.' }),
  createdAt: dateTime('When the user signed in.'),
  updatedAt: dateTime('When the session was last used, to the day.'),
  expiresAt: dateTime('When the session expires.'),
  ipAddress: Type.Optional(Type.String()),
  userAgent: Type.Optional(Type.String()),
});
export type SessionView = Static<typeof SessionView>;

/** An invitation as the invited person sees it. */
export const InvitationView = Type.Object({
  workspace: Type.String(),
  inviter: Type.String(),
  email: Type.String({ description: 'The address of the account that may accept it.' }),
  role: Type.Enum([...memberRoles]),
  expiresAt: dateTime('When the invitation expires.'),
});
export type InvitationView = Static<typeof InvitationView>;

/** An unanswered invitation as the workspace's owners see it. */
export const PendingInvitationView = Type.Object({
  id: id('Identifier of the invitation.'),
  email: Type.String(),
  role: Type.Enum([...memberRoles]),
  link: Type.String({ description: 'The page on which the account of that address accepts the invitation.' }),
  createdAt: dateTime('When the invitation was sent.'),
  expiresAt: dateTime('When the invitation expires.'),
});
export type PendingInvitationView = Static<typeof PendingInvitationView>;

/** The result of a link that confirms an address. */
export const AddressConfirmed = Type.Object({
  next: Type.Enum(['signedIn', 'signIn', 'choosePassword'], {
    description:
      'The next step of the user. `signedIn`: none. `choosePassword`: the account has no password any more, because the browser is not known for it.',
  }),
  passwordToken: Type.Optional(
    Type.String({
      description: 'The token for `/auth/reset-password`, if the next step is `choosePassword`.',
    }),
  ),
});
export type AddressConfirmed = Static<typeof AddressConfirmed>;
