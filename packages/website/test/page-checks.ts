import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findBarriers } from './axe.ts';
import { screenshot } from './console.ts';

/** Nothing of a page is beyond its right edge, and nobody is kept out of it. */
export async function expectGoodPage(page: Page): Promise<void> {
  expect(await findBarriers(page)).toEqual([]);
  const beyond = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(beyond).toBeLessThanOrEqual(0);
}

/** Checks a page as wide as a desk in light colours and as narrow as a phone in dark ones, and keeps pictures of it. */
export async function expectGoodEverywhere(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1440, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
    await expectGoodPage(page);
    await screenshot(page, `${name}-${width}-${colorScheme}`);
  }
  if (size !== null) await page.setViewportSize(size);
}
