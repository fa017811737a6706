import { linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';
import { postgresStopSignals } from './processes/postmaster-pid.ts';
import { endProcess, processStart, type StopSignals } from './processes/process-identity.ts';

const serviceStopSignals: StopSignals = [
  ['SIGTERM', 15_000],
  ['SIGKILL', 15_000],
];

/** A process, told from a later one of the same pid by when it began. */
interface KnownProcess {
  readonly name: string;
  readonly pid: number;
  readonly start: string | undefined;
}

interface LockContent {
  readonly owner: KnownProcess;
  /** What the owner has started. */
  readonly processes: readonly KnownProcess[];
}

/** Held by the one run that works on a data directory. */
export interface StartLock {
  /** Remembers a process of this run, so that the next run can end it should this one be killed. */
  record(name: string, pid: number): void;
  release(): void;
}

/**
 * Refuses while another run works on the data directory; ends what a killed run has left behind.
 *
 * @param onNotice hears of a killed run, in one line.
 * @throws Error that names the other run's pid.
 */
export async function clearStaleLock(dataDir: string, onNotice: (line: string) => void): Promise<void> {
  const text = readFileIfThere(lockFile(dataDir));
  if (text === undefined) return;
  const content = parse(text);
  if (content !== undefined && isRunning(content.owner)) throw alreadyRunning(content.owner.pid);

  const orphans = content?.processes.filter(isRunning) ?? [];
  const found = orphans.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ');
  const owner = content === undefined ? '' : ` (pid ${content.owner.pid})`;
  onNotice(
    `An earlier run${owner} was killed: ${found === '' ? 'its lock is removed' : `stopping what it left, ${found}`}`,
  );
  for (const { name, pid } of orphans) {
    await endProcess(pid, name === 'postgres' ? postgresStopSignals : serviceStopSignals);
  }

  // Two new runs may both have found the stale lock: only the file that was read goes, not a newer one.
  const aside = `${lockFile(dataDir)}.${process.pid}`;
  renameSync(lockFile(dataDir), aside);
  if (readFileIfThere(aside) !== text) linkSync(aside, lockFile(dataDir));
  rmSync(aside, { force: true });
}

/** @throws Error that names the pid of the run that has it. */
export function takeLock(dataDir: string): StartLock {
  const file = lockFile(dataDir);
  const self = { name: 'start', pid: process.pid, start: processStart(process.pid) };
  const processes: KnownProcess[] = [];
  const content = () => JSON.stringify({ owner: self, processes } satisfies LockContent);

  // Linked, not created: whoever finds the file finds all of its content.
  const staging = `${file}.new-${process.pid}`;
  writePrivateFile(staging, content());
  try {
    linkSync(staging, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw alreadyRunning(parse(readFileIfThere(file) ?? '')?.owner.pid);
  } finally {
    rmSync(staging);
  }
  return {
    record(name, pid) {
      processes.push({ name, pid, start: processStart(pid) });
      writePrivateFile(file, content());
    },
    release: () => rmSync(file, { force: true }),
  };
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'start.lock');
}

function parse(text: string): LockContent | undefined {
  try {
    return JSON.parse(text) as LockContent;
  } catch {
    return undefined;
  }
}

function isRunning({ pid, start }: KnownProcess): boolean {
  return start !== undefined && processStart(pid) === start;
}

function alreadyRunning(pid: number | undefined): Error {
  return new Error(
    `Another run works on this data (pid ${pid ?? 'unknown'}): end it first, or give this one a LEADS_DATA_DIR, ` +
      'CRM_PORT and INTAKE_PORT of its own',
  );
}
