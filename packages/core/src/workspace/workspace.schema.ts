import { type Static, Type } from 'typebox';
import { memberRoles } from '../credential/roles.ts';
import { dateTime, id, properName } from '../fields.ts';

/** The body that names a workspace. */
export const WorkspaceName = Type.Object(
  { name: properName('The display name.', 'Acme') },
  { additionalProperties: false },
);
export type WorkspaceName = Static<typeof WorkspaceName>;

/** The name of a workspace in addresses. */
export const workspaceSlug = Type.String({
  description: 'The name of the workspace in addresses. A new name of the workspace does not change it.',
});

/** The answer to a change of a workspace. */
export const WorkspaceAnswer = Type.Object({
  success: Type.Literal(true),
  workspace: Type.Object({
    id: id('Identifier of the workspace.'),
    slug: workspaceSlug,
    name: Type.String(),
  }),
});
export type WorkspaceAnswer = Static<typeof WorkspaceAnswer>;

/** A member of a workspace. */
export const MemberView = Type.Object({
  id: id('Identifier of the membership.'),
  userId: id('Identifier of the user.'),
  name: Type.String(),
  email: Type.String(),
  role: Type.Enum([...memberRoles]),
  createdAt: dateTime('When the user became a member.'),
});
export type MemberView = Static<typeof MemberView>;

/** The first steps of a new user, and whether each is done. Steps that the role of the user does not permit are absent. */
export const FirstSteps = Type.Object({
  isNew: Type.Boolean({ description: 'Whether the workspace has few leads that the user sees.' }),
  apiKey: Type.Boolean({ description: 'The user has created an API key.' }),
  lead: Type.Boolean({ description: 'The user sees a lead.' }),
  landingPage: Type.Optional(Type.Boolean({ description: 'A landing page has a campaign.' })),
  invitation: Type.Optional(
    Type.Boolean({ description: 'The workspace has another member or a pending invitation.' }),
  ),
});
export type FirstSteps = Static<typeof FirstSteps>;
