import { type Static, Type } from 'typebox';
import { memberRoles } from '../credential/principal.ts';
import { dateTime, id, properName } from '../fields.ts';

/** The body that names a workspace. */
export const WorkspaceName = Type.Object(
  { name: properName('The display name.', 'Acme') },
  { additionalProperties: false },
);
export type WorkspaceName = Static<typeof WorkspaceName>;

/** The answer to a change of a workspace. */
export const WorkspaceAnswer = Type.Object({
  success: Type.Literal(true),
  workspace: Type.Object({ id: id('Identifier of the workspace.'), name: Type.String() }),
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
