import { type Static, Type } from 'typebox';
import { errorKinds, errorTable } from './errors.ts';

/** The body of every error (specification, section 7). */
export const ErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Enum([...errorKinds], { description: 'The kind of error.' }),
    message: Type.String({ description: 'A description for people.' }),
  },
  { additionalProperties: false, description: 'An error.' },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** An error of one field of the body, one parameter or one header. */
export const ProblemField = Type.Object(
  {
    pointer: Type.Optional(
      Type.String({
        description:
          'The place in the body: a JSON Pointer as a URI fragment (RFC 6901, 6). `#` is the whole body.',
        examples: ['#/phone'],
      }),
    ),
    parameter: Type.Optional(
      Type.String({ description: 'The name of a parameter of the path or the query.', examples: ['limit'] }),
    ),
    header: Type.Optional(
      Type.String({ description: 'The name of a header.', examples: ['idempotency-key'] }),
    ),
    detail: Type.String({ description: 'The reason, for people.', examples: ['is required'] }),
  },
  { additionalProperties: false },
);
export type ProblemField = Static<typeof ProblemField>;

/** The body of an error for clients that ask for `application/problem+json` (RFC 9457, 3). */
export const Problem = Type.Object(
  {
    type: Type.String({
      description: 'The problem type: `urn:leads:error:` and a stable code.',
      examples: ['urn:leads:error:invalid_input'],
    }),
    title: Type.String({
      description: 'A summary of the problem type.',
      examples: [errorTable.invalid_input.message],
    }),
    status: Type.Integer({ description: 'The HTTP status.', examples: [400] }),
    detail: Type.Optional(
      Type.String({
        description: 'Details of this problem, for people. Absent if the title says everything.',
        examples: ['The request body is not valid JSON'],
      }),
    ),
    instance: Type.Optional(
      Type.String({
        description: 'The request: `urn:request:` and its `X-Request-Id`, which is also in its log lines.',
        examples: ['urn:request:0b5f8f6e-2f4c-4d36-9a51-7a1f6f0a3c11'],
      }),
    ),
    success: Type.Literal(false, { description: 'As in the default error body.', examples: [false] }),
    error: Type.Enum([...errorKinds], {
      description: 'The kind of error, as in the default error body.',
      examples: ['validation'],
    }),
    errors: Type.Optional(
      Type.Array(ProblemField, {
        description: 'The errors of single fields, 100 at most.',
        examples: [[{ pointer: '#/phone', detail: 'is required' }]],
      }),
    ),
  },
  { $id: 'Problem', additionalProperties: false, description: 'An error in detail (RFC 9457).' },
);
export type Problem = Static<typeof Problem>;
