import { isUtf8 } from 'node:buffer';
import { isBrowserKey } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import { codingError } from './content-coding.ts';
import type { Server } from './create-server.ts';
import { invalidBody } from './json-body.ts';
import { formMediaType } from './media-types.ts';
import { escapePointer } from './problem.ts';

/** The most fields of a form: far more than a landing page has. */
const maxFields = 1000;

/**
 * Accepts the bodies of plain HTML forms on the routes of a guarded scope, as an object of strings. The request must
 * use a browser key. With any other key, all bodies are JSON (specification, 1).
 */
export function acceptForms(scope: Server): void {
  scope.addContentTypeParser(formMediaType, { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      if (!isBrowserKey(request.principal)) {
        const reason = 'must be application/json: only a key that is bound to web origins may send forms';
        throw new LeadsError('unsupported_media_type', {
          message: 'Unsupported media type: send application/json, or use a key that is bound to web origins',
          fields: [{ at: 'header', path: 'content-type', reason }],
        });
      }
      done(null, parseFormBody(body));
    } catch (error) {
      done(codingError(request.headers) ?? (error as Error));
    }
  });
}

/**
 * Parses a form (URL Standard, 5.1). Rejects invalid UTF-8, invalid escapes and characters that cannot be stored, as
 * the JSON parser does. The standard would replace them. An empty field counts as absent: browsers send every field of
 * a form. A repeated field, such as checkboxes of one name, becomes an array of strings.
 *
 * @throws LeadsError `invalid_input`
 */
export function parseFormBody(body: Buffer): Record<string, string | string[]> {
  if (body.length === 0) throw invalidBody('The request body is empty');
  if (!isUtf8(body)) throw invalidBody('The request body is not UTF-8');
  const pairs = body.toString('utf8').split('&', maxFields + 1);
  if (pairs.length > maxFields) throw invalidBody(`The request body has more than ${maxFields} fields`);
  const fields = new Map<string, string | string[]>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals === -1 || equals === pair.length - 1) continue;
    const name = decode(pair.slice(0, equals));
    const value = decode(pair.slice(equals + 1));
    if (name.includes('\0')) throw invalidBody('has a name that cannot be stored', '');
    if (value.includes('\0')) {
      throw invalidBody('contains characters that cannot be stored', `/${escapePointer(name)}`);
    }
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (typeof before === 'string') fields.set(name, [before, value]);
    else before.push(value);
  }
  // Object.fromEntries defines every name as an own property, `__proto__` included.
  return Object.fromEntries(fields);
}

/** Decodes a name or a value. Also rejects halves of surrogate pairs, which are not valid UTF-8. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw invalidBody('The request body is not a valid form', undefined, cause);
  }
}
