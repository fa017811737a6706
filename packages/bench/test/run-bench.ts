import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const program = resolve(import.meta.dirname, '../dist/main.js');

/** Runs the built bench. */
export function runBench(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** Starts the built bench, of which only what it writes on stderr is looked at. */
export function startBench(args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}
