import { afterAll, vi } from 'vitest';
import { watchPrograms } from './testing/watch-programs.ts';

/*
 * Vitest's set-up of each test file: what the services and commands that it starts write fails it, where that is
 * indiscreet. The process is the next file's as well, which finds the clock as it is.
 */

const found: string[] = [];
const stopWatching = watchPrograms((line) => found.push(line));

afterAll(() => {
  stopWatching();
  vi.useRealTimers();
  if (found.length > 0) throw new Error(`Log lines hold what a caller sent:\n${found.join('\n')}`);
});
