import { Type } from 'typebox';

/** Returns the schema of the path parameter of a resource. */
export const idPath = (resource: string) =>
  Type.Object({
    id: Type.String({
      description: `Identifier of the ${resource}.`,
      examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
    }),
  });
