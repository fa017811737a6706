import { execFile } from 'node:child_process';
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
