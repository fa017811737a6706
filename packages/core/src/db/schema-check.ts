import { isOutage, LeadsError } from '../errors.ts';
import type { Database } from './client.ts';
import { DatabaseError } from './database-error.ts';
import { newestMigration } from './generated/newest-migration.ts';

const undefinedTable = '42P01';

type OnBehind = (migration: string, cause: unknown) => void;

/** Finds out whether the database has all migrations that this release needs. It may have more. */
export class SchemaCheck {
  readonly #database: Database;
  readonly #onBehind: OnBehind;
  readonly #onLevel: () => void;
  #state: 'unknown' | 'behind' | 'level' = 'unknown';

  /**
   * @param options.onBehind hears once which migration the database lacks, or why that cannot be told.
   * @param options.onLevel hears of a database that was behind, and is not any more.
   */
  constructor(database: Database, options: { onBehind: OnBehind; onLevel: () => void }) {
    this.#database = database;
    this.#onBehind = options.onBehind;
    this.#onLevel = options.onLevel;
  }

  /**
   * Asks until it has seen them, and then no more: what is applied stays.
   *
   * @throws LeadsError `unavailable` where the database is behind; not where it is away, and nobody can tell.
   */
  async check(): Promise<void> {
    if (this.#state === 'level') return;
    const before = this.#state;
    let cause: unknown;
    try {
      this.#state = (await this.#isLevel()) ? 'level' : 'behind';
    } catch (error) {
      if (!isOutage(error)) this.#state = 'behind';
      cause = error;
    }
    if (this.#state === 'behind' && before !== 'behind') this.#onBehind(newestMigration, cause);
    if (this.#state === 'level' && before === 'behind') this.#onLevel();
    if (this.#state === 'behind') throw new LeadsError('unavailable', { cause });
  }

  async #isLevel(): Promise<boolean> {
    try {
      const rows = await this.#database.prisma.$queryRaw<unknown[]>`
        SELECT FROM _prisma_migrations WHERE migration_name = ${newestMigration} AND finished_at IS NOT NULL`;
      return rows.length > 0;
    } catch (error) {
      if (error instanceof DatabaseError && error.sqlState === undefinedTable) return false;
      throw error;
    }
  }
}
