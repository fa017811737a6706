import { pages, readPage, shellBlocks } from '@leads/test-kit/documents';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../src/cli/program.ts';

const { stdin, stdout, stderr, env } = process;

/** The `leads` commands of all pages, from shell blocks and from backticks. */
const documented = pages
  .flatMap((page) => {
    const inBackticks = [...readPage(page).matchAll(/`(leads [^`]+)`/g)].map(([, code = '']) => code);
    return shellBlocks(page)
      .map((block) => block.replaceAll(/ #.*$/gm, ''))
      .concat(inBackticks);
  })
  .flatMap((text) =>
    Array.from(
      text.matchAll(/(?<=^|[\s|])(?<!--namespace )leads ([a-z][a-z-]*(?: [^\n|&;]*)?)/g),
      ([, words = '']) => words.trim(),
    ),
  );

test('the pages contain more than 40 `leads` commands', () => {
  expect(documented.length).toBeGreaterThan(40);
});

test.each([...new Set(documented)])('`leads %s` is an existing command with existing options', (line) => {
  let command: Command = createProgram({
    stdin,
    stdout,
    stderr,
    env,
    interruption: () => new AbortController().signal,
  });
  for (const word of line.split(' ')) {
    const next = command.commands.find((sub) => sub.name() === word);
    if (next === undefined) break;
    command = next;
  }
  expect(command.parent).not.toBeNull();
  const options = new Set([...command.options.map(({ long }) => long), '--help']);
  expect(
    [...line.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option).filter((option) => !options.has(option)),
  ).toEqual([]);
});
