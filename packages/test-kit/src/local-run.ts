import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@leads/local-stack/processes/free-port';
import { repositoryRoot } from '@leads/local-stack/repository';
import { onTestFinished } from 'vitest';

/** What `npm start` runs once everything is built. */
export const startProgram = join(repositoryRoot, 'packages/local-stack/dist/start.js');
const discreet = join(repositoryRoot, 'packages/test-kit/dist/discreet-programs.js');

/** A run of it, as a child of the test. */
export interface LocalRun {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  /** What it says besides, a line an entry. */
  readonly stderr: () => string[];
  /** Settles when it has printed how to try it; fails when it ends before that. */
  readonly ready: Promise<void>;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Runs it; when the test is over, however, it is told to end. */
export function startRun(env: NodeJS.ProcessEnv, command?: readonly [string, ...string[]]): LocalRun {
  const run = launchRun(env, command);
  const { child, ended } = run;
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  });
  return run;
}

/** Runs it, until it is told to end. */
export function launchRun(
  env: NodeJS.ProcessEnv,
  command: readonly [string, ...string[]] = [process.execPath, '--import', discreet, startProgram],
): LocalRun {
  const { PATH, HOME } = process.env;
  const child = spawn(command[0], command.slice(1), { env: { PATH, HOME, ...env } });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.includes('Ctrl-C ends it')) resolve();
    });
    void ended.then((code) => reject(new Error(`It has ended (${code}): ${stderr}`)));
  });
  ready.catch(() => undefined);
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr.split('\n').filter((line) => line !== ''),
    ready,
    ended,
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
