import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const program = resolve(import.meta.dirname, '../dist/main.js');
const logCheck = resolve(import.meta.dirname, '../../test-kit/dist/log-check/preload.js');

/** Longer than any run takes, and shorter than the timeout of a test, which would not show the progress. */
const timeoutMs = 840_000;

/**
 * Runs the built bench.
 *
 * @param onProgress called with the lines of stderr.
 * @throws Error if it does not end, or if a service that it starts logs confidential data.
 */
export function runBench(
  args: string[],
  onProgress?: (lines: string) => void,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done, fail) => {
    const command = ['--import', logCheck, program, ...args];
    const options = { maxBuffer: 2 ** 24, timeout: timeoutMs };
    const bench = execFile(process.execPath, command, options, (error, stdout, stderr) => {
      if (error?.killed === true) fail(new Error(`The bench did not end in ${timeoutMs} ms:\n${stderr}`));
      else if (stderr.includes('Confidential data in a log line')) fail(new Error(stderr));
      else done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
    if (onProgress !== undefined) bench.stderr?.on('data', onProgress);
  });
}

/** Starts the built bench, with only stderr connected. */
export function startBench(args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}
