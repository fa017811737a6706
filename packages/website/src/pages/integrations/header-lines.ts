/** Matches one line of the headers field. */
const line = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/;

/**
 * Parses lines such as `X-Key: secret`. Returns `undefined` if a line has another form, or the name of an earlier line. Empty
 * lines are ignored.
 */
export function parseHeaderLines(text: string): Record<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const each of text.split('\n')) {
    if (each.trim() === '') continue;
    const [, name, value] = line.exec(each) ?? [];
    if (name === undefined || value === undefined || headers.has(name)) return undefined;
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}
