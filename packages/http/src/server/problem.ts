import { type ErrorCode, errorTable, type LeadsError, type LeadsFault } from '@leads/core/errors';
import { type Static, Type } from 'typebox';

/** The media type of problem details (RFC 9457, 6.1). */
export const problemMediaType = 'application/problem+json';

/** What is wrong with one field of the body, one parameter or one header. */
const ProblemField = Type.Object(
  {
    pointer: Type.Optional(
      Type.String({
        description:
          'Where in the body: a JSON Pointer as a URI fragment (RFC 6901, 6); `#` is the whole body.',
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

/** The body of an error for clients that ask for `application/problem+json` (RFC 9457, 3). */
export const Problem = Type.Object(
  {
    type: Type.String({
      description: 'What kind of problem it is: `urn:leads:error:` and a code that does not change.',
      examples: ['urn:leads:error:invalid_input'],
    }),
    title: Type.String({
      description: 'The kind in words, the same for each of its type.',
      examples: [errorTable.invalid_input.message],
    }),
    status: Type.Integer({ description: "The answer's HTTP status.", examples: [400] }),
    detail: Type.Optional(
      Type.String({
        description:
          'More about this very problem, for people, where there is more to say than the title does.',
        examples: ['The request body is not valid JSON'],
      }),
    ),
    instance: Type.Optional(
      Type.String({
        description: 'This request: `urn:request:` and its `X-Request-Id`, by which its log lines are found.',
        examples: ['urn:request:0b5f8f6e-2f4c-4d36-9a51-7a1f6f0a3c11'],
      }),
    ),
    success: Type.Literal(false, { description: 'As in the body of three fields.', examples: [false] }),
    error: Type.Enum(['validation', 'unauthorized', 'error'], {
      description: 'The short kind, as in the body of three fields.',
      examples: ['validation'],
    }),
    errors: Type.Optional(
      Type.Array(ProblemField, {
        description: 'What is wrong, each field by itself; 100 at most.',
        examples: [[{ pointer: '#/phone', detail: 'is required' }]],
      }),
    ),
  },
  { $id: 'Problem', additionalProperties: false, description: 'An error in detail (RFC 9457).' },
);
type Problem = Static<typeof Problem>;

/** So many fields are told of at most, each by a pointer of at most so many characters. */
const maxFields = 100;
const maxPathLength = 1000;

/**
 * Problem details of an error.
 *
 * @param options.message the error's own, where it says more than that of its code.
 * @param options.requestId of characters that may stand in a URN.
 */
export function problemBody(
  code: ErrorCode,
  options: { message?: string; fields?: LeadsError['fields']; requestId?: string } = {},
): Problem {
  const { status, kind, message: title } = errorTable[code];
  const fields = options.fields ?? [];
  // A fault of the request as a whole has no place to point to.
  const whole = fields.filter((fault) => fault.path === undefined).map(({ reason }) => reason);
  const placed = fields.filter((fault) => fault.path !== undefined).slice(0, maxFields);
  const message = options.message === title ? undefined : options.message;
  const detail = whole.length > 0 ? whole.join('; ') : message;
  return {
    type: `urn:leads:error:${code}`,
    title,
    status,
    ...(detail !== undefined && { detail }),
    ...(options.requestId !== undefined && { instance: `urn:request:${options.requestId}` }),
    success: false,
    error: kind,
    ...(placed.length > 0 && { errors: placed.map(problemField) }),
  };
}

function problemField({ at, path = '', reason }: LeadsFault): Static<typeof ProblemField> {
  const place = at === 'body' ? pointerFragment(path) : path;
  // One name can fill the body; a hundred times over it would fill the answer.
  if (place.length > maxPathLength) return { detail: reason };
  if (at === 'body') return { pointer: place, detail: reason };
  return at === 'header' ? { header: place, detail: reason } : { parameter: place, detail: reason };
}

/** A name as a part of a JSON Pointer (RFC 6901, 3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** A JSON Pointer as a URI fragment (RFC 6901, 6). `encodeURI` leaves alone what a fragment may hold, and `#`. */
function pointerFragment(pointer: string): string {
  return `#${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;
}
