import { type Command, flag, helpOf, readOptions, text } from './command.ts';
import { deliveries } from './deliveries/command.ts';
import { faults } from './drills/command.ts';
import { fuzz } from './fuzz/command.ts';
import { hold } from './hold/command.ts';
import { intake } from './intake/command.ts';
import { list } from './list/command.ts';
import { neighbors } from './neighbors/command.ts';
import { payouts } from './payouts/command.ts';
import { rolls } from './rolls/command.ts';
import { upgrade } from './upgrade/command.ts';

const commands: Readonly<Record<string, Command>> = {
  intake,
  list,
  deliveries,
  hold,
  payouts,
  neighbors,
  faults,
  rolls,
  upgrade,
  fuzz,
};
/** The options of every command. */
const common = {
  dataDir: text('directory for the data (default: a temporary one)'),
  json: flag('print the figures as JSON'),
};

/** Returns the help text of all commands. */
export function helpText(): string {
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

/**
 * Returns the command that the arguments name, and its options.
 *
 * @throws Error with one line about the first invalid argument.
 */
export function parseCommand(args: readonly string[]) {
  const [first = ''] = args;
  const isNamed = first !== '' && !first.startsWith('-');
  const command = commands[isNamed ? first : 'intake'];
  if (command === undefined) {
    throw new Error(`Unknown command ${first}. Use one of ${Object.keys(commands).join(', ')}`);
  }
  const options = readOptions({ ...command.options, ...common }, isNamed ? args.slice(1) : args);
  return { command, options };
}
