import { expect, test } from 'vitest';
import { gzippedBytes, readInitialScripts } from './built-scripts.ts';

/** What a page may load of scripts before it shows anything, in bytes as gzip has them. */
const most = 250_000;

const pages = readInitialScripts();

test('there are pages, and each loads what it is made of', () => {
  expect([...pages.keys()]).toContain('src/pages/leads/leads-page.tsx');
  expect(pages.size).toBeGreaterThan(10);
  for (const scripts of pages.values()) expect([...scripts].join()).toContain('index-');
});

test.for([...pages])('%s is shown by few scripts', ([page, scripts]) => {
  const bytes = [...scripts].reduce((sum, file) => sum + gzippedBytes(file), 0);
  console.log(`${page}: ${bytes} bytes of scripts by gzip, in ${scripts.size} files`);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(most);
});
