import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pidsOfTree } from '../process-tree.ts';

/** Moves a process and its descendants to a core of their own. Processes that they start later stay there, too. */
export type MoveToOwnCore = (pid: number) => void;

/**
 * Takes one core away from this process and from all processes that it starts from now on. Only the returned function
 * moves processes to that core.
 *
 * @throws Error without Linux, `taskset` or a second core.
 */
export function reserveCore(): MoveToOwnCore {
  const cores = allowedCores();
  const own = cores.pop();
  if (own === undefined || cores.length === 0) throw new Error('--own-core needs Linux and 2 cores or more');
  runOn(process.pid, cores.join());
  return (pid) => {
    for (const member of pidsOfTree(pid)) runOn(member, String(own));
  };
}

/** Sets the cores of all threads of a process. */
function runOn(pid: number, cores: string): void {
  try {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdio: 'pipe' });
  } catch (error) {
    throw new Error('--own-core needs taskset of util-linux', { cause: error });
  }
}

/** Returns the cores of this process, such as 0, 1 and 4 for `0-1,4` (proc_pid_status(5)). */
function allowedCores(): number[] {
  if (process.platform !== 'linux') return [];
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}
