import { isOutage, LeadsError } from './errors.ts';

/** The migration state of a database. */
export interface MigratedDatabase {
  /** The newest migration of this release. */
  readonly newestMigration: string;
  /** @throws LeadsError `unavailable` if the database does not answer. */
  hasNewestMigration(): Promise<boolean>;
}

/** Checks whether the database has all migrations that this release needs. It may have more. */
export class SchemaCheck {
  readonly #database: MigratedDatabase;
  readonly #onBehind: (migration: string, cause: unknown) => void;
  readonly #onCurrent: () => void;
  #state: 'unknown' | 'behind' | 'current' = 'unknown';

  /**
   * @param options.onBehind is called when the database is first found to lack `migration`, or the query failed with `cause`.
   * @param options.onCurrent is called when a database that was behind has all migrations.
   */
  constructor(
    database: MigratedDatabase,
    options: { onBehind: (migration: string, cause: unknown) => void; onCurrent: () => void },
  ) {
    this.#database = database;
    this.#onBehind = options.onBehind;
    this.#onCurrent = options.onCurrent;
  }

  /**
   * Queries the database until it has all migrations. After that it does not query again, because migrations are never
   * removed.
   *
   * @throws LeadsError `unavailable` if the database is behind. An outage is ignored, because the state is then unknown.
   */
  async check(): Promise<void> {
    if (this.#state === 'current') return;
    const before = this.#state;
    let cause: unknown;
    try {
      this.#state = (await this.#database.hasNewestMigration()) ? 'current' : 'behind';
    } catch (error) {
      if (!isOutage(error)) this.#state = 'behind';
      cause = error;
    }
    if (this.#state === 'behind' && before !== 'behind')
      this.#onBehind(this.#database.newestMigration, cause);
    if (this.#state === 'current' && before === 'behind') this.#onCurrent();
    if (this.#state === 'behind') throw new LeadsError('unavailable', { cause });
  }
}
