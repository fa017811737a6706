import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect } from 'vitest';

/**
 * Holds the README's configuration table against a config schema: one row a setting, with its default and its
 * description, and no row that the reader does not know; the paragraph about secrets names those that are.
 *
 * @param reader as the table's column "Read by" names it.
 */
export function expectSettingsDocumented(reader: string, settings: Readonly<Record<string, object>>): void {
  const rows = rowsOf(reader).map(([, name = '', , fallback, meaning]) => [name, { fallback, meaning }]);
  const expected = Object.entries<{ default?: unknown; description?: string }>(settings).map(
    ([name, setting]) => [name, { fallback: describeDefault(setting), meaning: setting.description }],
  );
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected));

  const [paragraph = ''] = /^Secrets may be files [^]*?\n\n/m.exec(readReadme()) ?? [];
  for (const [name, setting] of Object.entries(settings)) {
    expect([name, paragraph.includes(`\`${name}\``)]).toEqual([name, 'secret' in setting]);
  }
}

/** The names of the settings that the configuration table has for a reader. */
export function documentedSettings(reader: string): string[] {
  return rowsOf(reader).map(([, name = '']) => name);
}

function readReadme(): string {
  return readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
}

function rowsOf(reader: string): RegExpMatchArray[] {
  const rows = [...readReadme().matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*?) \| (.*) \|$/gm)];
  return rows.filter(([, , readers = '']) => readers.split(', ').includes(reader));
}

function describeDefault(setting: { default?: unknown }): string {
  const { default: value } = setting;
  // What TypeBox marks an optional property by.
  if (value === undefined) return '~optional' in setting ? 'none' : 'required';
  return value === '' ? 'none' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
}
