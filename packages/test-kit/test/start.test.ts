import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isPortFree } from '@leads/local-stack/processes/free-port';
import { waitForEnd } from '@leads/local-stack/processes/process-identity';
import { expect, inject, onTestFinished, test } from 'vitest';
import {
  curlLines,
  freshEnvironment,
  type LocalRun,
  logCheck,
  runCurlLine,
  processesOf,
  startProgram,
  startRun,
} from '../src/local-run.ts';
import { createEmptyDatabase } from '../src/test-database.ts';

interface Demo {
  website: string;
  email: string;
  password: string;
  crm: string;
  intake: string;
  apiKey: string;
  accessToken: string;
  campaignCode: string;
}

function readDemo(dataDir: string): Demo {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
}

/** Returns the pid of a process that a run started, from its lock file. */
function pidOf(dataDir: string, name: string): number {
  const lock = JSON.parse(readFileSync(join(dataDir, 'start.lock'), 'utf8')) as {
    processes: { name: string; pid: number }[];
  };
  return lock.processes.find((one) => one.name === name)?.pid ?? 0;
}

interface ListedLead {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly campaignId: string;
  readonly phone: string;
}

interface Total {
  readonly status: string;
  readonly currency?: string;
}

/** Signs in with the printed credentials, and returns the leads, landing pages and sums of payouts. */
async function signInAndRead({ website, email, password }: Demo) {
  const monthAgo = new Date(Date.now() - 31 * 86_400_000).toISOString().slice(0, 10);
  const signedIn = await fetch(`${website}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { Origin: website, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  expect(signedIn.status).toBe(200);
  const Cookie = signedIn.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
  const get = async (path: string) =>
    (await fetch(`${website}/api/console${path}`, { headers: { Cookie } })).json();
  return {
    leads: (await get('/order/leads?limit=1000')) as ListedLead[],
    unmapped: (await get('/landing-pages?mapped=false')) as object[],
    totals: ((await get(`/statements?from=${monthAgo}`)) as { totals: Total[] }).totals,
    historyOf: async (id: string) =>
      (await get(`/order/leads/${id}/history`)) as { type: string; to?: string }[],
  };
}

/** Runs the printed commands, which create two leads and list them. */
function tryPrintedCommands({ stdout }: LocalRun): void {
  const [create = '', intake = '', list = ''] = curlLines(stdout());
  const names = ['Ada Lovelace', 'Grace Hopper'];
  expect(runCurlLine(create)).toMatchObject({ success: true, lead: { name: names[0], status: 'OnHold' } });
  expect(runCurlLine(intake)).toEqual({ success: true, order_id: expect.any(String) });
  expect((runCurlLine(list) as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(names);
}

/** Checks that a run ended after a stop signal, and that it left no process. */
async function expectStopped(run: LocalRun, dataDir: string): Promise<void> {
  expect(await run.ended).toBe(0);
  expect(run.stderr()).toEqual([]);
  expect(processesOf(dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, 'start.lock'))).toBe(false);
}

const withLogCheck = (...args: string[]) =>
  [process.execPath, '--import', logCheck, startProgram, ...args] as const;

// One test, since each run needs a data directory of an earlier run, and starting is slow.
test('npm start keeps its data, however a run ends', async () => {
  const { dataDir, env } = await freshEnvironment();

  // A run can be stopped at any point of its start.
  for (const until of ['start.lock', 'crm.log', 'postgres.password', 'postgres/postmaster.pid']) {
    rmSync(dataDir, { recursive: true, force: true });
    const stopped = startRun(env);
    const progress = () => ({ exists: existsSync(join(dataDir, until)), stderr: stopped.stderr() });
    await expect.poll(progress, { interval: 5 }).toEqual({ exists: true, stderr: [] });
    stopped.process.signal('SIGTERM');
    expect([until, await stopped.ended]).toEqual([until, 0]);
    expect(stopped.stderr()).toEqual([]);
    expect(processesOf(dataDir)).toEqual([]);
  }

  // With --empty, the workspace has no leads. The printed commands and addresses work.
  let run = startRun(env, withLogCheck('--empty'));
  await run.ready;
  const demo = readDemo(dataDir);
  expect((await signInAndRead(demo)).leads).toEqual([]);
  tryPrintedCommands(run);
  expect(run.stdout()).toMatch(/running\.\n\n {2}Website /);
  const crmUrl = `http://127.0.0.1:${env.CRM_PORT}`;
  expect(run.stdout()).toContain(`${crmUrl}, sign in as ${demo.email} with ${demo.password}`);
  expect(run.stdout()).toContain(`${crmUrl}/docs`);
  expect((await fetch(`${crmUrl}/docs`)).status).toBe(200);
  expect(demo).toEqual({
    website: crmUrl,
    email: 'demo@example.com',
    password: expect.stringMatching(/^[\w-]{16}$/),
    crm: `${crmUrl}/api`,
    intake: `http://127.0.0.1:${env.INTAKE_PORT}/api`,
    apiKey: expect.stringMatching(/^lk_/),
    accessToken: expect.stringMatching(/^ey/),
    campaignCode: 'DEMO',
  });
  const files = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile());
  const modes = files.map(({ name }) => [name, statSync(join(dataDir, name)).mode & 0o777]);
  expect(modes).toEqual(files.map(({ name }) => [name, 0o600]));
  // The terminal and npm each send Ctrl-C.
  run.process.signal('SIGINT');
  run.process.signal('SIGINT');
  await expectStopped(run, dataDir);
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
  expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toMatch(/database system is shut down\n$/);

  // The next run has the same leads and credentials, on other ports too. A closed terminal stops it.
  const otherPorts = { CRM_PORT: String(await freePort()), INTAKE_PORT: String(await freePort()) };
  run = startRun({ ...env, ...otherPorts });
  await run.ready;
  const movedDemo = {
    ...demo,
    website: `http://127.0.0.1:${otherPorts.CRM_PORT}`,
    crm: `http://127.0.0.1:${otherPorts.CRM_PORT}/api`,
    intake: `http://127.0.0.1:${otherPorts.INTAKE_PORT}/api`,
  };
  expect(readDemo(dataDir)).toEqual(movedDemo);
  const kept = (await signInAndRead(movedDemo)).leads;
  expect(kept).toHaveLength(2);
  expect((runCurlLine(curlLines(run.stdout())[2] ?? '') as object[]).length).toBe(2);
  run.process.signal('SIGHUP');
  await expectStopped(run, dataDir);

  // One run at a time. The next run stops the processes of a killed run.
  run = startRun(env, withLogCheck('--empty'));
  await run.ready;
  const second = startRun({ ...env, ...otherPorts });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toEqual([expect.stringContaining(`(pid ${run.process.pid})`)]);
  const orphans = ['crm', 'intake'].map((name) => pidOf(dataDir, name));
  run.process.signal('SIGKILL');
  await run.ended;
  for (const orphan of orphans) expect(await waitForEnd(orphan, 0)).toBe(false);
  const killedPid = run.process.pid;
  run = startRun(env, withLogCheck('--empty'));
  await run.ready;
  expect(run.stderr()).toEqual([expect.stringContaining(`An earlier run (pid ${killedPid}) was killed`)]);
  for (const orphan of orphans) expect(await waitForEnd(orphan, 0)).toBe(true);
  expect((runCurlLine(curlLines(run.stdout())[2] ?? '') as object[]).length).toBe(2);

  // A second Ctrl-C does not wait for an unresponsive service.
  process.kill(pidOf(dataDir, 'crm'), 'SIGSTOP');
  run.process.signal('SIGINT');
  await sleep(1_500);
  expect(run.process.isRunning).toBe(true);
  run.process.signal('SIGINT');
  expect(await run.ended).toBe(1);
  await expect.poll(() => processesOf(dataDir)).toEqual([]);

  // Without the file of the credentials, a run creates others. The end of Postgres stops the services.
  rmSync(join(dataDir, 'demo.json'));
  run = startRun(env, withLogCheck('--empty'));
  await run.ready;
  expect(readDemo(dataDir).apiKey).not.toBe(demo.apiKey);
  expect((await signInAndRead(readDemo(dataDir))).leads).toHaveLength(2);
  tryPrintedCommands(run);
  process.kill(pidOf(dataDir, 'postgres'), 'SIGKILL');
  expect(await run.ended).toBe(1);
  expect(run.stderr()).toEqual([expect.stringMatching(/^Postgres has ended: see .*postgres\.log$/)]);
  expect(processesOf(dataDir)).toEqual([]);
});

