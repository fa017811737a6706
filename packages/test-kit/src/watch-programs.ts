import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { basename } from 'node:path';
import { isIndiscreet } from './canaries.ts';

/** Our programs, and which of their streams are logs: the command line prints on stdout what it is asked for. */
const logsOf = new Map<string, readonly ('stdout' | 'stderr')[]>([
  ['server.js', ['stdout', 'stderr']],
  ['leads.js', ['stderr']],
]);

/**
 * Looks through the logs of every service and command that this process starts from now on, whoever starts it.
 *
 * @param onIndiscreet hears each line that holds a secret or personal data that a test sent.
 * @returns looks no longer at those that are started then.
 */
export function watchPrograms(onIndiscreet: (line: string) => void): () => void {
  const watch = (message: unknown) => {
    const { process: child } = message as { process: ChildProcess };
    // Its output flows no sooner than this.
    child.once('spawn', () => {
      const streams = child.spawnargs.map((arg) => logsOf.get(basename(arg))).find(Boolean) ?? [];
      for (const name of streams) {
        let rest = '';
        const look = (text: string) => {
          if (isIndiscreet(text)) text.split('\n').filter(isIndiscreet).forEach(onIndiscreet);
        };
        child[name]?.on('data', (chunk: Buffer | string) => {
          const text = rest + String(chunk);
          const end = text.lastIndexOf('\n') + 1;
          rest = text.slice(end);
          look(text.slice(0, end));
        });
        child[name]?.once('close', () => look(rest));
      }
    });
  };
  subscribe('child_process', watch);
  return () => void unsubscribe('child_process', watch);
}
