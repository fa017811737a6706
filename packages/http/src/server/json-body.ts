import { isUtf8 } from 'node:buffer';
import { LeadsError } from '@leads/core/errors';
import { escapePointer } from './problem.ts';

/** An escape that may stand for NUL or for half of a surrogate pair: the only ways JSON can carry them. */
const suspectEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/**
 * Parses a JSON body. What Postgres could not keep to the letter (NUL, half a surrogate pair, bytes that are no
 * UTF-8) is refused here, wherever in the body it stands, so that nothing behind needs to look.
 *
 * @throws LeadsError `invalid_input`
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) throw bodyRefusal('The request body is empty');
  if (!isUtf8(body)) throw bodyRefusal('The request body is not UTF-8');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw bodyRefusal('The request body is not valid JSON', undefined, cause);
  }
  if (suspectEscape.test(text)) refuseUnstorable(value);
  return value;
}

/**
 * The refusal of a body for its syntax or its characters.
 *
 * @param path a JSON Pointer into the body; without one, the reason is about the body as a whole.
 */
export function bodyRefusal(reason: string, path?: string, cause?: unknown): LeadsError {
  const fault = { at: 'body', reason, ...(path !== undefined && { path }) } as const;
  return new LeadsError('invalid_input', { fields: [fault], cause });
}

/** A value of the body, and where it stands. */
interface Place {
  readonly value: unknown;
  readonly name?: string;
  readonly parent?: Place;
}

/** Walks with a stack of its own: a body may be nested deeper than the call stack is. */
function refuseUnstorable(root: unknown): void {
  const stack: Place[] = [{ value: root }];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { value } = place;
    if (typeof value === 'string') {
      if (!isStorable(value)) throw bodyRefusal('holds characters that cannot be stored', pointerTo(place));
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        // A pointer cannot hold such a name either, so it ends at the object.
        if (!isStorable(name)) throw bodyRefusal('has a name that cannot be stored', pointerTo(place));
        stack.push({ value: member, name, parent: place });
      }
    }
  }
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The JSON Pointer to a place (RFC 6901). */
function pointerTo(place: Place): string {
  const names: string[] = [];
  for (let at: Place | undefined = place; at?.name !== undefined; at = at.parent) {
    names.push(`/${escapePointer(at.name)}`);
  }
  return names.toReversed().join('');
}
