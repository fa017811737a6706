import { createHash } from 'node:crypto';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { LeadPosition, LeadScope } from './lead-store.ts';

/** Beyond it a date is written with a sign and six digits of year, which Postgres does not read. */
const maxTimeMs = Date.UTC(9999, 11, 31);

/** A position in the list of a scope as opaque text. It is no secret and gives no access by itself. */
export function encodeCursor(position: LeadPosition, scope: LeadScope): string {
  return Buffer.from(
    JSON.stringify([position.createdAt.getTime(), position.id, fingerprint(scope)]),
  ).toString('base64url');
}

/** @throws LeadsError `invalid_cursor` for anything that {@link encodeCursor} did not make for this scope. */
export function decodeCursor(cursor: string, scope: LeadScope): LeadPosition {
  const position = parse(cursor);
  // Made again it must be the same: of this scope, and with nothing that decoding base64 passes over.
  if (position === undefined || encodeCursor(position, scope) !== cursor) {
    throw new LeadsError('invalid_cursor');
  }
  return position;
}

function parse(cursor: string): LeadPosition | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [timeMs, id] = parts as unknown[];
  if (typeof timeMs !== 'number' || !Number.isInteger(timeMs) || timeMs < 0 || timeMs > maxTimeMs)
    return undefined;
  if (typeof id !== 'string' || !uuidPattern.test(id)) return undefined;
  return { createdAt: new Date(timeMs), id };
}

function fingerprint(scope: LeadScope): string {
  return createHash('sha256')
    .update(`${scope.workspaceId}/${scope.userId ?? '*'}`)
    .digest('base64url')
    .slice(0, 8);
}
