import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * When a process began, as opaque text: together with its pid it names one process for good, although pids are
 * used again. A process that has ended but was not yet reaped counts as ended.
 *
 * @returns undefined when no such process runs.
 */
export function processStart(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux': {
      const stat = readProc(`${pid}/stat`);
      // The command's name, in brackets, may itself hold brackets and blanks: the fields begin after the last.
      const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return `${readProc('sys/kernel/random/boot_id')?.trim()} ${fields[19]}`;
    }
    case 'win32':
      return ask('powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.Ticks`]);
    default:
      return ask('ps', ['-o', 'lstart=', '-p', String(pid)]);
  }
}

/** The command line of a running process, its arguments separated by blanks; undefined when none runs. */
export function commandLine(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux':
      return readProc(`${pid}/cmdline`)?.replaceAll('\0', ' ').trim() || undefined;
    case 'win32': {
      const query = `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`;
      return ask('powershell', ['-NoProfile', '-Command', query]);
    }
    default:
      return ask('ps', ['-ww', '-o', 'args=', '-p', String(pid)]);
  }
}

/** Waits until a process, which need not be a child of this one, has ended; false when `timeoutMs` was too short. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const start = processStart(pid);
  const deadline = Date.now() + timeoutMs;
  while (start !== undefined && processStart(pid) === start) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

/** Sends a signal; a process that has ended already is no error. A negative pid names a process group. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return undefined;
  }
}

function ask(command: string, args: string[]): string | undefined {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout?.trim() || undefined;
}
