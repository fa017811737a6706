import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@leads/local-stack/repository';

const run = promisify(execFile);

/** A release of this repository, built in its own directory. */
export interface Release {
  /** The short hash and the subject of its commit. */
  readonly name: string;
  readonly root: string;
  /** Its migrations, oldest first. */
  readonly migrations: readonly string[];
}

/**
 * Returns the newest tag `v*` before this commit. Without a tag, it returns the commit before the newest
 * migration, since later commits have the same schema.
 *
 * @throws Error if git finds neither.
 */
export async function previousRevision(): Promise<string> {
  try {
    return await git('describe', '--tags', '--match=v*', '--abbrev=0', 'HEAD^');
  } catch {
    const added = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'prisma/migrations');
    if (added === '') throw new Error('No previous release found: name one with --from');
    return `${added}^`;
  }
}

/**
 * Builds both services of a revision. It links the modules of this repository if package-lock.json is the
 * same, and installs them otherwise.
 *
 * @throws Error if the revision does not exist or the build fails.
 */
export async function buildRelease(revision: string, root: string): Promise<Release> {
  const name = await git('log', '-1', '--format=%h %s', revision).catch(() => {
    throw new Error(
      `Revision ${revision} does not exist in git: name another with --from, or fetch the full history`,
    );
  });
  mkdirSync(root);
  const archive = `${root}.tar`;
  await git('archive', `--output=${archive}`, revision);
  await run('tar', ['-xf', archive, '-C', root]);
  if (readLock(root) === readLock(repositoryRoot)) linkModules(root);
  else await run('npm', ['ci', '--ignore-scripts'], { cwd: root, maxBuffer: 2 ** 26 });
  // Builds only the packages of the services.
  const turbo = (...args: string[]) =>
    run('npx', ['turbo', 'run', ...args], { cwd: root, maxBuffer: 2 ** 26 });
  await turbo('generate');
  const packages = ['core', 'website', 'crm', 'intake'];
  await turbo('build', '--only', ...packages.map((each) => `--filter=@leads/${each}`));
  return { name, root, migrations: migrationsIn(root) };
}

/** Returns the migrations of this release, oldest first. */
export const ownMigrations = () => migrationsIn(repositoryRoot);

/** Applies a release's migrations with its command line. Default: this release. */
export async function migrateWith(databaseUrl: string, root = repositoryRoot): Promise<void> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  await run(process.execPath, [join(root, 'apps/crm/bin/leads.js'), 'migrate'], { env });
}

async function git(...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: repositoryRoot })).stdout.trim();
}

const readLock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');

function migrationsIn(root: string): string[] {
  return readdirSync(join(root, 'prisma/migrations'))
    .filter((name) => /^\d{14}_/.test(name))
    .toSorted();
}

/** Links the installed modules of this repository, except the packages of the release itself. */
function linkModules(root: string): void {
  const modules = join(repositoryRoot, 'node_modules');
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
      const nested = join(repositoryRoot, kind, name, 'node_modules');
      if (existsSync(nested)) symlinkSync(nested, join(root, kind, name, 'node_modules'));
    }
  }
}
