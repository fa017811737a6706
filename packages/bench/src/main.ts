import { constants } from 'node:os';
import { listenForStop } from '@leads/local-stack/stop-request';
import { helpText, parseCommand } from './commands.ts';
import { formatFigures } from './table.ts';

async function runCommand(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return console.log(helpText());
  const { command, options } = parseCommand(args);
  // Child processes end with this process. The program waits for a command that handles the signal.
  if (command.handlesStop !== true) stop.addEventListener('abort', exitStopped);
  const onProgress = (line: string) => console.error(line);
  const { figures, passed } = await command.run(options, { dataDir: options.dataDir, onProgress, stop });
  console.log(options.json ? JSON.stringify(figures, undefined, 2) : formatFigures(figures));
  if (passed !== undefined) console.error(passed ? 'PASSED: all guarantees hold.' : 'FAILED.');
  if (passed === false) process.exitCode = 1;
}

/** Exits with 128 and the signal's number, as a shell reports a process that a signal ended. */
const exitStopped = () => process.exit(128 + constants.signals[stop.reason as NodeJS.Signals]);
const stop = listenForStop(exitStopped);
try {
  await runCommand(process.argv.slice(2));
} catch (error) {
  // Other work may still keep the event loop alive.
  if (stop.aborted) exitStopped();
  console.error((error as Error).message);
  process.exitCode = 1;
}
// Node 20 may loop forever in its own cleanup when it ends by itself, if a killed process held a connection.
process.exit();
