import { constants } from 'node:os';
import { listenForStop } from '@leads/local-stack/stop-request';
import { type Command, flag, helpOf, readOptions, text } from './command.ts';
import { faults } from './drills/command.ts';
import { intake } from './intake/command.ts';
import { list } from './list/command.ts';
import { rolls } from './rolls/command.ts';
import { formatFigures } from './table.ts';
import { upgrade } from './upgrade/command.ts';

const commands: Readonly<Record<string, Command>> = { intake, list, faults, rolls, upgrade };
/** The options of every command. */
const common = {
  dataDir: text('directory for the data (default: a temporary one)'),
  json: flag('print the figures as JSON'),
};

function helpText(): string {
  const sections = Object.entries(commands).map(
    ([name, { summary, options }]) => `${name}: ${summary}\n${helpOf(options)}`,
  );
  return [
    `Usage: npm run bench -- [${Object.keys(commands).join(' | ')}] [options]`,
    'Without a command, intake runs. Progress goes to stderr. packages/bench/README.md explains the figures.',
    ...sections,
    `All commands:\n${helpOf(common)}`,
  ].join('\n\n');
}

async function runCommand(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return console.log(helpText());
  const [first = ''] = args;
  const isNamed = first !== '' && !first.startsWith('-');
  const command = commands[isNamed ? first : 'intake'];
  if (command === undefined) {
    throw new Error(`Unknown command ${first}. Use one of ${Object.keys(commands).join(', ')}`);
  }
  const options = readOptions({ ...command.options, ...common }, isNamed ? args.slice(1) : args);
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
