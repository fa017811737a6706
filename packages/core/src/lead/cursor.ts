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
  const position = parse(cursor, scope);
  // Decoding base64 passes over what is none.
  if (position === undefined || encodeCursor(position, scope) !== cursor) {
    throw new LeadsError('invalid_cursor');
  }
  return position;
}

function parse(cursor: string, scope: LeadScope): LeadPosition | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [timeMs, id, scopeOfCursor] = parts as unknown[];
  if (typeof timeMs !== 'number' || !Number.isInteger(timeMs) || timeMs < 0 || timeMs > maxTimeMs)
    return undefined;
  if (typeof id !== 'string' || !uuidPattern.test(id) || scopeOfCursor !== fingerprint(scope))
    return undefined;
  return { createdAt: new Date(timeMs), id };
}

function fingerprint(scope: LeadScope): string {
  return createHash('sha256')
    .update(`${scope.workspaceId}/${scope.userId ?? '*'}`)
    .digest('base64url')
    .slice(0, 8);
}
