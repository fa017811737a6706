import pg from 'pg';

/** The parts of node-postgres that its types omit (pg/lib/query.js, pg/lib/connection.js). */
interface Connection {
  parse(statement: { text: string }): void;
  bind(values: { statement?: string; values: readonly string[] }): void;
  execute(portal: object): void;
}
interface ExtendedQuery extends pg.Submittable {
  values: readonly unknown[] | undefined;
  prepare(connection: Connection): void;
  _getRows(connection: Connection, rows: undefined): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
}
/** There are several results if the statement ran for several workspaces. */
type Callback = (error: Error | null, result: pg.QueryResult | pg.QueryResult[]) => void;
const Query = pg.Query as unknown as new (
  config: pg.QueryConfig & { queryMode: 'extended' },
  callback: Callback,
) => ExtendedQuery;

/** The statements that set the acting workspace until the end of the transaction. They return no columns. */
const acts = {
  plain: { name: 'act_for_workspace', text: `SELECT FROM set_config('leads.workspace', $1, true)` },
  /**
   * Also makes Postgres plan the next statement once on each connection. Otherwise, Postgres compares the plan for a
   * single row with the plan for any number of rows, and plans each change of one lead again. To plan it takes
   * 0.9 ms, and to run it 0.6 ms.
   */
  planningOnce: {
    name: 'act_with_kept_plans',
    text: `
      SELECT FROM set_config('leads.workspace', $1, true) AS workspace,
        set_config('plan_cache_mode', 'force_generic_plan', true) AS plan_cache_mode`,
  },
};

/** Prepares the statements that set the acting workspace. It must run once on each connection. */
export function prepareToAct(client: pg.ClientBase): Promise<unknown> {
  return Promise.all(Object.values(acts).map((act) => client.query({ ...act, values: [''] })));
}

/**
 * Sets the acting workspace of a transaction that has begun, until its end.
 *
 * @param isPrepared whether {@link prepareToAct} has run on the connection.
 */
export async function actInTransaction(
  client: pg.ClientBase,
  workspaceId: string,
  { isPrepared }: Pick<ActingOptions, 'isPrepared'>,
): Promise<void> {
  const { name, text } = acts.plain;
  await client.query({ ...(isPrepared && { name }), text, values: [workspaceId] });
}

/** An acting workspace, and the values of the statement that runs for it. */
export interface ActingTurn {
  readonly workspaceId: string;
  readonly values: readonly unknown[];
}

export interface ActingOptions {
  /** Whether the statement that sets the acting workspace is prepared on the connection. */
  readonly isPrepared: boolean;
  /** Whether Postgres keeps one plan for all values. Set it if the plan is the same for one row and for many. */
  readonly isPlannedOnce?: boolean | undefined;
}

/**
 * A statement that runs once for each of some workspaces, each time behind the one that sets the acting workspace. All are
 * sent at once, with one synchronization at the end, so they are one transaction (PostgreSQL, 54.2.4): the setting ends
 * with it.
 *
 * The documented alternative is three pipelined queries: `BEGIN` with the setting, the statement, and `COMMIT`. They take
 * 1.6 times the processor time, 156 instead of 97 us for two rows, since each is written, read and answered separately.
 */
class ActingQuery extends Query {
  readonly #turns: readonly ActingTurn[];
  readonly #act: (typeof acts)['plain'];
  readonly #isPrepared: boolean;
  #isActing = false;
  #isLast = false;

  constructor(
    turns: readonly ActingTurn[],
    config: pg.QueryConfig,
    { isPrepared, isPlannedOnce }: ActingOptions,
    callback: Callback,
  ) {
    // The values of the first turn are set at once for observers of the client, such as tests that explain statements.
    super({ ...config, values: [...(turns[0]?.values ?? [])], queryMode: 'extended' }, callback);
    this.#turns = turns;
    this.#act = isPlannedOnce === true ? acts.planningOnce : acts.plain;
    this.#isPrepared = isPrepared;
  }

  override prepare(connection: Connection): void {
    for (const turn of this.#turns) {
      if (this.#isPrepared) connection.bind({ statement: this.#act.name, values: [turn.workspaceId] });
      else {
        connection.parse({ text: this.#act.text });
        connection.bind({ values: [turn.workspaceId] });
      }
      connection.execute({});
      this.values = turn.values;
      this.#isLast = turn === this.#turns.at(-1);
      super.prepare(connection);
    }
  }

  override _getRows(connection: Connection, rows: undefined): void {
    // The original also ends the transaction.
    if (this.#isLast) super._getRows(connection, rows);
    else connection.execute({});
  }

  override handleDataRow(message: unknown): void {
    if (this.#isActing) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#isActing) super.handleCommandComplete(message, connection);
    this.#isActing = !this.#isActing;
  }
}

/**
 * Runs a statement for each of some workspaces, in order and in one transaction. Under row-level security, it sees no rows
 * of other workspaces each time. It takes one round trip. PgBouncer in transaction mode sends it to one server.
 *
 * @param turns at least one.
 * @param config the statement without values.
 * @param isPrepared whether {@link prepareToAct} has run on the connection.
 * @returns the rows of each turn.
 * @throws the errors of `client.query`.
 */
export function queryInWorkspaces<Row>(
  client: pg.ClientBase,
  turns: readonly ActingTurn[],
  config: pg.QueryConfig,
  options: ActingOptions,
): Promise<Row[][]> {
  return new Promise((resolve, reject) => {
    client.query(
      new ActingQuery(turns, config, options, (error, result) => {
        if (error) reject(error);
        else resolve([result].flat().map(({ rows }) => rows as Row[]));
      }),
    );
  });
}
