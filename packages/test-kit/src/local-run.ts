import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type SupervisedProcess, startProcess } from '@leads/local-stack/processes/supervisor';
import { repositoryRoot } from '@leads/local-stack/repository';
import { onTestFinished } from 'vitest';

/** What `npm start` runs once everything is built. */
export const startProgram = join(repositoryRoot, 'packages/local-stack/dist/start.js');
/** Longer than the start program takes to stop its own processes. */
const stopTimeoutMs = 120_000;
const logCheck = join(repositoryRoot, 'packages/test-kit/dist/log-check/preload.js');

/** A run of the start program. */
export interface LocalRun {
  readonly process: SupervisedProcess;
  readonly stdout: () => string;
  /** Returns the lines of stderr. */
  readonly stderr: () => string[];
  /** Settles when the program has printed its greeting; rejects if it ends before that. */
  readonly ready: Promise<void>;
  /** The exit code, or the signal that ended the program. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Runs the start program, and stops it when the test is over. */
export function startRun(env: NodeJS.ProcessEnv, command?: readonly [string, ...string[]]): LocalRun {
  const run = launchRun(env, command);
  onTestFinished(() => run.process.stop());
  return run;
}

/** Runs the start program until it is stopped. */
export function launchRun(
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

/** A data directory and ports that nobody else uses, as an environment. */
export async function freshEnvironment() {
  const directory = mkdtempSync(join(tmpdir(), 'leads-start-test-'));
  const dataDir = join(directory, 'data');
  onTestFinished(() => {
    // A test that fails may leave what it was to show that nothing is left of.
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

/** The processes that run on this data directory: every one inherits the variable that names it. Linux only. */
export function processesOf(dataDir: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      // An ended process that nobody has waited for yet has an empty environment.
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`LEADS_DATA_DIR=${dataDir}`);
    } catch {
      return false;
    }
  });
}

/** The printed lines to paste, in order. */
export function curlLines(stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.startsWith('curl '));
}

/** Pastes a line into a shell; what comes back is JSON. */
export function paste(line: string): unknown {
  return JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' }));
}
