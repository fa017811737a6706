import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { gzippedBytes, readBuiltModules, readInitialScripts } from './built-scripts.ts';

/** The maximum size in bytes, with gzip, of the scripts that a page loads before it shows anything. */
const maxBytes = 250_000;

const pages = readInitialScripts();

test('the manifest contains all pages, and each page loads the entry script', () => {
  expect([...pages.keys()]).toContain('src/pages/leads/leads-page.tsx');
  expect(pages.size).toBeGreaterThan(10);
  for (const scripts of pages.values()) expect([...scripts].join()).toContain('index-');
});

test.for([...pages])('%s loads less than 250 kB of scripts before it shows anything', ([page, scripts]) => {
  const bytes = [...scripts].reduce((sum, file) => sum + gzippedBytes(file), 0);
  console.log(`${page}: ${bytes} bytes of scripts with gzip, in ${scripts.size} files`);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(maxBytes);
});

test.for([
  ['leads', 5],
  ['overview', 5],
  ['campaigns', 6],
  ['statements', 7],
] as const)(
  'the page %s needs at most %i files of scripts, because a browser requests 6 files at once',
  ([page, maxFiles]) => {
    expect(pages.get(`src/pages/${page}/${page}-page.tsx`)?.size).toBeLessThanOrEqual(maxFiles);
  },
);

test('the styles contain the components that the website uses, and no others', () => {
  const library = join(createRequire(import.meta.url).resolve('@mantine/core/styles.css'), '../styles');
  const styles = readFileSync(resolve(import.meta.dirname, '../src/components.css'), 'utf8');
  const imported = new Set([...styles.matchAll(/styles\/([A-Z]\w+)\.css"/g)].map(([, name]) => name));
  const used = readBuiltModules()
    .map((module) => /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(module)?.[1])
    .filter((name) => name !== undefined && existsSync(join(library, `${name}.css`)));
  expect(imported).toEqual(new Set(used));
});
