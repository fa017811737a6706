import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns the start time of a process, as opaque text. With the pid it identifies the process, since pids are
 * reused.
 *
 * @returns undefined if no such process runs. A process that has ended but is not yet reaped does not run.
 */
export function processStart(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux': {
      const stat = readProc(`${pid}/stat`);
      // The command name in parentheses may contain parentheses and spaces, so the fields begin after the
      // last parenthesis.
      const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return `${readProc('sys/kernel/random/boot_id')?.trim()} ${fields[19]}`;
    }
    case 'win32':
      return queryCommand('powershell', [
        '-NoProfile',
        '-Command',
        `(Get-Process -Id ${pid}).StartTime.Ticks`,
      ]);
    default:
      return queryCommand('ps', ['-o', 'lstart=', '-p', String(pid)]);
  }
}

/**
 * Returns the command line of a process, with spaces between its arguments; undefined if no such process
 * runs.
 */
export function commandLine(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux':
      return readProc(`${pid}/cmdline`)?.replaceAll('\0', ' ').trim() || undefined;
    case 'win32': {
      const query = `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`;
      return queryCommand('powershell', ['-NoProfile', '-Command', query]);
    }
    default:
      return queryCommand('ps', ['-ww', '-o', 'args=', '-p', String(pid)]);
  }
}

/** Waits until a process, which may not be a child of this one, has ended. Returns false on a timeout. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const start = processStart(pid);
  const deadline = Date.now() + timeoutMs;
  while (start !== undefined && processStart(pid) === start) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

/** Sends a signal. A process that has ended is no error. A negative pid names a process group. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Signals that ask a process to end, each with the time to wait for the end. */
export type StopSignals = readonly (readonly [signal: NodeJS.Signals, timeoutMs: number])[];

/** Ends a process, which may not be a child of this one. Returns whether it has ended. */
export async function endProcess(pid: number, signals: StopSignals): Promise<boolean> {
  for (const [signal, timeoutMs] of signals) {
    signalProcess(pid, signal);
    if (await waitForEnd(pid, timeoutMs)) return true;
  }
  return false;
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return undefined;
  }
}

function queryCommand(command: string, args: string[]): string | undefined {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout?.trim() || undefined;
}
