/** The first line of a migration that cannot run in a transaction. */
const noTransaction = /^-- leads: no transaction[ \t]*(?:\r?\n|$)/;

/** Returns whether a migration shares a transaction with others, which is the default. */
export function runsInTransaction(script: string): boolean {
  return !noTransaction.test(script);
}

/** Matches a token that can contain a semicolon (comment, quoted text or name, dollar-quoted body), or one character. */
const tokens =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w$])\$(\w*)\$[\s\S]*?\$\1\$|[\s\S]/g;

/**
 * Splits a script into its statements, without comments. Several statements sent at once would share a transaction.
 * Nested comments and BEGIN ATOMIC bodies are not supported.
 */
export function splitStatements(script: string): string[] {
  const statements = [''];
  for (const [token] of script.matchAll(tokens)) {
    if (token === ';') statements.push('');
    else statements[statements.length - 1] += /^(?:--|\/\*)/.test(token) ? ' ' : token;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
