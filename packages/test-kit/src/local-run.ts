import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { onTestFinished } from 'vitest';

/** The built program that `npm start` runs. */
export const startProgram = join(repositoryRoot, 'packages/local-stack/dist/start.js');
/** The start program needs less time to stop its own processes. */
const stopTimeoutMs = 120_000;
/** A module that ends a process whose services log confidential data. */
export const logCheck = join(repositoryRoot, 'packages/test-kit/dist/log-check/preload.js');

/** A run of the start program. */
export interface LocalRun {
  readonly process: SupervisedProcess;
  readonly stdout: () => string;
  /** Returns the lines of stderr. */
  readonly stderr: () => string[];
  /** Settles when the program has printed its startup message; rejects if it ends before that. */
  readonly ready: Promise<void>;
  /** The exit code, or the signal that ended the program. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Runs the start program, and stops it after the test. */
export function startRun(
  env: NodeJS.ProcessEnv,
  [file, ...args]: readonly [string, ...string[]] = [process.execPath, '--import', logCheck, startProgram],
): LocalRun {
  const { PATH, HOME } = process.env;
  const run = startProcess({
    name: 'start',
    file,
    args,
    env: { PATH, HOME, ...env },
    stopSignals: [['SIGTERM', stopTimeoutMs]],
  });
  onTestFinished(() => run.stop());
  const stdout = () => run.output('stdout');
  const ready = run.waitUntilReady(() => stdout().includes('Ctrl-C ends it'), Number.POSITIVE_INFINITY);
  // A test may end the run before it is ready.
  ready.catch(() => undefined);
  return {
    process: run,
    stdout,
    stderr: () =>
      run
        .output('stderr')
        .split('\n')
        .filter((line) => line !== ''),
    ready,
    ended: run.exited.then(({ code, signal }) => signal ?? code),
  };
}

/** Creates an environment with an unused data directory and free ports. */
export async function freshEnvironment() {
  const directory = mkdtempSync(join(tmpdir(), 'leads-start-test-'));
  const dataDir = join(directory, 'data');
  onTestFinished(() => {
    // A test that fails may leave processes running.
    for (const pid of processesOf(dataDir)) process.kill(Number(pid), 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    dataDir,
    env: {
      LEADS_DATA_DIR: dataDir,
      CRM_PORT: String(await freePort()),
      INTAKE_PORT: String(await freePort()),
    },
  };
}

/**
 * Returns the processes of a data directory: each inherits the variable that names the directory. Linux only.
 */
export function processesOf(dataDir: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      // A process that has ended but is not yet reaped has an empty environment.
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`LEADS_DATA_DIR=${dataDir}`);
    } catch {
      return false;
    }
  });
}

/** Returns the printed curl commands, in order. */
export function curlLines(stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.startsWith('curl '));
}

/** Runs a command in a shell and parses its JSON output. */
export function runCurlLine(line: string): unknown {
  return JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' }));
}
