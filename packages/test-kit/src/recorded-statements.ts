import pg from 'pg';

export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/**
 * Records the statements that this process sends to Postgres while `act` runs.
 *
 * @param matching selects the statements.
 */
export async function recordStatements(matching: RegExp, act: () => Promise<unknown>): Promise<Statement[]> {
  const recorded: Statement[] = [];
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [first, values] = args as [string | { text?: string; values?: unknown[] }, unknown[]?];
    const text = typeof first === 'string' ? first : first.text;
    if (text !== undefined && matching.test(text)) {
      recorded.push({ text, values: (typeof first === 'string' ? values : (first.values ?? values)) ?? [] });
    }
    return query.apply(this, args);
  };
  try {
    await act();
  } finally {
    prototype.query = query;
  }
  return recorded;
}
