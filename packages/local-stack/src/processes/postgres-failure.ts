import { saysDiskFull } from './disk-full.ts';

/**
 * Says in one line why a program of Postgres failed.
 *
 * @param log what the program wrote.
 * @param facts.port the port it was to listen on, where it was.
 * @returns undefined when the log does not say.
 */
export function postgresFailure(log: string, facts: { dataDir: string; port?: number }): string | undefined {
  if (saysDiskFull(log)) {
    return `No space left on device: Postgres cannot write to ${facts.dataDir}`;
  }
  if (/could not bind .*address already in use/i.test(log)) {
    return `Port ${facts.port ?? ''} is in use: Postgres cannot listen on it`;
  }
  const version =
    /initialized by PostgreSQL version (\S+), which is not compatible with this version (\S+)\./.exec(log);
  if (version !== null) {
    return (
      `${facts.dataDir} was made by Postgres ${version[1]}, this is Postgres ${version[2]}: ` +
      'move it away to start with an empty database'
    );
  }
  const fatal = log
    .split('\n')
    .findLast((line) => /\b(FATAL|PANIC|error):/.test(line) && !/the database system is/.test(line));
  return fatal === undefined ? undefined : `Postgres: ${fatal.replace(/^.*?\b(FATAL|PANIC|error):\s*/, '')}`;
}
