import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { clearStaleLock, takeLock } from './lock.ts';
import { processStart, waitForEnd } from './processes/process-identity.ts';

let dataDir: string;
let file: string;
let notices: string[];
const notice = (line: string) => notices.push(line);

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'leads-lock-test-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  file = join(dataDir, 'start.lock');
  notices = [];
});

function startOtherProcess() {
  const child = spawn('sleep', ['60']);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function endedPid(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid ?? 0;
}

function writeLock(owner: object, processes: object[]): void {
  writeFileSync(file, JSON.stringify({ owner: { name: 'start', ...owner }, processes }));
}

test('a second run cannot take the lock and reads the pid of the first run', async () => {
  const lock = takeLock(dataDir);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(() => takeLock(dataDir)).toThrow(`(pid ${process.pid})`);
  await expect(clearStaleLock(dataDir, notice)).rejects.toThrow(`(pid ${process.pid})`);
  lock.release();
  takeLock(dataDir).release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test('a lock of a killed run is removed, and the processes of that run are stopped', async () => {
  const service = startOtherProcess();
  const lock = takeLock(dataDir);
  lock.record('crm', service.pid ?? 0);
  const { processes } = JSON.parse(readFileSync(file, 'utf8')) as { processes: object[] };
  const pid = await endedPid();
  writeLock({ pid, start: 'then' }, processes);

  await clearStaleLock(dataDir, notice);
  expect(notices).toEqual([
    `An earlier run (pid ${pid}) was killed: stopping its remaining processes, crm (pid ${service.pid})`,
  ]);
  expect(await waitForEnd(service.pid ?? 0, 0)).toBe(true);
  expect(readdirSync(dataDir)).toEqual([]);
});

test('a lock is stale if other processes have reused its pids, and these processes keep running', async () => {
  const [owner, service] = [startOtherProcess(), startOtherProcess()];
  writeLock({ pid: owner.pid, start: 'then' }, [{ name: 'crm', pid: service.pid, start: 'then' }]);
  await clearStaleLock(dataDir, notice);
  expect(notices).toEqual([`An earlier run (pid ${owner.pid}) was killed: its lock is removed`]);
  for (const { pid } of [owner, service]) expect(processStart(pid ?? 0)).toBeDefined();
});

test('a lock is stale if its file is not valid JSON', async () => {
  writeFileSync(file, '{"own');
  await clearStaleLock(dataDir, notice);
  expect(notices).toEqual(['An earlier run was killed: its lock is removed']);
  takeLock(dataDir).release();
});
