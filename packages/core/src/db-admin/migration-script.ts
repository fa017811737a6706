/** The first line of a migration that cannot run in a transaction. */
const noTransaction = /^-- leads: no transaction[ \t]*(?:\r?\n|$)/;

/** Whether a migration is applied together with others, in one transaction, as all are that do not say otherwise. */
export function runsInTransaction(script: string): boolean {
  return !noTransaction.test(script);
}

/** What stands for itself in SQL: comments, quoted texts and names, bodies between dollars; else a single character. */
const tokens =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<![\w$])\$(\w*)\$[\s\S]*?\$\1\$|[\s\S]/g;

/**
 * The statements of a script, without comments: Postgres takes several that are sent at once for a transaction. It
 * knows neither comments within comments nor bodies between BEGIN ATOMIC and END.
 */
export function splitStatements(script: string): string[] {
  const statements = [''];
  for (const [token] of script.matchAll(tokens)) {
    if (token === ';') statements.push('');
    else statements[statements.length - 1] += /^(?:--|\/\*)/.test(token) ? ' ' : token;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}

/** Runs a migration's script: whole or, where it cannot be in a transaction, statement by statement. */
export async function runMigration(script: string, query: (sql: string) => Promise<unknown>): Promise<void> {
  if (runsInTransaction(script)) await query(script);
  else for (const statement of splitStatements(script)) await query(statement);
}
