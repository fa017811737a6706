import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How it is started here: as any user, root too, and asking nothing of the network by itself. */
export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const places = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/snap/bin/chromium'];

/**
 * The path of a Chromium: that of CHROMIUM_PATH, else one on the PATH, else Debian's, which root can install.
 *
 * @throws Error that says what to install.
 */
export async function findChromium(): Promise<string> {
  const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  // What another test file is installing is there before it can run.
  const found = canInstall ? await inTurn(async () => installed() ?? (await install())) : installed();
  if (found !== undefined) return found;
  throw new Error(
    'The website is tested and measured in a real Chromium, and there is none: install it (Debian, Ubuntu: sudo apt-get install chromium; macOS: brew install --cask google-chrome), or name one by CHROMIUM_PATH',
  );
}

async function install(): Promise<string | undefined> {
  console.error("There is no Chromium: installing Debian's, which takes a minute");
  const command = ['-y', '-q', 'install', '--no-install-recommends', 'chromium'];
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 2 ** 26 };
  try {
    await run('apt-get', command, options);
  } catch {
    await run('apt-get', ['-q', 'update'], options);
    await run('apt-get', command, options);
  }
  return installed();
}

/** Longer than any installation takes, in milliseconds: whoever has held its turn so long is gone. */
const longestTurnMs = 300_000;

/** One process of this machine after the other. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  const lock = join(tmpdir(), 'leads-chromium.lock');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      if (since > 0 && Date.now() - since > longestTurnMs) rmdirSync(lock);
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
    throw new Error(`CHROMIUM_PATH names a file that is not there: ${named}`);
  }
  const onPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((directory) => names.map((name) => join(directory, name)));
  return [...onPath, ...places].find((path) => existsSync(path));
}
