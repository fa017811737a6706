import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Of the clock that /proc counts in: 100 a second on every Linux that Node runs on. */
const tickUs = 10_000;

/**
 * Processor time of a process, of all below it, and of those of them that have ended, in microseconds. Its steps are
 * 10 ms. NaN where there is no /proc.
 */
export function processorTimeUs(pid: number): number {
  const tree = readTree(pid);
  return tree.length === 0 ? Number.NaN : tree.reduce((sum, { ticks }) => sum + ticks, 0) * tickUs;
}

/** Begins anew with the highest resident memory, where the system allows it. */
export function resetPeakMemory(pid: number): void {
  for (const member of readTree(pid)) {
    try {
      writeFileSync(`/proc/${member.pid}/clear_refs`, '5');
    } catch {
      // Then it is the peak since the process started.
    }
  }
}

/** Resident memory of a process and of all below it, each at its highest, in bytes. NaN where there is no /proc. */
export function peakMemory(pid: number): number {
  const peaks = readTree(pid).map((member) => {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${member.pid}/status`) ?? '')?.[1];
    return Number(kib ?? 0) * 1024;
  });
  return peaks.length === 0 ? Number.NaN : peaks.reduce((sum, peak) => sum + peak, 0);
}

/** A process and all below it; where there is no /proc, itself alone. */
export function pidsOfTree(pid: number): number[] {
  const tree = readTree(pid).map((member) => member.pid);
  return tree.length === 0 ? [pid] : tree;
}

/** Sends a signal to a process and to all below it; where there is no /proc, to itself alone. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  for (const each of pidsOfTree(pid)) {
    try {
      process.kill(each, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

interface TreeProcess {
  readonly pid: number;
  readonly parent: number;
  /** Its own and of its ended children. */
  readonly ticks: number;
}

function readTree(root: number): TreeProcess[] {
  const all = readProcesses();
  const children = new Map<number, TreeProcess[]>();
  for (const one of all) children.set(one.parent, [...(children.get(one.parent) ?? []), one]);
  const tree: TreeProcess[] = [];
  const pending = all.filter(({ pid }) => pid === root);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    tree.push(next);
    pending.push(...(children.get(next.pid) ?? []));
  }
  return tree;
}

function readProcesses(): TreeProcess[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`);
      if (stat === undefined) return [];
      // The second field is the program's name in brackets, which may hold anything (proc_pid_stat(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      return [{ pid: Number(name), parent: Number(fields[1]), ticks }];
    });
}

/** @returns undefined for a process that has ended meanwhile. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
