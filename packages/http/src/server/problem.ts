import type { Problem, ProblemField } from '@leads/core/error-schema';
import { type ErrorCode, errorTable, type LeadsError, type LeadsFault } from '@leads/core/errors';

/** The media type of problem details (RFC 9457, 6.1). */
export const problemMediaType = 'application/problem+json';

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

function problemField({ at, path = '', reason }: LeadsFault): ProblemField {
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
