import pg from 'pg';

/** What node-postgres has and its types leave out (pg/lib/query.js, pg/lib/connection.js). */
interface Connection {
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string }): void;
  bind(values: { values: readonly string[] }): void;
  execute(portal: object): void;
}
interface ExtendedQuery extends pg.Submittable {
  name: string | undefined;
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
type Callback = (error: Error | null, result: pg.QueryResult) => void;
const Query = pg.Query as unknown as new (
  config: pg.QueryConfig & { queryMode: 'extended' },
  callback: Callback,
) => ExtendedQuery;

/** Without columns: its row tells nothing. */
const actFor = `SELECT FROM set_config('leads.workspace', $1, true)`;

/**
 * A statement behind another that says which workspace it is for. Both are sent at once, with one synchronisation at the
 * end, and so are one transaction: what was said ends with it, and the connection may be anyone's next.
 */
class ActingQuery extends Query {
  readonly #workspaceId: string;
  /** Its own name, while what is answered is the statement in front of it. */
  #name: string | undefined;
  #isSaid = false;

  constructor(workspaceId: string, config: pg.QueryConfig, callback: Callback) {
    super({ ...config, queryMode: 'extended' }, callback);
    this.#workspaceId = workspaceId;
  }

  override prepare(connection: Connection): void {
    connection.parse({ text: actFor });
    connection.bind({ values: [this.#workspaceId] });
    connection.execute({});
    super.prepare(connection);
    // The client takes what is parsed for the statement of the name that it finds here.
    this.#name = this.name;
    this.name = undefined;
  }

  override handleDataRow(message: unknown): void {
    if (this.#isSaid) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#isSaid) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.#isSaid = true;
    this.name = this.#name;
  }

  override handleError(error: Error, connection: Connection): void {
    if (!this.#isSaid && this.#name !== undefined) delete connection.submittedNamedStatements[this.#name];
    super.handleError(error, connection);
  }
}

/**
 * Runs a statement for a workspace, which is all that it sees where row-level security is on. One round trip.
 *
 * @throws the errors of `client.query`.
 */
export function queryFor(
  client: pg.ClientBase,
  workspaceId: string,
  config: pg.QueryConfig,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(
      new ActingQuery(workspaceId, config, (error, result) => {
        if (error) reject(error);
        else resolve(result);
      }),
    );
  });
}
