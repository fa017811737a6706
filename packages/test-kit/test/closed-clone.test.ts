import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@leads/local-stack/processes/free-port';
import { findPgBouncer } from '@leads/local-stack/processes/pgbouncer';
import { repositoryRoot } from '@leads/local-stack/repository';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/*
 * Tests a clone below a directory that only its owner can enter (mode 0700), such as /root. Postgres and
 * PgBouncer refuse to run as root. If root runs the tests, both programs run as an account that cannot enter
 * the clone.
 */

/** The clone that all owners use, because copying the links takes seconds. */
const directory = mkdtempSync(join(nearbyDirectory(), 'leads-closed-'));
const clone = join(directory, 'clone');
const isRoot = process.getuid?.() === 0;
const nobodyUser = { uid: 65_534, gid: 65_534 };

beforeAll(async () => {
  // Unpacked before the clone is made, so it contains it.
  await findPgBouncer();
  // Hard links take a second and no disk space. Each file keeps its owner and its mode.
  execFileSync('cp', ['-al', repositoryRoot, clone]);
  chmodSync(directory, 0o700);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Returns a directory for temporary files in the file system of the clone, because hard links cannot leave it. */
function nearbyDirectory(): string {
  const { dev } = statSync(repositoryRoot);
  const isNearby = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev === dev;
  return [tmpdir(), '/tmp', '/var/tmp'].find(isNearby) ?? dirname(repositoryRoot);
}

describe
  .runIf(process.platform === 'linux')
  .each([
    { owner: 'the user of this test run', user: {} },
    ...(isRoot ? [{ owner: 'an ordinary user', user: nobodyUser }] : []),
  ])('in a clone that only $owner can enter,', ({ user }) => {
  beforeAll(() => {
    if (user !== nobodyUser) return;
    // The `.data` of the root's run is the root's own.
    rmSync(join(clone, '.data'), { recursive: true, force: true });
    for (const path of [directory, clone]) chownSync(path, nobodyUser.uid, nobodyUser.gid);
  });

  /** Runs a script in the clone as the owner of the clone. */
  const runScript = (script: string, env: Record<string, string> = {}) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      ...user,
      cwd: clone,
      env: { PATH: process.env['PATH'], HOME: directory, ...env },
    });

  test('npm start starts the whole stack and stops it', async () => {
    const script = `
      import { spawn } from 'node:child_process';
      const child = spawn(process.execPath, ['packages/local-stack/dist/start.js', '--empty']);
      child.stderr.pipe(process.stderr);
      child.stdout.on('data', (text) => String(text).includes('Ctrl-C ends it') && child.kill('SIGTERM'));
      child.once('close', (code) => console.log('ended with', code));`;
    const ports = { CRM_PORT: String(await freePort()), INTAKE_PORT: String(await freePort()) };

    expect(await runScript(script, ports)).toEqual({ stdout: 'ended with 0\n', stderr: '' });
  });

  test('the test setup starts Postgres and PgBouncer', async () => {
    const script = `
      import { startTemporaryPostgres } from './packages/local-stack/dist/processes/temporary-postgres.js';
      import { startPgBouncer } from './packages/local-stack/dist/processes/pgbouncer.js';
      const postgres = await startTemporaryPostgres();
      const pooler = await startPgBouncer([postgres.url('postgres')]);
      await pooler[Symbol.asyncDispose]();
      await postgres.stop();
      console.log('stopped');`;

    expect(await runScript(script)).toEqual({ stdout: 'stopped\n', stderr: '' });
  });
});
