import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The clock of /proc has 100 ticks per second on every Linux that Node supports. */
const tickUs = 10_000;

/**
 * Returns the processor time of a process, its descendants and their ended children, in microseconds. The resolution
 * is 10 ms. NaN without /proc.
 */
export function processorTimeUs(pid: number): number {
  const tree = readTree(pid);
  return tree.length === 0 ? Number.NaN : tree.reduce((sum, { ticks }) => sum + ticks, 0) * tickUs;
}

/**
 * Runs `work`, and measures the processor time of processes meanwhile.
 *
 * @returns the result of `work`, and the time of each process in microseconds, as {@link processorTimeUs} returns it.
 */
export async function withProcessorTime<Name extends string, Result>(
  processes: Readonly<Record<Name, { readonly pid: number }>>,
  work: () => Promise<Result>,
): Promise<{ result: Result; processorUs: Record<Name, number> }> {
  const names = Object.keys(processes) as Name[];
  const before = names.map((name) => processorTimeUs(processes[name].pid));
  const result = await work();
  const used = names.map((name, at) => [
    name,
    processorTimeUs(processes[name].pid) - (before[at] ?? Number.NaN),
  ]);
  return { result, processorUs: Object.fromEntries(used) as Record<Name, number> };
}

/** Resets the maximum of resident memory, if the system permits it. */
export function resetMaxMemory(pid: number): void {
  for (const member of readTree(pid)) {
    try {
      writeFileSync(`/proc/${member.pid}/clear_refs`, '5');
    } catch {
      // The maximum then includes the time since the start of the process.
    }
  }
}

/** Returns the sum of the maximum resident memory of a process and its descendants, in MB. NaN without /proc. */
export function maxMemoryMb(pid: number): number {
  const maxima = readTree(pid).map((member) => {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readIfThere(`/proc/${member.pid}/status`) ?? '')?.[1];
    return Number(kib ?? 0) * 1.024e-3;
  });
  return maxima.length === 0 ? Number.NaN : maxima.reduce((sum, megabytes) => sum + megabytes, 0);
}

/** Returns the pids of a process and its descendants; without /proc only the process itself. */
export function pidsOfTree(pid: number): number[] {
  const tree = readTree(pid).map((member) => member.pid);
  return tree.length === 0 ? [pid] : tree;
}

/** Sends a signal to a process and its descendants. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  for (const member of pidsOfTree(pid)) {
    try {
      process.kill(member, signal);
    } catch {
      // The process has ended.
    }
  }
}

interface TreeProcess {
  readonly pid: number;
  readonly parent: number;
  /** Processor time of the process and of its ended children. */
  readonly ticks: number;
}

function readTree(root: number): TreeProcess[] {
  const all = readProcesses();
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

function readProcesses(): TreeProcess[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readIfThere(`/proc/${name}/stat`);
      if (stat === undefined) return [];
      // The second field is the program's name in parentheses, which may contain spaces and parentheses
      // (proc_pid_stat(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
    });
}

/** Reads a file of /proc. Returns undefined if the process has ended. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
