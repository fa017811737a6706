import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isPortFree } from '@leads/local-stack/processes/free-port';
import { waitForEnd } from '@leads/local-stack/processes/process-identity';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import {
  curlLines,
  freshEnvironment,
  type LocalRun,
  launchRun,
  runCurlLine,
  processesOf,
  startProgram,
  startRun,
} from '../src/local-run.ts';
import { createEmptyDatabase } from '../src/test-database.ts';

const slow = { timeout: 300_000 };
const withoutLeads = [process.execPath, startProgram, '--empty'] as const;

/** The data directory of a finished run, which the tests copy. Creating it takes longer than most tests. */
const prepared = mkdtempSync(join(tmpdir(), 'leads-start-test-'));
let preparing: LocalRun;
beforeAll(async () => {
  const [CRM_PORT, INTAKE_PORT] = [String(await freePort()), String(await freePort())];
  preparing = launchRun({ LEADS_DATA_DIR: join(prepared, 'data'), CRM_PORT, INTAKE_PORT }, withoutLeads);
  await preparing.ready;
  preparing.process.signal('SIGTERM');
  await preparing.ended;
}, 120_000);
afterAll(async () => {
  // The run has not ended if the hook above timed out.
  preparing.process.signal('SIGTERM');
  await preparing.ended;
  rmSync(prepared, { recursive: true, force: true });
});

/** Creates an environment like {@link freshEnvironment}, with the data of an earlier run. */
async function usedEnvironment() {
  const environment = await freshEnvironment();
  spawnSync('cp', ['-a', join(prepared, 'data'), environment.dataDir]);
  return environment;
}

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

test(
  'npm start prints commands that work, keeps its data for the next start, and leaves no process after Ctrl-C',
  slow,
  async () => {
    const environment = await freshEnvironment();
    const { dataDir, env } = environment;
    const names = ['Ada Lovelace', 'Grace Hopper'];

    {
      const run = startRun(env);
      await run.ready;
      const [create = '', intake = '', list = ''] = curlLines(run.stdout());
      expect(runCurlLine(create)).toMatchObject({
        success: true,
        lead: { name: names[0], status: 'OnHold' },
      });
      expect(runCurlLine(intake)).toEqual({ success: true, order_id: expect.any(String) });
      expect((runCurlLine(list) as { name: string }[]).map(({ name }) => name).toSorted()).toEqual(names);
      const { email, password } = readDemo(dataDir);
      expect(run.stdout()).toMatch(/running\.\n\n {2}Website /);
      expect(run.stdout()).toContain(
        `http://127.0.0.1:${env.CRM_PORT}, sign in as ${email} with ${password}`,
      );
      expect(run.stdout()).toContain(`http://127.0.0.1:${env.CRM_PORT}/docs`);
      expect((await fetch(`http://127.0.0.1:${env.CRM_PORT}/docs`)).status).toBe(200);

      expect(readDemo(dataDir)).toEqual({
        website: `http://127.0.0.1:${env.CRM_PORT}`,
        email: 'demo@example.com',
        password: expect.stringMatching(/^[\w-]{16}$/),
        crm: `http://127.0.0.1:${env.CRM_PORT}/api`,
        intake: `http://127.0.0.1:${env.INTAKE_PORT}/api`,
        apiKey: expect.stringMatching(/^lk_/),
        accessToken: expect.stringMatching(/^ey/),
        campaignCode: 'DEMO',
      });
      const files = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isFile());
      const modes = files.map(({ name }) => [name, statSync(join(dataDir, name)).mode & 0o777]);
      expect(modes).toEqual(files.map(({ name }) => [name, 0o600]));

      run.process.signal('SIGINT');
      run.process.signal('SIGINT');
      expect(await run.ended).toBe(0);
      expect(run.stderr()).toEqual([]);
      expect(processesOf(dataDir)).toEqual([]);
      expect(existsSync(join(dataDir, 'start.lock'))).toBe(false);
      expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
      expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toMatch(/database system is shut down\n$/);
    }

    const before = readDemo(dataDir);
    const otherPorts = { CRM_PORT: String(await freePort()), INTAKE_PORT: String(await freePort()) };
    const run = startRun({ ...env, ...otherPorts });
    await run.ready;
    expect((runCurlLine(curlLines(run.stdout())[2] ?? '') as object[]).length).toBe(2);
    expect(readDemo(dataDir)).toEqual({
      ...before,
      website: `http://127.0.0.1:${otherPorts.CRM_PORT}`,
      crm: `http://127.0.0.1:${otherPorts.CRM_PORT}/api`,
      intake: `http://127.0.0.1:${otherPorts.INTAKE_PORT}/api`,
    });
    expect(run.stderr()).toEqual([]);
    run.process.signal('SIGHUP');
    expect(await run.ended).toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
  },
);

