import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ownRoot = resolve(import.meta.dirname, '../../..');

/** A release of this repository, built in a directory of its own. */
export interface Release {
  /** Its commit, in short, and the first line of what that says. */
  readonly name: string;
  readonly root: string;
  /** Its migrations, oldest first. */
  readonly migrations: readonly string[];
}

/**
 * The release before this one: the newest tag `v*` before this commit or, where there is none, the commit before the
 * newest migration, since that is what makes a difference.
 *
 * @throws Error where git does not know.
 */
export async function defaultRevision(): Promise<string> {
  try {
    return await git('describe', '--tags', '--match=v*', '--abbrev=0', 'HEAD^');
  } catch {
    const added = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'prisma/migrations');
    if (added === '') throw new Error('There is no release before this one: name one by --from');
    return `${added}^`;
  }
}

/**
 * Builds both services as they were at a revision. Modules are this one's where they are locked to the same versions, else
 * installed.
 *
 * @throws Error where git does not know the revision, or it cannot be built.
 */
export async function buildRelease(revision: string, root: string): Promise<Release> {
  const name = await git('log', '-1', '--format=%h %s', revision).catch(() => {
    throw new Error(`git knows no revision ${revision}: name another by --from, or fetch the whole history`);
  });
  mkdirSync(root);
  const archive = `${root}.tar`;
  await git('archive', `--output=${archive}`, revision);
  await run('tar', ['-xf', archive, '-C', root]);
  if (readLock(root) === readLock(ownRoot)) linkModules(root);
  else await run('npm', ['ci', '--ignore-scripts'], { cwd: root, maxBuffer: 2 ** 26 });
  // What services are made of, and nothing that their tests need besides.
  const turbo = (...args: string[]) =>
    run('npx', ['turbo', 'run', ...args], { cwd: root, maxBuffer: 2 ** 26 });
  await turbo('generate');
  await turbo(
    'build',
    '--only',
    '--filter=@leads/core',
    '--filter=@leads/website',
    '--filter=@leads/crm',
    '--filter=@leads/intake',
  );
  return { name, root, migrations: migrationsIn(root) };
}

/** The migrations of this release, oldest first. */
export const ownMigrations = () => migrationsIn(ownRoot);

/** Applies a release's migrations with its own command line. By default, this one's. */
export async function migrateWith(databaseUrl: string, root = ownRoot): Promise<void> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  await run(process.execPath, [join(root, 'apps/crm/bin/leads.js'), 'migrate'], { env });
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: ownRoot })).stdout.trim();
}

const readLock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');

function migrationsIn(root: string): string[] {
  return readdirSync(join(root, 'prisma/migrations'))
    .filter((name) => /^\d{14}_/.test(name))
    .toSorted();
}

/** Modules of others are this one's; those of the repository are its own. */
function linkModules(root: string): void {
  const modules = join(ownRoot, 'node_modules');
  mkdirSync(join(root, 'node_modules/@leads'), { recursive: true });
  for (const name of readdirSync(modules)) {
    const isPrivate = name.startsWith('.') && name !== '.bin';
    if (!isPrivate && name !== '@leads') symlinkSync(join(modules, name), join(root, 'node_modules', name));
  }
  for (const name of readdirSync(join(modules, '@leads'))) {
    const target = readlinkSync(join(modules, '@leads', name));
    symlinkSync(target, join(root, 'node_modules/@leads', name));
  }
  for (const kind of ['apps', 'packages']) {
    for (const name of readdirSync(join(root, kind))) {
      const nested = join(ownRoot, kind, name, 'node_modules');
      if (existsSync(nested)) symlinkSync(nested, join(root, kind, name, 'node_modules'));
    }
  }
}
