import { expect, test } from 'vitest';
import { gzippedBytes, readInitialScripts } from './built-scripts.ts';

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
