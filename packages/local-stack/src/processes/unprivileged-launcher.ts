import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import type { Command } from './supervisor.ts';
import { type Account, accounts } from './user-accounts.ts';

/** Starts programs that refuse to run as root. */
export interface Launcher {
  /** The account that the programs run as; undefined if it is the caller's. */
  readonly account: Account | undefined;
  command(program: string, args: readonly string[]): Command;
}

/**
 * Returns a launcher that can run a program. If the caller is root, the program runs as `postgres` or `nobody`.
 *
 * @param program the path of a program that knows the option `--version`.
 * @param env variables to add to the program's environment.
 * @throws Error with the system's message if the program does not run.
 */
export function findLauncher(program: string, env: NodeJS.ProcessEnv = {}): Launcher {
  const account = process.getuid?.() === 0 ? unprivilegedAccount() : undefined;
  let reason = '';
  for (const launcher of [throughSetpriv(account, env), directly(account, env)]) {
    const { file, args, ...options } = launcher.command(program, ['--version']);
    const { status, error, stderr } = spawnSync(file, args, { ...options, encoding: 'utf8' });
    if (status === 0) return launcher;
    reason = error?.message ?? stderr.trim();
  }
  const user = account === undefined ? '' : ` as the user ${account.name}`;
  const advice = reason.endsWith('EACCES')
    ? ', which cannot enter its directory without setpriv (util-linux)'
    : '';
  throw new Error(`${basename(program)} does not run here${user}${advice} (${reason})`);
}

/**
 * Starts programs with util-linux's setpriv, which asks the kernel to send SIGINT when this process is
 * killed.
 *
 * If the caller is root, the programs run as another account. That account may not be able to enter the
 * directories above the program and its data: a clone may be below /root. CAP_DAC_OVERRIDE permits that.
 * access(2) ignores the capability unless the securebit `no_setuid_fixup` is set (capabilities(7)). initdb
 * calls access(2) to check that it can run `postgres`.
 */
function throughSetpriv(account: Account | undefined, env: NodeJS.ProcessEnv): Launcher {
  const switches = ['--pdeathsig=INT'];
  if (account !== undefined) {
    switches.push(`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups');
    switches.push(
      '--inh-caps=+dac_override',
      '--ambient-caps=+dac_override',
      '--securebits=+no_setuid_fixup',
    );
  }
  return {
    account,
    command: (program, args) => ({
      file: 'setpriv',
      args: [...switches, '--', program, ...args],
      ...spawnOptions(env),
    }),
  };
}

/** Starts programs if setpriv is missing or not permitted, such as in a container without capabilities. */
function directly(account: Account | undefined, env: NodeJS.ProcessEnv): Launcher {
  const { uid, gid } = account ?? {};
  const identity = uid === undefined || gid === undefined ? {} : { uid, gid };
  return {
    account,
    command: (program, args) => ({ file: program, args, ...spawnOptions(env), ...identity }),
  };
}

/**
 * Returns a working directory that every account can enter, and an environment without PGDATA, PGPORT and the
 * like.
 */
function spawnOptions(env: NodeJS.ProcessEnv): Pick<Command, 'cwd' | 'env'> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return {
    cwd: process.platform === 'win32' ? undefined : '/',
    env: { ...Object.fromEntries(inherited), LC_ALL: 'C', ...env },
  };
}

function unprivilegedAccount(): Account {
  const known = accounts();
  const account = ['postgres', 'nobody'].flatMap((name) => known.filter((one) => one.name === name))[0];
  if (account === undefined) {
    throw new Error('No user "postgres" or "nobody" exists to run a program that refuses to run as root');
  }
  return account;
}
