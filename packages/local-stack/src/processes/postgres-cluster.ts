import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { postgresFailure } from './postgres-failure.ts';
import { startProcess } from './supervisor.ts';
import type { Launcher } from './unprivileged-launcher.ts';
import { type Account, describeForeignOwner } from './user-accounts.ts';

/** The superuser of every cluster of a local run. */
export const superuser = 'leads';

/**
 * Ensures that `dataDir` holds a cluster that the launcher's account can run. The password of the superuser
 * is in `<dataDir>.password`.
 *
 * @param options.durable false skips initdb's sync to disk, and hashes the password once instead of 4,096 times.
 * @returns the superuser's password.
 * @throws Error if the cluster cannot be created or belongs to another user.
 */
export async function ensureCluster(options: {
  dataDir: string;
  durable: boolean;
  binaries: PostgresBinaries;
  launcher: Launcher;
}): Promise<string> {
  const { dataDir, launcher } = options;
  const passwordFile = `${dataDir}.password`;
  refuseForeign(dataDir);
  if (isEmpty(dataDir)) {
    const password = randomBytes(24).toString('base64url');
    mkdirSync(dirname(dataDir), { recursive: true });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    await createCluster({ ...options, password });
    return password;
  }
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    throw new Error(`${dataDir} is not empty and not a Postgres cluster: move it elsewhere`);
  }
  adopt(dataDir, launcher.account);
  if (!existsSync(passwordFile)) {
    throw new Error(
      `${passwordFile}, the password of ${dataDir}, is missing: restore it, or move both elsewhere`,
    );
  }
  return readFileSync(passwordFile, 'utf8').trim();
}

function isEmpty(directory: string): boolean {
  return !existsSync(directory) || readdirSync(directory).length === 0;
}

/**
 * Creates a cluster in a staging directory and renames it when complete, so a killed initdb leaves no partial
 * cluster.
 */
async function createCluster(options: {
  dataDir: string;
  durable: boolean;
  binaries: PostgresBinaries;
  launcher: Launcher;
  password: string;
}): Promise<void> {
  const { dataDir, launcher } = options;
  const prefix = `${basename(dataDir)}.new-`;
  for (const name of readdirSync(dirname(dataDir))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(dataDir), name), { recursive: true, force: true });
  }
  const staging = mkdtempSync(join(dirname(dataDir), prefix));
  try {
    const passwordFile = join(staging, 'password');
    writeFileSync(passwordFile, options.password, { mode: 0o600 });
    const cluster = join(staging, 'cluster');
    mkdirSync(cluster, { mode: 0o700 });
    if (launcher.account !== undefined) {
      for (const path of [staging, passwordFile, cluster]) {
        chownSync(path, launcher.account.uid, launcher.account.gid);
      }
    }
    const args = [
      `--pgdata=${cluster}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The built-in locale C.UTF-8 of Postgres does not depend on the locales of the system.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ];
    // The password is random. Each iteration of its hash would take processor time of every new connection.
    if (!options.durable) args.push('--no-sync', '--set=scram_iterations=1');
    const initdb = startProcess({ name: 'initdb', ...launcher.command(options.binaries.initdb, args) });
    const { code } = await initdb.exited;
    if (code !== 0) {
      const reason = postgresFailure(initdb.output('stderr'), { dataDir });
      throw new Error(reason ?? `initdb ended with code ${code}`);
    }
    renameSync(cluster, dataDir);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Throws if the directory belongs to another user and the caller is not root. */
function refuseForeign(dataDir: string): void {
  const caller = process.getuid?.();
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid;
  if (!caller || owner === undefined || owner === caller) return;
  throw new Error(describeForeignOwner(dataDir, owner, caller));
}

/** Changes the owner of a cluster to the account that runs it, and sets the mode that Postgres requires. */
function adopt(dataDir: string, account: Account | undefined): void {
  if (process.platform === 'win32') return;
  const { uid, mode } = statSync(dataDir);
  if (account !== undefined && uid !== account.uid) giveTo(dataDir, account);
  if ((mode & 0o777) !== 0o700) chmodSync(dataDir, 0o700);
}

/**
 * Changes the owner of a directory last. If the change is interrupted, the next start sees the old owner and
 * repeats the change.
 */
function giveTo(path: string, account: Account): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) giveTo(child, account);
    else lchownSync(child, account.uid, account.gid);
  }
  chownSync(path, account.uid, account.gid);
}
