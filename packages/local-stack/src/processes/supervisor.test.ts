import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { processStart, signalProcess, waitForEnd } from './process-identity.ts';
import { type ProcessOptions, type SupervisedProcess, startProcess } from './supervisor.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'leads-supervisor-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

/** Runs a shell script that is killed after the test. */
function startScript(script: string, options: Partial<ProcessOptions> = {}): SupervisedProcess {
  const shell = startProcess({ name: 'script', file: 'sh', args: ['-c', script], ...options });
  onTestFinished(() => shell.kill());
  return shell;
}

const printed = (child: SupervisedProcess, text: string) => () => child.output().includes(text);
const pidIn = (text: string) => Number(/pid (\d+)/.exec(text)?.[1]);

test('startProcess() keeps the output of each stream and the exit code', async () => {
  const pieces: string[] = [];
  const script = startScript('echo one; echo two >&2; exit 3', { onOutput: (text) => pieces.push(text) });

  expect(await script.exited).toEqual({ code: 3, signal: null });
  expect(script.output('stdout')).toBe('one\n');
  expect(script.output('stderr')).toBe('two\n');
  expect(script.output().split('\n').toSorted()).toEqual(['', 'one', 'two']);
  expect(pieces.join('')).toBe(script.output());
  expect(script.isRunning).toBe(false);
});

test('waitUntilReady() waits until a process is ready', async () => {
  const script = startScript('echo listening; sleep 60');
  await script.waitUntilReady(printed(script, 'listening'), 60_000);
  expect(script.isRunning).toBe(true);
});

test('waitUntilReady() rejects with the last ten lines of output if the process ends before it is ready', async () => {
  const script = startScript('seq 1 12; exit 1');
  await expect(script.waitUntilReady(() => false, 60_000)).rejects.toMatchObject({
    message: 'script does not start: 3\n4\n5\n6\n7\n8\n9\n10\n11\n12',
    output: '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n',
  });
});

test('waitUntilReady() rejects if the check succeeds for a process that has ended', async () => {
  const script = startScript('exit 1');
  await expect(script.waitUntilReady(() => script.exited.then(() => true), 60_000)).rejects.toThrow(
    'script does not start',
  );
});

test('waitUntilReady() stops a process that does not become ready in time', async () => {
  const script = startScript('exec sleep 60');
  await expect(script.waitUntilReady(() => false, 1)).rejects.toThrow('script does not become ready');
  expect(await script.exited).toEqual({ code: null, signal: 'SIGTERM' });
});

test('startProcess() treats a program that cannot be spawned as ended, with the reason as its output', async () => {
  const missing = startProcess({ name: 'missing', file: join(directory, 'missing'), args: [] });
  await expect(missing.waitUntilReady(() => true, 60_000)).rejects.toThrow(
    /missing does not start: .*ENOENT/,
  );
  expect(await missing.exited).toEqual({ code: null, signal: null });
  await missing.stop();
  await missing.kill();
});

test('stop() sends the stop signals in order, and then SIGKILL to the whole process group', async () => {
  const script = startScript(
    `trap 'echo got INT' INT; trap 'echo got TERM' TERM; sleep 600 & echo "pid $!"; while :; do wait; done`,
    {
      stopSignals: [
        ['SIGINT', 5_000],
        ['SIGTERM', 5_000],
      ],
    },
  );
  await script.waitUntilReady(printed(script, 'pid'), 60_000);
  await script.stop();
  expect(await script.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(script.output()).toMatch(/got INT\ngot TERM\n$/);
  expect(await waitForEnd(pidIn(script.output()), 60_000)).toBe(true);
});

test('signal() sends a single signal to the process only', async () => {
  const script = startScript('sleep 600 & echo "pid $!"; wait');
  await script.waitUntilReady(printed(script, 'pid'), 60_000);
  const pid = pidIn(script.output());
  onTestFinished(() => signalProcess(pid, 'SIGKILL'));
  script.signal('SIGKILL');
  expect(await waitForEnd(script.pid, 60_000)).toBe(true);
  expect(processStart(pid)).toBeDefined();
});

test('stop() with stopsGroup sends the stop signals to the whole process group', async () => {
  const script = startScript('sleep 600 & echo "pid $!"; wait', { stopsGroup: true });
  await script.waitUntilReady(printed(script, 'pid'), 60_000);
  await script.stop();
  expect(await waitForEnd(pidIn(script.output()), 60_000)).toBe(true);
});

test('startProcess() stops a process when its abort signal aborts, also if it aborted before the start', async () => {
  const controller = new AbortController();
  const script = startScript('exec sleep 60', { signal: controller.signal });
  controller.abort();
  expect(await script.exited).toEqual({ code: null, signal: 'SIGTERM' });
  const late = startScript('exec sleep 60', { signal: controller.signal });
  expect(await late.exited).toEqual({ code: null, signal: 'SIGTERM' });
});

test('stop() sends each stop signal once, also if the abort signal has already stopped the process', async () => {
  const controller = new AbortController();
  const script = startScript(
    `trap 'echo got USR1' USR1; trap 'echo got TERM' TERM; trap 'kill "$child"; exit' WINCH
     sleep 600 & child=$!; echo started; while :; do wait; done`,
    { signal: controller.signal, stopSignals: [['SIGTERM', 600_000]] },
  );
  await script.waitUntilReady(printed(script, 'started'), 60_000);
  controller.abort();
  await script.waitUntilReady(printed(script, 'got TERM'), 60_000);
  const stopped = script.stop();
  // The shell handles signals in the order of their numbers: a second SIGTERM would be handled between these two.
  script.signal('SIGUSR1');
  await script.waitUntilReady(printed(script, 'got USR1'), 60_000);
  script.signal('SIGWINCH');
  await stopped;
  expect(script.output()).toBe('started\ngot TERM\ngot USR1\n');
});

test('startProcess() appends output to a private log file, and output() returns the output of this process only', async () => {
  const logFile = join(directory, 'script.log');
  for (const text of ['first', 'second']) {
    const script = startScript(`echo ${text}`, { logFile });
    await script.exited;
    expect(script.output()).toBe(`${text}\n`);
  }
  expect(readFileSync(logFile, 'utf8')).toBe('first\nsecond\n');
  expect(statSync(logFile).mode & 0o777).toBe(0o600);

  writeFileSync(logFile, Buffer.alloc(16 * 1024 * 1024 + 1));
  await startScript('echo third', { logFile }).exited;
  expect(readFileSync(logFile, 'utf8')).toBe('third\n');
});

test.each(['process.exit(0)', 'throw new Error()'])(
  'startProcess() leaves no process when its owner ends by %s',
  async (ending) => {
    // The built module, since Node 20 cannot load the source.
    const module = new URL('../../dist/processes/supervisor.js', import.meta.url).href;
    expect(existsSync(new URL(module))).toBe(true);
    const script = `
    const { startProcess } = await import(${JSON.stringify(module)});
    const child = startProcess({ name: 'sleep', file: 'sleep', args: ['600'] });
    process.stdout.write('pid ' + child.pid, () => { ${ending}; });`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(pidIn(stdout)).toBeGreaterThan(1);
    expect(await waitForEnd(pidIn(stdout), 60_000)).toBe(true);
    expect(processStart(pidIn(stdout))).toBe(undefined);
  },
);
