import { type SpawnOptions, spawnSync } from 'node:child_process';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { type Account, accounts } from './user-accounts.ts';

/** How Postgres's programs are started here. */
export interface Launcher {
  /** Whom they run as, when this is not the caller. */
  readonly account: Account | undefined;
  /** What to pass to `spawn` to run one of them. */
  command(binary: string, args: readonly string[]): { file: string; args: string[]; options: SpawnOptions };
}

/**
 * Finds out how Postgres can be run: it refuses to run as root, so there it runs as `postgres` or `nobody`.
 *
 * @throws Error when it does not run at all, with what the system says.
 */
export function findLauncher(binaries: PostgresBinaries): Launcher {
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  let reason = '';
  for (const launcher of [throughSetpriv(account), directly(account)]) {
    const { file, args, options } = launcher.command(binaries.postgres, ['--version']);
    const { status, error, stderr } = spawnSync(file, args, { ...options, encoding: 'utf8' });
    if (status === 0) return launcher;
    reason = error?.message ?? stderr.trim();
  }
  const who = account === undefined ? '' : ` as ${account.name}`;
  throw new Error(`Postgres does not run here${who} (${reason}): set DATABASE_URL to one of your own`);
}

/**
 * By util-linux's setpriv. For root it gives the account just the right to walk through directories that are
 * closed to it, as /root is, and a clone may lie there. And it asks the kernel to shut Postgres down when this
 * process is killed.
 */
function throughSetpriv(account: Account | undefined): Launcher {
  const caps = '+dac_override,+dac_read_search';
  const switches = ['--pdeathsig=INT'];
  if (account !== undefined) {
    switches.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups');
    switches.push(`--inh-caps=${caps}`, `--ambient-caps=${caps}`);
  }
  return {
    account,
    command: (binary, args) => ({
      file: 'setpriv',
      args: [...switches, '--', binary, ...args],
      options: surroundings(),
    }),
  };
}

function directly(account: Account | undefined): Launcher {
  return {
    account,
    command: (binary, args) => ({
      file: binary,
      args: [...args],
      options:
        account === undefined ? surroundings() : { ...surroundings(), uid: account.uid, gid: account.gid },
    }),
  };
}

/** Away from a directory the account may not enter, and without PGDATA, PGPORT and the like. */
function surroundings(): SpawnOptions {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return {
    cwd: process.platform === 'win32' ? undefined : '/',
    env: { ...Object.fromEntries(env), LC_ALL: 'C' },
  };
}

function unprivilegedAccount(): Account {
  const known = accounts();
  const account = ['postgres', 'nobody'].flatMap((name) => known.filter((one) => one.name === name))[0];
  if (account === undefined) {
    throw new Error(
      'Postgres does not run as root, and there is no user "postgres" or "nobody": use another user',
    );
  }
  return account;
}
