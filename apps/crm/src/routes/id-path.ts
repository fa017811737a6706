import { Type } from 'typebox';

/** The path of a route for one resource. */
export const idPath = (what: string) =>
  Type.Object({
    id: Type.String({
      description: `Identifier of the ${what}.`,
      examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
    }),
  });