interface ListedLead {
  readonly id: string;
  readonly status: string;
  readonly createdAt: string;
  readonly campaignId: string;
  readonly phone: string;
}

/** Signs in with the printed credentials, and returns the leads and landing pages. */
async function signInAndRead({ website, email, password }: Demo) {
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
    historyOf: async (id: string) =>
      (await get(`/order/leads/${id}/history`)) as { type: string; to?: string }[],
  };
}

test(
  'npm start fills the demo workspace with leads of a month once, and not at all with --empty',
  slow,
  async () => {
    const { dataDir, env } = await usedEnvironment();
    const started = async (...args: string[]) => {
      const run = startRun(env, [process.execPath, startProgram, ...args]);
      await run.ready;
      const demo = readDemo(dataDir);
      const content = await signInAndRead(demo);
      return { run, demo, content };
    };
    const end = async (run: ReturnType<typeof startRun>) => {
      run.process.signal('SIGTERM');
      expect(await run.ended).toBe(0);
      expect(run.stderr()).toEqual([]);
    };

    const empty = await started('--empty');
    expect(empty.content.leads).toEqual([]);
    await end(empty.run);

    const first = await started();
    expect(first.demo).toEqual(empty.demo);
    const { leads, unmapped, historyOf } = first.content;
    expect(leads.length).toBeGreaterThan(200);
    expect(leads.length).toBeLessThan(1000);
    const days = new Set(leads.map(({ createdAt }) => createdAt.slice(0, 10)));
    expect(days.size).toBeGreaterThan(25);
    expect(new Set(leads.map(({ status }) => status)).size).toBe(4);
    expect(new Set(leads.map(({ campaignId }) => campaignId)).size).toBe(4);
    expect(unmapped).toHaveLength(1);
    for (const { phone } of leads) {
      expect(phone).toMatch(
        /^\+(1 202 555 01\d\d|44 20 7946 0\d{3}|44 161 496 0\d{3}|33 1 99 00 \d\d \d\d)$/,
      );
    }
    const paid = leads.find(({ status }) => status === 'Paid');
    expect((await historyOf(paid?.id ?? '')).map(({ to }) => to)).toEqual(['OnHold', 'Approved', 'Paid']);
    await end(first.run);

    const second = await started();
    expect(second.demo).toEqual(first.demo);
    expect(second.content.leads).toEqual(leads);
    await end(second.run);
  },
);

test('npm start allows one run at a time, and stops the processes of a killed run', slow, async () => {
  const { dataDir, env } = await usedEnvironment();
  const killed = startRun(env, withoutLeads);
  await killed.ready;
  const pid = killed.process.pid;

  const second = startRun({ ...env, CRM_PORT: String(await freePort()) });
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toEqual([expect.stringContaining(`(pid ${pid})`)]);

  const orphans = ['crm', 'intake'].map((name) => pidOf(dataDir, name));
  killed.process.signal('SIGKILL');
  await killed.ended;
  for (const orphan of orphans) expect(await waitForEnd(orphan, 0)).toBe(false);

  const next = startRun(env, withoutLeads);
  await next.ready;
  expect(next.stderr()[0]).toMatch(`An earlier run (pid ${pid}) was killed`);
  for (const orphan of orphans) expect(await waitForEnd(orphan, 0)).toBe(true);
  expect(runCurlLine(curlLines(next.stdout())[2] ?? '')).toEqual([]);
  next.process.signal('SIGTERM');
  expect(await next.ended).toBe(0);
  expect(processesOf(dataDir)).toEqual([]);
});

