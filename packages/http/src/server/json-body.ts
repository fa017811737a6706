import { isUtf8 } from 'node:buffer';
import { LeadsError } from '@leads/core/errors';
import { parseJson } from '@leads/core/json';
import { escapePointer } from './problem.ts';

/** Matches an escape of NUL or of half of a surrogate pair. Valid JSON in UTF-8 can contain them as escapes only. */
const suspectEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/**
 * Returns whether a request needs no body: its route has no schema of a body, or the schema of an object that needs no
 * field.
 */
export function isBodyOptional(schema: unknown): boolean {
  if (schema === undefined) return true;
  const {
    type,
    required = [],
    minProperties = 0,
  } = schema as {
    readonly type?: string;
    readonly required?: readonly string[];
    readonly minProperties?: number;
  };
  return type === 'object' && required.length === 0 && minProperties === 0;
}

/**
 * Parses a JSON body. Rejects text that Postgres cannot store unchanged, at any depth: NUL, half of a surrogate pair,
 * invalid UTF-8. Code behind the parser needs no such check. Keeps the digits of each integer, as {@link parseJson} does.
 * Ignores a byte order mark, as RFC 8259, 8.1 allows: some clients on Windows send one.
 *
 * @throws LeadsError `invalid_input`
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) throw invalidBody('The request body is empty');
  if (!isUtf8(body)) throw invalidBody('The request body is not UTF-8');
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw invalidBody('The request body is not valid JSON', undefined, cause);
  }
  if (suspectEscape.test(text)) rejectUnstorable(value);
  return value;
}

/**
 * Returns the error for a body with invalid syntax or characters.
 *
 * @param path a JSON Pointer into the body. Without it, the reason is about the whole body.
 */
export function invalidBody(reason: string, path?: string, cause?: unknown): LeadsError {
  const fault = { at: 'body', reason, ...(path !== undefined && { path }) } as const;
  return new LeadsError('invalid_input', { fields: [fault], cause });
}

/** A value of the body and its position. */
interface Place {
  readonly value: unknown;
  readonly name?: string;
  readonly parent?: Place;
}

/** Uses an explicit stack instead of recursion: a deeply nested body would overflow the call stack. */
function rejectUnstorable(root: unknown): void {
  const stack: Place[] = [{ value: root }];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { value } = place;
    if (typeof value === 'string') {
      if (!isStorable(value))
        throw invalidBody('contains characters that cannot be stored', pointerTo(place));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        // A pointer cannot contain such a name either, so it ends at the object.
        if (!isStorable(name)) throw invalidBody('has a name that cannot be stored', pointerTo(place));
        stack.push({ value: member, name, parent: place });
      }
    }
  }
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns the JSON Pointer to a value (RFC 6901). */
function pointerTo(place: Place): string {
  const names: string[] = [];
  for (let at: Place | undefined = place; at?.name !== undefined; at = at.parent) {
    names.push(`/${escapePointer(at.name)}`);
  }
  return names.toReversed().join('');
}
