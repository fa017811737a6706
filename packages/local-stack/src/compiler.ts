import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { signalProcess } from './process-identity.ts';
import { repositoryRoot } from './repository.ts';
import type { ServiceName } from './services.ts';

/** Bundles a service again on every change of its sources, and of all it is made of; it writes to the terminal. */
export function startCompiler(service: ServiceName): { pid: number; stop(): Promise<void> } {
  const child = spawn('npm', ['run', '--silent', 'build', '--', '--watch=forever'], {
    cwd: join(repositoryRoot, 'apps', service),
    detached: true,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = once(child, 'exit');
  // npm runs the bundler as a child of its own, so it is the group that is told.
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
