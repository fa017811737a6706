import { linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readFileIfThere, writePrivateFile } from './private-file.ts';
import { postgresStopSignals } from './processes/postmaster-pid.ts';
import { endProcess, processStart, type StopSignals } from './processes/process-identity.ts';

const serviceStopSignals: StopSignals = [
  ['SIGTERM', 15_000],
  ['SIGKILL', 15_000],
];

/** A process. `start` distinguishes it from a later process with the same pid. */
interface KnownProcess {
  readonly name: string;
  readonly pid: number;
  readonly start: string | undefined;
}

interface LockContent {
  readonly owner: KnownProcess;
  /** The processes that the owner started. */
  readonly processes: readonly KnownProcess[];
}

/** The lock of the one run that uses a data directory. */
export interface StartLock {
  /** Records a process of this run. If this run is killed, the next run stops the process. */
  record(name: string, pid: number): void;
  release(): void;
}

/**
 * Rejects if another run uses the data directory. Stops the remaining processes of a killed run.
 *
 * @param onNotice called with one line if an earlier run was killed.
 * @throws Error that names the pid of the other run.
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
    `An earlier run${owner} was killed: ${found === '' ? 'its lock is removed' : `stopping its remaining processes, ${found}`}`,
  );
  for (const { name, pid } of orphans) {
    await endProcess(pid, name === 'postgres' ? postgresStopSignals : serviceStopSignals);
  }

  // Two new runs may both have found the stale lock. Only the file that was read is removed, not a newer one.
  const aside = `${lockFile(dataDir)}.${process.pid}`;
  renameSync(lockFile(dataDir), aside);
  if (readFileIfThere(aside) !== text) linkSync(aside, lockFile(dataDir));
  rmSync(aside, { force: true });
}

/**
 * Takes the lock of a data directory.
 *
 * @throws Error that names the pid of the run that holds the lock.
 */
export function takeLock(dataDir: string): StartLock {
  const file = lockFile(dataDir);
  const self = { name: 'start', pid: process.pid, start: processStart(process.pid) };
  const processes: KnownProcess[] = [];
  const content = () => JSON.stringify({ owner: self, processes } satisfies LockContent);

  // A link, because a created file is visible before its content is written.
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
    `Another run uses this data directory (pid ${pid ?? 'unknown'}): end it first, or set another LEADS_DATA_DIR, ` +
      'CRM_PORT and INTAKE_PORT for this run',
  );
}
