import { isUtf8 } from 'node:buffer';
import { isBrowserKey } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import type { Server } from './create-server.ts';
import { bodyRefusal } from './json-body.ts';
import { escapePointer } from './problem.ts';

export const formMediaType = 'application/x-www-form-urlencoded';

/** The most fields that a form may have: far more than any page shows. */
const maxFields = 1000;

/**
 * The routes of a scope, which has a guard, take what a plain HTML form sends as well, as an object of texts: with a
 * key that may stand in a page. With any other all bodies are JSON (specification, 1).
 */
export function takeForms(scope: Server): void {
  scope.addContentTypeParser(formMediaType, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      if (!isBrowserKey(request.principal)) throw new LeadsError('unsupported_media_type');
      done(null, parseFormBody(body));
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * Parses a form (URL Standard, 5.1), as strictly as JSON is parsed: what is no UTF-8, cannot be decoded or could not
 * be stored is refused, where the standard would put a substitute. An empty field counts as absent, for browsers send
 * every field of a form. One that is there several times, as boxes of one name are, is a list of texts.
 *
 * @throws LeadsError `invalid_input`
 */
export function parseFormBody(body: Buffer): Record<string, string | string[]> {
  if (body.length === 0) throw bodyRefusal('The request body is empty');
  if (!isUtf8(body)) throw bodyRefusal('The request body is not UTF-8');
  const pairs = body.toString('utf8').split('&', maxFields + 1);
  if (pairs.length > maxFields) throw bodyRefusal(`The request body has more than ${maxFields} fields`);
  const fields = new Map<string, string | string[]>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals === -1 || equals === pair.length - 1) continue;
    const name = decode(pair.slice(0, equals));
    const value = decode(pair.slice(equals + 1));
    if (name.includes('\0')) throw bodyRefusal('has a name that cannot be stored', '');
    if (value.includes('\0')) {
      throw bodyRefusal('holds characters that cannot be stored', `/${escapePointer(name)}`);
    }
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (typeof before === 'string') fields.set(name, [before, value]);
    else before.push(value);
  }
  // Any name becomes a member of the object itself, `__proto__` too.
  return Object.fromEntries(fields);
}

/** Halves of surrogate pairs are no UTF-8, so that they fail here too. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw bodyRefusal('The request body is not a valid form', undefined, cause);
  }
}
