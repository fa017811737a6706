import { afterAll } from 'vitest';
import { watchLogs } from './watch-logs.ts';

/*
 * A setup file of Vitest. A test file fails if the log of a service or command that it starts contains
 * confidential data. The next test file runs in the same process, so the check ends with the file.
 */

const found: string[] = [];
const stopWatching = watchLogs((line) => found.push(line));

afterAll(() => {
  stopWatching();
  if (found.length > 0) throw new Error(`Confidential data in log lines:\n${found.join('\n')}`);
});
