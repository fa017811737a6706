/** Matches a number of 16 digits or more, as 2^53 has, or with an exponent. It may be in a string. */
const suspectNumber = /[:[,]\s*-?(?:\d{16}|[\d.]+[eE])/;
/** Matches an escape, the beginning or end of a string, or a number. In a string, it also matches digits. */
const tokens = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * A number of a JSON text that a JavaScript number would change: an integer beyond 2^53, or a number that would become
 * infinite or zero. Its JSON is its text. It is a function, because a schema of any JSON type rejects a function.
 */
type NumberText = () => string;

function numberText(text: string): NumberText {
  return Object.assign(() => text, { toJSON: () => text });
}

/**
 * Parses a JSON text. Each number in an object or array that would change becomes a {@link NumberText}.
 *
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (suspectNumber.test(text)) restoreNumbers(value, JSON.parse(quoteNumbers(text)));
  return value;
}

/** Returns a JSON text with each number that would change in quotes. */
function quoteNumbers(text: string): string {
  let isInString = false;
  return text.replace(tokens, (token) => {
    if (token === '"') isInString = !isInString;
    else if (!isInString && /^-?\d/.test(token) && isChanged(token)) return `"${token}"`;
    return token;
  });
}

/** Whether a number of a JSON text is another number in JavaScript. Rounded decimals do not count. */
function isChanged(token: string): boolean {
  const value = Number(token);
  if (/^-?\d+$/.test(token)) return !Number.isSafeInteger(value);
  return !Number.isFinite(value) || (value === 0 && /^[-0.]*[1-9]/.test(token));
}

/**
 * Replaces each number that is a string in another parse of its text. Uses an explicit stack instead of recursion: a
 * deeply nested text would overflow the call stack.
 */
function restoreNumbers(value: unknown, quoted: unknown): void {
  const stack = [{ value, quoted }];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    for (const [name, member] of Object.entries(at.value)) {
      const other: unknown = Reflect.get(at.quoted as object, name);
      if (typeof member === 'number' && typeof other === 'string') {
        Reflect.set(at.value, name, numberText(other));
      } else {
        stack.push({ value: member, quoted: other });
      }
    }
  }
}
