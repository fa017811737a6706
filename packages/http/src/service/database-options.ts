/** The Postgres settings of both services. */
interface DatabaseSettings {
  readonly DATABASE_URL: string;
  readonly DATABASE_POOL_SIZE: number;
  readonly DATABASE_CONNECT_TIMEOUT_MS: number;
  readonly DATABASE_STATEMENT_TIMEOUT_MS: number;
  readonly DATABASE_PREPARED_STATEMENTS: boolean;
}

/**
 * Returns the options of `openDatabase` for the settings of a service.
 *
 * @param applicationName shown in `pg_stat_activity`.
 */
export const databaseOptions = (settings: DatabaseSettings, applicationName: string) => ({
  url: settings.DATABASE_URL,
  poolSize: settings.DATABASE_POOL_SIZE,
  connectTimeoutMs: settings.DATABASE_CONNECT_TIMEOUT_MS,
  statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
  preparedStatements: settings.DATABASE_PREPARED_STATEMENTS,
  applicationName,
});
