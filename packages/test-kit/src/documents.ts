import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect } from 'vitest';

/** The Markdown pages of the repository, as paths from its root. */
export const pages: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  { cwd: repositoryRoot, encoding: 'utf8' },
)
  .split('\n')
  .filter(Boolean);

export const readPage = (page: string): string => readFileSync(join(repositoryRoot, page), 'utf8');

/** Returns the shell code blocks of a page. */
export const shellBlocks = (page: string): string[] =>
  [...readPage(page).matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);

const configurationPage = 'docker/CONFIGURATION.md';

/**
 * Checks the table of docker/CONFIGURATION.md against a config schema. The table has one row for each
 * setting, with its default and its description, and no other row for this reader. The paragraph about
 * secrets must name every secret.
 *
 * @param reader a value of the column "Read by".
 */
export function expectSettingsDocumented(reader: string, settings: Readonly<Record<string, object>>): void {
  const rows = rowsOf(reader).map(([, name = '', , fallback, meaning]) => [name, { fallback, meaning }]);
  const expected = Object.entries<{ default?: unknown; description?: string }>(settings).map(
    ([name, setting]) => [name, { fallback: describeDefault(setting), meaning: setting.description }],
  );
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected));

  const [paragraph = ''] = /^Secrets may be files [^]*?\n\n/m.exec(readPage(configurationPage)) ?? [];
  for (const [name, setting] of Object.entries(settings)) {
    expect([name, paragraph.includes(`\`${name}\``)]).toEqual([name, 'secret' in setting]);
  }
}

/** Returns the names of the settings in the configuration table for a reader. */
export function documentedSettings(reader: string): string[] {
  return rowsOf(reader).map(([, name = '']) => name);
}

function rowsOf(reader: string): RegExpMatchArray[] {
  const rows = [...readPage(configurationPage).matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*?) \| (.*) \|$/gm)];
  return rows.filter(([, , readers = '']) => readers.split(', ').includes(reader));
}

function describeDefault(setting: { default?: unknown }): string {
  const { default: value } = setting;
  // TypeBox marks optional properties with this key.
  if (value === undefined) return '~optional' in setting ? 'none' : 'required';
  return value === '' ? 'none' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
}