test('npm start uses the database of DATABASE_URL, fills its demo workspace once, and replaces credentials that it rejects', async () => {
  const { dataDir, env } = await freshEnvironment();
  await using database = await createEmptyDatabase();
  const started = async (changes: NodeJS.ProcessEnv, command?: readonly [string, ...string[]]) => {
    const run = startRun({ ...env, DATABASE_URL: database.url, ...changes }, command);
    await run.ready;
    expect(run.stdout()).not.toContain(new URL(database.url).password);
    const demo = readDemo(dataDir);
    const content = await signInAndRead(demo);
    tryPrintedCommands(run);
    return { run, demo, content };
  };

  // The demo workspace gets the leads of a month. The end of a service stops the others.
  const { run, demo, content } = await started({});
  expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  const { leads, unmapped } = content;
  expect(leads.length).toBeGreaterThan(200);
  expect(leads.length).toBeLessThan(1000);
  const days = new Set(leads.map(({ createdAt }) => createdAt.slice(0, 10)));
  expect(days.size).toBeGreaterThan(25);
  expect(new Set(leads.map(({ status }) => status)).size).toBe(4);
  expect(new Set(leads.map(({ campaignId }) => campaignId)).size).toBe(4);
  expect(unmapped).toHaveLength(1);
  for (const { phone } of leads) {
    expect(phone).toMatch(/^\+(1 202 555 01\d\d|44 20 7946 0\d{3}|44 161 496 0\d{3}|33 1 99 00 \d\d \d\d)$/);
  }
  for (const currency of ['EUR', 'USD']) {
    const statuses = content.totals
      .filter((total) => total.currency === currency)
      .map(({ status }) => status);
    expect([currency, statuses]).toEqual([currency, expect.arrayContaining(['OnHold', 'Approved', 'Paid'])]);
  }
  const paid = leads.find(({ status }) => status === 'Paid');
  expect((await content.historyOf(paid?.id ?? '')).map(({ to }) => to)).toEqual([
    'OnHold',
    'Approved',
    'Paid',
  ]);
  process.kill(pidOf(dataDir, 'intake'), 'SIGKILL');
  expect(await run.ended).toBe(1);
  expect(run.stderr()).toEqual([
    expect.stringMatching(/^intake ended unexpectedly by SIGKILL: see .*intake\.log$/),
  ]);
  expect(processesOf(dataDir)).toEqual([]);

  // The leads are not added again. npm's shell forwards no signals: its end stops the run too.
  const npmShell = ['sh', '-c', `'${process.execPath}' '${startProgram}'; exit $?`] as const;
  const otherSecret = await started({ JWT_SECRET: 'x'.repeat(32), npm_lifecycle_event: 'start' }, npmShell);
  expect(otherSecret.content.leads.slice(2)).toEqual(leads);
  expect(otherSecret.demo).toEqual({ ...demo, accessToken: expect.any(String) });
  expect(otherSecret.demo.accessToken).not.toBe(demo.accessToken);
  otherSecret.run.process.signal('SIGKILL');
  await expect.poll(() => processesOf(dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, 'start.lock'))).toBe(false);

  await using other = await createEmptyDatabase();
  const otherDatabase = await started({ DATABASE_URL: other.url });
  expect(otherDatabase.demo.apiKey).not.toBe(demo.apiKey);
  otherDatabase.run.process.signal('SIGTERM');
  await expectStopped(otherDatabase.run, dataDir);
});

