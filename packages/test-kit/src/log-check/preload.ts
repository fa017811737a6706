import { watchLogs } from './watch-logs.ts';

/*
 * A module for Node's option `--import`, for programs that start services. The program exits with code 1 if the log of
 * a service contains confidential data.
 */

let isClean = true;
watchLogs((line) => {
  isClean = false;
  console.error(`Confidential data in a log line: ${line}`);
});
process.once('exit', () => {
  if (!isClean) process.exitCode = 1;
});
