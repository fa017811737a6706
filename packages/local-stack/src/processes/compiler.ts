import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import { signalProcess } from './process-identity.ts';
import type { ServiceName } from './services.ts';

/** What is made of sources anew whenever they change, as a process of its own that writes to the terminal. */
export interface Compiler {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Bundles a service again on every change of its sources, and of all it is made of. */
export function startCompiler(service: ServiceName): Compiler {
  return startScript(join('apps', service), ['build', '--', '--watch=forever']);
}

/** Serves the website from its sources, where a change shows at once. It says at which address. */
export function startWebsite(crmUrl: string): Compiler {
  return startScript('packages/website', ['dev'], { CRM_URL: crmUrl });
}

function startScript(directory: string, script: readonly string[], env: NodeJS.ProcessEnv = {}): Compiler {
  const child = spawn('npm', ['run', '--silent', ...script], {
    cwd: join(repositoryRoot, directory),
    env: { ...process.env, ...env },
    detached: true,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = once(child, 'exit');
  // npm runs the program as a child of its own, so it is the group that is told.
  const endGroup = () =>
    signalProcess(process.platform === 'win32' ? (child.pid ?? 0) : -(child.pid ?? 0), 'SIGTERM');
  process.once('exit', endGroup);
  return {
    pid: child.pid ?? 0,
    async stop() {
      endGroup();
      await exited;
      process.off('exit', endGroup);
    },
  };
}
