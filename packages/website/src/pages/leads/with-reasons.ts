import { ApiError } from '../../api/client.ts';

/** Of a refusal that names what is wrong, that: where there is no field to write it beside. */
export function withReasons(error: Error): Error {
  if (!(error instanceof ApiError) || error.fields.length === 0) return error;
  return new Error(error.fields.map(({ field, reason }) => `${field} ${reason}`.trim()).join('. '));
}