test('npm start reports an invalid setting in one line, before it creates files', async () => {
  const environment = await freshEnvironment();
  const server = createServer().listen(Number(environment.env.INTAKE_PORT), '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const portInUse = startRun(environment.env);
  expect(await portInUse.ended).toBe(1);
  expect(portInUse.stderr()).toEqual([
    `Port ${environment.env.INTAKE_PORT} is in use: end the program that listens on it, or set another port with INTAKE_PORT`,
  ]);
  expect(existsSync(environment.dataDir)).toBe(false);

  const shortSecret = startRun({ ...environment.env, JWT_SECRET: 'too short' });
  expect(await shortSecret.ended).toBe(1);
  expect(shortSecret.stderr()).toEqual(['JWT_SECRET must have at least 32 characters']);
  expect(existsSync(environment.dataDir)).toBe(false);
});

test('npm start reports an unusable DATABASE_URL in one line, without the password', async () => {
  const environment = await freshEnvironment();
  const url = new URL(inject('postgres').adminUrl);
  url.password = 'secret';
  const run = startRun({ ...environment.env, DATABASE_URL: url.href });
  expect(await run.ended).toBe(1);
  expect(run.stderr()).toEqual([
    expect.stringMatching(/^DATABASE_URL does not work: .* rejects the user or the password/),
  ]);
  expect(run.stderr()[0]).not.toContain('secret');
  expect(processesOf(environment.dataDir)).toEqual([]);
});

const shell = (command: string) => spawnSync('sh', ['-c', command]).status === 0;

// Without permission to mount, the tests cannot simulate a full disk.
const canMount = (() => {
  const directory = mkdtempSync(join(tmpdir(), 'leads-mount-test-'));
  const mounted = shell(`mount -t tmpfs tmpfs ${directory}`) && shell(`umount ${directory}`);
  rmSync(directory, { recursive: true, force: true });
  return mounted;
})();
// Linux rejects a new directory in /proc with the error of a missing parent, although the parent exists.
test.runIf(process.platform === 'linux')(
  'npm start names LEADS_DATA_DIR if its parent directory cannot be created',
  async () => {
    const { env } = await freshEnvironment();
    const run = startRun({ ...env, LEADS_DATA_DIR: '/proc/leads/data' });
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toEqual([
      'Cannot write to /proc/leads/data: set LEADS_DATA_DIR to a directory that can be written',
    ]);
  },
);

if (canMount) {
  test.each(['4k', '12m', '40m'])('npm start reports a full disk of %s in one line', async (size) => {
    const environment = await freshEnvironment();
    mkdirSync(environment.dataDir);
    shell(`mount -t tmpfs -o size=${size},mode=711 tmpfs ${environment.dataDir}`);
    onTestFinished(() => void shell(`umount --lazy ${environment.dataDir}`));
    const run = startRun(environment.env);
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toEqual([expect.stringMatching(/^No space left on device/)]);
    expect(processesOf(environment.dataDir)).toEqual([]);
    expect(await isPortFree(Number(environment.env.CRM_PORT))).toBe(true);
  });

  test.each(['.', 'run'])(
    'npm start names LEADS_DATA_DIR if %s on a disk cannot be written',
    async (name) => {
      const { dataDir: disk, env } = await freshEnvironment();
      mkdirSync(disk);
      shell(`mount -t tmpfs -o ro tmpfs ${disk}`);
      onTestFinished(() => void shell(`umount --lazy ${disk}`));
      const run = startRun({ ...env, LEADS_DATA_DIR: join(disk, name) });
      expect(await run.ended).toBe(1);
      expect(run.stderr()).toEqual([
        expect.stringMatching(/^Cannot write to .*: set LEADS_DATA_DIR to a directory that can be written$/),
      ]);
    },
  );
}
