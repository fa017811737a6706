/** Matches a number of 16 digits or more, as 2^53 has. It may be in a string. */
const suspectNumber = /[:[,]\s*-?\d{16}/;
/** Matches an escape, the beginning or end of a string, or a number. In a string, it also matches digits. */
const tokens = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * An integer of a JSON text beyond 2^53. A JavaScript number would have other digits. Its JSON is the text of its digits.
 * It is a function, because a schema of any JSON type rejects a function.
 */
type LargeInteger = () => string;

function largeInteger(digits: string): LargeInteger {
  return Object.assign(() => digits, { toJSON: () => digits });
}

/**
 * Parses a JSON text. Each integer beyond 2^53 in an object or array becomes a {@link LargeInteger}.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (suspectNumber.test(text)) restoreLargeIntegers(value, JSON.parse(quoteLargeIntegers(text)));
  return value;
}

/** Returns a JSON text with each integer beyond 2^53 in quotes. */
function quoteLargeIntegers(text: string): string {
  let isInString = false;
  return text.replace(tokens, (token) => {
    if (token === '"') isInString = !isInString;
    else if (!isInString && /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)))
      return `"${token}"`;
    return token;
  });
}

/**
 * Replaces each number that is a string in another parse of its text. Uses an explicit stack instead of recursion: a
 * deeply nested text would overflow the call stack.
 */
function restoreLargeIntegers(value: unknown, quoted: unknown): void {
  const stack = [{ value, quoted }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    for (const [name, member] of Object.entries(at.value)) {
      const other: unknown = Reflect.get(at.quoted as object, name);
      if (typeof member === 'number' && typeof other === 'string') {
        Reflect.set(at.value, name, largeInteger(other));
      } else {
        stack.push({ value: member, quoted: other });
      }
    }
  }
}
