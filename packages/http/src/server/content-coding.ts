import type { IncomingHttpHeaders } from 'node:http';
import { LeadsError } from '@leads/core/errors';

/** Returns the error for a body that is compressed; `undefined` for a plain body. */
export function codingError({
  'content-encoding': coding = 'identity',
}: IncomingHttpHeaders): LeadsError | undefined {
  if (coding.trim().toLowerCase() === 'identity') return undefined;
  return new LeadsError('unsupported_media_type', {
    message: 'Unsupported media type: send the body uncompressed',
    fields: [
      { at: 'header', path: 'content-encoding', reason: 'must be absent: send the body uncompressed' },
    ],
  });
}
