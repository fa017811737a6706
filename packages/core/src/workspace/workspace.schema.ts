import { type Static, Type } from 'typebox';
import { label } from '../fields.ts';

/** The body that names a workspace. */
export const WorkspaceName = Type.Object(
  { name: label('What people call it.', 'Acme') },
  { additionalProperties: false },
);
export type WorkspaceName = Static<typeof WorkspaceName>;
