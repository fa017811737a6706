import { LeadsError } from '@leads/core/errors';
import { Type } from 'typebox';

/** `ETag` in a route's response. */
export const etagHeader = {
  description: 'The version of the lead, for `If-Match` (RFC 9110, 8.8.3).',
  type: 'string',
} as const;

export const IfMatch = Type.String({
  maxLength: 1000,
  description:
    'Changes the lead only if it is still in the version of this `ETag` (RFC 9110, 13.1.1), so that no change of another is lost; else 412.',
  examples: ['*'],
});

export function etagOf({ version }: { version: number }): string {
  return `"${version}"`;
}

/** A list of entity tags (RFC 9110, 8.8.3). */
const tags = /^(?:W\/)?"[\x21\x23-\x7e]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e]*")*$/;

/**
 * The versions that an `If-Match` asks for; `undefined` where any will do. A weak tag matches none, nor does one
 * that is no version of ours.
 *
 * @throws LeadsError `bad_request` for a header that is no list of entity tags.
 */
export function versionsOf(ifMatch: string | undefined): ReadonlySet<number> | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  if (!tags.test(ifMatch.trim())) {
    throw new LeadsError('bad_request', {
      message: 'If-Match takes the ETag of a lead, or *',
      fields: [{ at: 'header', path: 'if-match', reason: 'must be the ETag of a lead, or *' }],
    });
  }
  return new Set(
    Array.from(ifMatch.matchAll(/(?:^|[ \t,])"([1-9][0-9]{0,9})"/g), ([, version]) => Number(version)),
  );
}
