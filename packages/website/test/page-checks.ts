import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findBarriers } from './axe.ts';
import { screenshot } from './website.ts';

/** Nothing of a page is beyond its right edge, and nobody is kept out of it. */
export async function expectGoodPage(page: Page): Promise<void> {
  expect(await findBarriers(page)).toEqual([]);
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(beyond).toBeLessThanOrEqual(0);
}

/** Shows a page in other colours, as a browser does whose user prefers them. */
export async function showIn(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

/** Checks a page in light colours and in dark ones, on which nothing depends but contrast, and keeps pictures of it. */
export async function expectGoodInBothColors(page: Page, name: string): Promise<void> {
  await expectGoodPage(page);
  await screenshot(page, `${name}-light`);
  await showIn(page, 'dark');
  expect(await findBarriers(page, { rules: ['color-contrast'] })).toEqual([]);
  await screenshot(page, `${name}-dark`);
  await showIn(page, 'light');
}

/** Checks a page as wide as a desk in light colours and as narrow as a phone in dark ones, and keeps pictures of it. */
export async function expectGoodEverywhere(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1440, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await showIn(page, colorScheme);
    await expectGoodPage(page);
    await screenshot(page, `${name}-${width}-${colorScheme}`);
  }
  if (size !== null) await page.setViewportSize(size);
}