test('npm start names a service that ended unexpectedly and stops the others', slow, async () => {
  const { dataDir, env } = await usedEnvironment();
  const run = startRun(env, withoutLeads);
  await run.ready;
  process.kill(pidOf(dataDir, 'intake'), 'SIGKILL');
  expect(await run.ended).toBe(1);
  expect(run.stderr()).toEqual([
    expect.stringMatching(/^intake ended unexpectedly by SIGKILL: see .*intake\.log$/),
  ]);
  expect(processesOf(dataDir)).toEqual([]);

  const again = startRun(env, withoutLeads);
  await again.ready;
  process.kill(pidOf(dataDir, 'postgres'), 'SIGKILL');
  expect(await again.ended).toBe(1);
  expect(again.stderr()).toEqual([expect.stringMatching(/^Postgres has ended: see .*postgres\.log$/)]);
  expect(processesOf(dataDir)).toEqual([]);
});

test('npm start stops at a second Ctrl-C without waiting for an unresponsive service', slow, async () => {
  const environment = await usedEnvironment();
  const run = startRun(environment.env, withoutLeads);
  await run.ready;
  process.kill(pidOf(environment.dataDir, 'crm'), 'SIGSTOP');
  run.process.signal('SIGINT');
  await sleep(1_500);
  expect(run.process.isRunning).toBe(true);
  run.process.signal('SIGINT');
  expect(await run.ended).toBe(1);
  await expect.poll(() => processesOf(environment.dataDir), { timeout: 20_000 }).toEqual([]);
});

test('npm start can be stopped at any point of its start, and starts again', slow, async () => {
  const { dataDir, env } = await freshEnvironment();
  for (const until of ['start.lock', 'crm.log', 'postgres/postmaster.pid', 'postgres.password']) {
    rmSync(dataDir, { recursive: true, force: true });
    const run = startRun(env);
    const progress = () => ({ exists: existsSync(join(dataDir, until)), stderr: run.stderr() });
    await expect.poll(progress, { timeout: 60_000, interval: 5 }).toEqual({ exists: true, stderr: [] });
    run.process.signal('SIGTERM');
    expect([until, await run.ended]).toEqual([until, 0]);
    expect(run.stderr()).toEqual([]);
    expect(processesOf(dataDir)).toEqual([]);
  }
  const run = startRun(env, withoutLeads);
  await run.ready;
  expect(run.stderr()).toEqual([]);
});

test("npm start stops if npm's shell, which forwards no signals, is killed", slow, async () => {
  const environment = await usedEnvironment();
  const npmShell = ['sh', '-c', `'${process.execPath}' '${startProgram}' --empty; exit $?`] as const;
  const run = startRun({ ...environment.env, npm_lifecycle_event: 'start' }, npmShell);
  await run.ready;
  run.process.signal('SIGKILL');
  await expect.poll(() => processesOf(environment.dataDir), { timeout: 20_000 }).toEqual([]);
  expect(existsSync(join(environment.dataDir, 'start.lock'))).toBe(false);
});

test('npm start reports a port in use in one line, before it creates files', slow, async () => {
  const environment = await freshEnvironment();
  for (const name of ['CRM_PORT', 'INTAKE_PORT'] as const) {
    const server = createServer().listen(Number(environment.env[name]), '127.0.0.1');
    await once(server, 'listening');
    const run = startRun(environment.env);
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toEqual([
      `Port ${environment.env[name]} is in use: end the program that listens on it, or set another port with ${name}`,
    ]);
    expect(existsSync(environment.dataDir)).toBe(false);
    server.close();
    await once(server, 'close');
  }
});

