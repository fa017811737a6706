/**
 * The bounds of `extra`: keys, bytes of its JSON text in UTF-8 with numbers written without exponents, and levels of nesting
 * in a value.
 */
export const extraBounds = { keys: 32, bytes: 8 * 1024, depth: 32 } as const;

/**
 * Keeps the fields of a body that its schema does not name, in the order sent. A field beyond {@link extraBounds} is
 * dropped and never causes a rejection of the lead. An integer beyond 2^53 is kept as a text of its digits.
 *
 * @returns the JSON text of the kept fields (`undefined` if there are none), and the number of dropped keys.
 */
export function keepExtra(
  body: object,
  named: ReadonlySet<string>,
): { json: string | undefined; leftOut: number } {
  const members: string[] = [];
  // Two braces, minus one, because each member counts a comma and the last member has none.
  let bytes = 1;
  let leftOut = 0;
  for (const key of Object.keys(body)) {
    if (named.has(key)) continue;
    const value: unknown = Reflect.get(body, key);
    if (members.length >= extraBounds.keys || !isShallow(value, extraBounds.depth)) {
      leftOut += 1;
      continue;
    }
    const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
    const size = Buffer.byteLength(member) + digitsForExponents(value) + 1;
    if (bytes + size > extraBounds.bytes) {
      leftOut += 1;
      continue;
    }
    bytes += size;
    members.push(member);
  }
  return { json: members.length === 0 ? undefined : `{${members.join(',')}}`, leftOut };
}

/**
 * Returns whether a value has at most `depth` levels. Without this check, JSON.stringify overflows the stack on a
 * hostile body.
 */
function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((item) => isShallow(item, depth - 1));
}

/**
 * Returns the digits that Postgres adds to a value, because it stores the numbers of a JSON text without exponents. A text of
 * 1e-300 has 6 characters, and its stored form has 302. The result is up to 4 digits too large for each such number.
 */
function digitsForExponents(value: unknown): number {
  if (typeof value === 'number') return Math.abs(Number(String(value).split('e')[1] ?? 0));
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, item: unknown) => sum + digitsForExponents(item), 0);
}
