import { afterAll } from 'vitest';
import { watchPrograms } from './watch-programs.ts';

/*
 * Vitest's set-up of each test file: what the services and commands that it starts write fails it, where that is
 * indiscreet. The process is the next file's as well.
 */

const found: string[] = [];
const stopWatching = watchPrograms((line) => found.push(line));

afterAll(() => {
  stopWatching();
  if (found.length > 0) throw new Error(`Log lines hold what a caller sent:\n${found.join('\n')}`);
});
