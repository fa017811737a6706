import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Arguments that let Chromium run as any user, including root, without network requests of its own. */
export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// The headless shell has the same engine. Tests take a sixth less processor time with it.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const places = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/snap/bin/chromium'];

/**
 * Returns the path of a Chromium: CHROMIUM_PATH, else one on the PATH, else Debian's, which root can install.
 *
 * @throws Error that names the package to install.
 */
export async function findChromium(): Promise<string> {
  const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  // If another test file is installing Chromium, this waits for the installation.
  const found = canInstall
    ? await withMachineLock(async () => installed() ?? (await install()))
    : installed();
  if (found !== undefined) return found;
  throw new Error(
    "The website's tests and benchmarks need Chromium, which is not installed. Install it (Debian, Ubuntu: sudo apt-get install chromium; macOS: brew install --cask google-chrome), or set CHROMIUM_PATH",
  );
}

async function install(): Promise<string | undefined> {
  console.error('Chromium is not installed: installing the Debian package, about 1 min');
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 2 ** 26 };
  const installPackage = (name: string) =>
    run('apt-get', ['-y', '-q', 'install', '--no-install-recommends', name], options);
  try {
    await installPackage('chromium-headless-shell');
  } catch {
    await run('apt-get', ['-q', 'update'], options);
    // Older releases of Debian have no package of the headless shell alone.
    await installPackage('chromium-headless-shell').catch(() => installPackage('chromium'));
  }
  return installed();
}

/** The maximum age of the lock, in milliseconds. An installation takes less time. A lock of this age belongs to a killed process. */
const maxLockAgeMs = 300_000;

/** Runs `work` under a lock that all processes of this machine share. */
async function withMachineLock<Result>(work: () => Promise<Result>): Promise<Result> {
  // Not in the directory of TMPDIR, which differs between processes. Only Debian's packages are installed.
  const lock = '/tmp/leads-chromium.lock';
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (since > 0 && Date.now() - since > maxLockAgeMs) rmdirSync(lock);
      else await sleep(100);
    }
  }
  try {
    return await work();
  } finally {
    rmdirSync(lock);
  }
}

function installed(): string | undefined {
  const named = process.env['CHROMIUM_PATH'];
  if (named) {
    if (existsSync(named)) return named;
    throw new Error(`CHROMIUM_PATH names a file that does not exist: ${named}`);
  }
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, name)));
  return [...onPath, ...places].find((path) => existsSync(path));
}
