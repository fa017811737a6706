import { isUtf8 } from 'node:buffer';
import { LeadsError } from '@leads/core/errors';

/** An escape that may stand for NUL or for half of a surrogate pair: the only ways JSON can carry them. */
const suspectEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/**
 * Parses a JSON body. What Postgres could not keep to the letter (NUL, half a surrogate pair, bytes that are no
 * UTF-8) is refused here, wherever in the body it stands, so that nothing behind needs to look.
 *
 * @throws LeadsError `invalid_input`
 */
export function parseJsonBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new LeadsError('invalid_input');
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LeadsError('invalid_input', { cause });
  }
  if (suspectEscape.test(text) && !isStorable(value)) throw new LeadsError('invalid_input');
  return value;
}

/** Walks with a stack of its own: a body may be nested deeper than the call stack is. */
function isStorable(value: unknown): boolean {
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item === 'string') {
      if (item.includes('\0') || !item.isWellFormed()) return false;
    } else if (typeof item === 'object' && item !== null) {
      for (const [key, member] of Object.entries(item)) stack.push(key, member);
    }
  }
  return true;
}
