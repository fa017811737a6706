import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const places = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/snap/bin/chromium'];

/**
 * The path of a Chromium: that of CHROMIUM_PATH, else one on the PATH, else Debian's, which root can install.
 *
 * @throws Error that says what to install.
 */
export async function findChromium(): Promise<string> {
  const found = installed();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.error("There is no Chromium: installing Debian's, which takes a minute");
    const install = [
      '-y',
      '-q',
      '-o',
      'DPkg::Lock::Timeout=300',
      'install',
      '--no-install-recommends',
      'chromium',
    ];
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 2 ** 26 };
    try {
      await run('apt-get', install, options);
    } catch {
      await run('apt-get', ['-q', 'update'], options);
      await run('apt-get', install, options);
    }
    const now = installed();
    if (now !== undefined) return now;
  }
  throw new Error(
    'The website is tested in a real Chromium, and there is none: install it (Debian, Ubuntu: sudo apt-get install chromium; macOS: brew install --cask google-chrome), or name one by CHROMIUM_PATH',
  );
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
