import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { basename } from 'node:path';
import { isConfidential } from './confidential.ts';

/** The output streams that are logs, for each program. The command line prints its results on stdout. */
const logsOf = new Map<string, readonly ('stdout' | 'stderr')[]>([
  ['server.js', ['stdout', 'stderr']],
  ['leads.js', ['stderr']],
]);

/**
 * Watches the logs of every service and command that this process starts from now on, in any module.
 *
 * @param onConfidential called with each line that contains a secret or personal data.
 * @returns a function after which newly started programs are not watched.
 */
export function watchLogs(onConfidential: (line: string) => void): () => void {
  const watch = (message: unknown) => {
    const { process: child } = message as { process: ChildProcess };
    // The process has no output before this event.
    child.once('spawn', () => {
      const streams = child.spawnargs.map((arg) => logsOf.get(basename(arg))).find(Boolean) ?? [];
      for (const name of streams) {
        let rest = '';
        const check = (text: string) => {
          if (isConfidential(text)) text.split('\n').filter(isConfidential).forEach(onConfidential);
        };
        child[name]?.on('data', (chunk: Buffer | string) => {
          const text = rest + String(chunk);
          const end = text.lastIndexOf('\n') + 1;
          rest = text.slice(end);
          check(text.slice(0, end));
        });
        child[name]?.once('close', () => check(rest));
      }
    });
  };
  subscribe('child_process', watch);
  return () => void unsubscribe('child_process', watch);
}
