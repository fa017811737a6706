import type { Problem, ProblemField } from '@leads/core/error-schema';
import { type ErrorCode, errorTable, type LeadsError, type FieldError } from '@leads/core/errors';

/** The media type of problem details (RFC 9457, 6.1). */
export const problemMediaType = 'application/problem+json';

/** The most fields that one response lists, and the longest pointer to a field in characters. */
const maxFields = 100;
const maxPathLength = 1000;

/**
 * Returns the problem details of an error.
 *
 * @param options.message the error's message. It becomes the `detail` if it differs from the message of the code.
 * @param options.requestId contains only characters that are valid in a URN.
 */
export function problemBody(
  code: ErrorCode,
  options: { message?: string; fields?: LeadsError['fields']; requestId?: string } = {},
): Problem {
  const { status, kind, message: title } = errorTable[code];
  const fields = options.fields ?? [];
  // An error of the whole request has no pointer: it goes into `detail`.
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

function problemField({ at, path = '', reason }: FieldError): ProblemField {
  const place = at === 'body' ? pointerFragment(path) : path;
  // A name can be as long as the request body. Repeated 100 times, it would inflate the response.
  if (place.length > maxPathLength) return { detail: reason };
  if (at === 'body') return { pointer: place, detail: reason };
  return at === 'header' ? { header: place, detail: reason } : { parameter: place, detail: reason };
}

/** Escapes a name for a JSON Pointer (RFC 6901, 3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Encodes a JSON Pointer as a URI fragment (RFC 6901, 6). `encodeURI` does not escape `#`, which is escaped here. */
function pointerFragment(pointer: string): string {
  return `#${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;
}