test.each([
  ['CRM_PORT', 'http', 'CRM_PORT is not a port: http'],
  ['INTAKE_PORT', '70000', 'INTAKE_PORT is not a port: 70000'],
  ['JWT_SECRET', 'too short', 'JWT_SECRET must have at least 32 characters'],
])('npm start reports an invalid %s in one line', slow, async (name, value, line) => {
  const environment = await freshEnvironment();
  const run = startRun({ ...environment.env, [name]: value });
  expect(await run.ended).toBe(1);
  expect(run.stderr()).toEqual([line]);
  expect(processesOf(environment.dataDir)).toEqual([]);
});

test('npm start reports an unusable DATABASE_URL in one line, without the password', slow, async () => {
  const environment = await freshEnvironment();
  const changedUrl = (change: (url: URL) => void) => {
    const url = new URL(inject('postgres').adminUrl);
    change(url);
    return url.href;
  };
  const unusedPort = await freePort();
  const cases: [string, RegExp][] = [
    ['nonsense', /^DATABASE_URL is not of the form postgresql:/],
    ['mysql://user:secret@127.0.0.1/leads', /^DATABASE_URL is not of the form postgresql:/],
    [
      changedUrl((url) => (url.port = String(unusedPort))),
      /^DATABASE_URL does not work: no server listens on 127.0.0.1:\d+$/,
    ],
    [
      changedUrl((url) => (url.password = 'secret')),
      /^DATABASE_URL does not work: .* rejects the user or the password/,
    ],
    [
      changedUrl((url) => (url.pathname = 'absent')),
      /^DATABASE_URL does not work: the database does not exist on .*absent/,
    ],
  ];
  for (const [DATABASE_URL, line] of cases) {
    const run = startRun({ ...environment.env, DATABASE_URL });
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toEqual([expect.stringMatching(line)]);
    expect(run.stderr()[0]).not.toContain('secret');
  }
});

test(
  'npm start uses the database of DATABASE_URL, and replaces credentials that the database rejects',
  slow,
  async () => {
    const { dataDir, env } = await freshEnvironment();
    await using database = await createEmptyDatabase();
    const demoOf = async (changes: NodeJS.ProcessEnv) => {
      const run = startRun({ ...env, ...changes });
      await run.ready;
      for (const line of curlLines(run.stdout())) runCurlLine(line);
      expect(run.stdout()).not.toContain(new URL(database.url).password);
      run.process.signal('SIGTERM');
      await run.ended;
      return readDemo(dataDir);
    };

    const first = await demoOf({ DATABASE_URL: database.url });
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    expect(await demoOf({ DATABASE_URL: database.url })).toEqual(first);

    const otherSecret = await demoOf({ DATABASE_URL: database.url, JWT_SECRET: 'x'.repeat(32) });
    expect(otherSecret).toEqual({ ...first, accessToken: expect.any(String) });
    expect(otherSecret.accessToken).not.toBe(first.accessToken);

    rmSync(join(dataDir, 'demo.json'));
    const withoutFile = await demoOf({ DATABASE_URL: database.url });
    expect(withoutFile.apiKey).not.toBe(first.apiKey);

    await using other = await createEmptyDatabase();
    const otherDatabase = await demoOf({ DATABASE_URL: other.url });
    expect(otherDatabase.apiKey).not.toBe(withoutFile.apiKey);
  },
);

const shell = (command: string) => spawnSync('sh', ['-c', command]).status === 0;

// Without permission to mount, the tests cannot simulate a full disk.
const canMount = (() => {
  const directory = mkdtempSync(join(tmpdir(), 'leads-mount-test-'));
  const mounted = shell(`mount -t tmpfs tmpfs ${directory}`) && shell(`umount ${directory}`);
  rmSync(directory, { recursive: true, force: true });
  return mounted;
})();
if (canMount) {
  test.each(['4k', '12m', '40m'])('npm start reports a full disk of %s in one line', slow, async (size) => {
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
}
