import { ApiError } from '../../api/api-error.ts';

/** Returns an error whose message lists the invalid fields. For errors that are shown without a form. */
export function withReasons(error: Error): Error {
  if (!(error instanceof ApiError) || error.fields.length === 0) return error;
  return new Error(error.fields.map(({ field, reason }) => `${field} ${reason}`.trim()).join('. '));
}
