import { pages, readPage, shellBlocks } from '@leads/test-kit/documents';
import { expect, test } from 'vitest';
import { helpText, parseCommand } from '../src/commands.ts';

const benchPages = pages.filter((page) => page.startsWith('packages/bench/'));

/** The arguments of each `npm run bench` in a shell block of any page, without the comments. */
const documented = Array.from(
  pages
    .flatMap(shellBlocks)
    .join('\n')
    .matchAll(/^npm run bench(?: --)?([^#\n]*)/gm),
  ([, args = '']) => args.split(' ').filter(Boolean),
);

test('the pages contain more than 10 benchmark commands', () => {
  expect(documented.length).toBeGreaterThan(10);
});

test.each(documented.filter(([first]) => first !== '--help').map((args) => args.join(' ')))(
  '`npm run bench -- %s` has valid arguments',
  (args) => {
    expect(() => parseCommand(args.split(' ').filter(Boolean))).not.toThrow();
  },
);

test('every option that a page of the benchmarks names is in the help text', () => {
  const named = Array.from(
    benchPages
      .map(readPage)
      .join('\n')
      .matchAll(/`(--[a-z-]+)[^`]*`/g),
    ([, option = '']) => option,
  );
  // V8 has these options. The page names them, because they did not help.
  const known = `${helpText()}\n  --max-semi-space-size \n  --single-threaded-gc `;
  expect(named.filter((option) => !known.includes(`  ${option} `))).toEqual([]);
});

test.each<[string[], string]>([
  [['nothing'], 'Unknown command nothing'],
  [['list', '--steps', 'nothing'], 'nothing'],
  [['list', '--effort', '0'], '--effort'],
  [['list', '--fast'], '--fast'],
  [['--steps', 'nothing'], 'nothing'],
  [['--connections', '1,x'], '--connections'],
  [['--rounds', '0'], '--rounds'],
  [['--seconds', '0'], '--seconds'],
  [['--sizes', '10k'], '--sizes'],
  [['faults', '--scenarios', 'nothing'], 'nothing'],
  [['faults', '--rate', '0'], '--rate'],
  [['rolls', '--rolls', '0'], '--rolls'],
  [['upgrade', '--rate', 'x'], '--rate'],
  [['fuzz', '--seed', '0'], '--seed'],
])('the arguments %j are rejected with an error that names %j', (args, expectedText) => {
  expect(() => parseCommand(args)).toThrow(expectedText);
});
