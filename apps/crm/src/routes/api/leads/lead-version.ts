import { LeadsError } from '@leads/core/errors';
import { Type } from 'typebox';

/** The `ETag` header in a route's response. */
export const etagHeader = {
  description: 'The version of the lead, for `If-Match` (RFC 9110, 8.8.3).',
  type: 'string',
} as const;

export const IfMatch = Type.String({
  maxLength: 1000,
  description:
    'Changes the lead only if its version still matches this `ETag`, else answers 412 (RFC 9110, 13.1.1). This prevents lost updates.',
  examples: ['*'],
});

export function etagOf({ version }: { version: number }): string {
  return `"${version}"`;
}

/** A list of entity tags (RFC 9110, 8.8.3). */
const tags = /^(?:W\/)?"[\x21\x23-\x7e]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e]*")*$/;

/**
 * Returns the versions that an `If-Match` header names, or `undefined` if any version matches. A weak tag matches no
 * version. A tag that is not a version number matches none either.
 *
 * @throws LeadsError `bad_request` if the header is not a list of entity tags.
 */
export function versionsOf(ifMatch: string | undefined): ReadonlySet<number> | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  if (!tags.test(ifMatch.trim())) {
    throw new LeadsError('bad_request', {
      message: 'If-Match must be the ETag of a lead, or *',
      fields: [{ at: 'header', path: 'if-match', reason: 'must be the ETag of a lead, or *' }],
    });
  }
  return new Set(
    Array.from(ifMatch.matchAll(/(?:^|[ \t,])"([1-9][0-9]{0,9})"/g), ([, version]) => Number(version)),
  );
}
