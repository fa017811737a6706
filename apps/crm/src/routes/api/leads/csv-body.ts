import { LeadsError } from '@leads/core/errors';
import type { FastifyRequest } from 'fastify';

/** Rejects bodies that are compressed or declare a charset other than UTF-8. */
export function rejectEncoded({ headers }: FastifyRequest): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.trim().toLowerCase() !== 'identity') {
    throw new LeadsError('unsupported_media_type', {
      fields: [
        { at: 'header', path: 'content-encoding', reason: 'must be absent: send the file uncompressed' },
      ],
    });
  }
  const charset = /;\s*charset="?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new LeadsError('unsupported_media_type', {
      fields: [{ at: 'header', path: 'content-type', reason: 'must declare UTF-8 or no charset' }],
    });
  }
}
