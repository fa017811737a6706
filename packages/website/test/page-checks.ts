import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { findViolations } from './axe.ts';
import { screenshot } from './website.ts';

/** Checks that a page has no accessibility violations and does not scroll horizontally. */
export async function expectGoodPage(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([]);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
}

/** Returns by how many pixels a page scrolls horizontally. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Emulates the user's preference for a color scheme. */
export async function setColorScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor();
}

/** Checks a page in light mode, and its contrast in dark mode. Takes screenshots of both. */
export async function expectGoodInBothColors(page: Page, name: string): Promise<void> {
  await expectGoodPage(page);
  await screenshot(page, `${name}-light`);
  await setColorScheme(page, 'dark');
  expect(await findViolations(page, { rules: ['color-contrast'] })).toEqual([]);
  await screenshot(page, `${name}-dark`);
  await setColorScheme(page, 'light');
}

/** Checks a page on a desktop and on a phone, each in light mode, and its contrast in dark mode. */
export async function expectGoodAtBothWidths(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await expectGoodInBothColors(page, `${name}-${width}`);
  }
  if (size !== null) await page.setViewportSize(size);
}

/** Checks a page on a desktop in light mode and on a phone in dark mode. Takes screenshots of both. */
export async function expectGoodEverywhere(page: Page, name: string): Promise<void> {
  const size = page.viewportSize();
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1440, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await setColorScheme(page, colorScheme);
    await expectGoodPage(page);
    await screenshot(page, `${name}-${width}-${colorScheme}`);
  }
  if (size !== null) await page.setViewportSize(size);
}
