import { mentionsFullDisk } from './disk-full.ts';

/**
 * Returns a one-line reason why a Postgres program failed.
 *
 * @param log the output of the program.
 * @param facts.port the port that the server was to listen on.
 * @returns undefined if the log contains no reason.
 */
export function postgresFailure(log: string, facts: { dataDir: string; port?: number }): string | undefined {
  if (mentionsFullDisk(log)) {
    return `No space left on device: Postgres cannot write to ${facts.dataDir}`;
  }
  if (/could not bind .*address already in use/i.test(log)) {
    return `Port ${facts.port ?? ''} is in use: Postgres cannot listen on it`;
  }
  const version =
    /initialized by PostgreSQL version (\S+), which is not compatible with this version (\S+)\./.exec(log);
  if (version !== null) {
    return (
      `${facts.dataDir} was created by Postgres ${version[1]}, but this is Postgres ${version[2]}: ` +
      'move it elsewhere to start with an empty database'
    );
  }
  const fatal = log
    .split('\n')
    .findLast((line) => /\b(FATAL|PANIC|error):/.test(line) && !/the database system is/.test(line));
  return fatal === undefined ? undefined : `Postgres: ${fatal.replace(/^.*?\b(FATAL|PANIC|error):\s*/, '')}`;
}
