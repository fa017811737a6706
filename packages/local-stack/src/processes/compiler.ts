import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import type { ServiceName } from './services.ts';
import { type SupervisedProcess, startProcess } from './supervisor.ts';

/** Bundles a service again when its sources change. */
export function startCompiler(service: ServiceName): SupervisedProcess {
  return startScript(join('apps', service), ['build', '--', '--watch=forever']);
}

/** Serves the website from its sources, so changes show immediately. It prints its address. */
export function startWebsite(crmUrl: string): SupervisedProcess {
  return startScript('packages/website', ['dev'], { CRM_URL: crmUrl });
}

function startScript(
  directory: string,
  script: readonly string[],
  env: NodeJS.ProcessEnv = {},
): SupervisedProcess {
  return startProcess({
    name: `npm run ${script[0]}`,
    file: 'npm',
    args: ['run', '--silent', ...script],
    cwd: join(repositoryRoot, directory),
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
    stdio: ['ignore', 'inherit', 'inherit'],
    // npm does not forward signals to the program that it runs.
    stopsGroup: true,
  });
}
