import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** How many stops there may be on the way. */
const maxStops = 80;
/** How many there may be to choose from. */
const maxChoices = 20;

/** What has the focus, as it is called; empty where nothing has it. */
export async function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null;
    if (element === null || element === document.body) return '';
    const label = element.labels?.[0]?.textContent ?? element.textContent ?? '';
    return (element.getAttribute('aria-label') ?? label).replace(/\s*\*$/, '').trim();
  });
}

/** Goes on by Tab until what has the focus is called so, from what has it now on. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const matches = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
  const seen: string[] = [];
  for (let stop = 0; stop < maxStops; stop++) {
    const focused = await focusedName(page);
    if (matches(focused)) return;
    seen.push(focused);
    await page.keyboard.press('Tab');
  }
  throw new Error(`${String(name)} is not reached by Tab: ${seen.join(' | ')}`);
}

/** Goes to a button, a link or a box by Tab, and presses it. */
export async function press(
  page: Page,
  name: string | RegExp,
  key: 'Enter' | 'Space' = 'Enter',
): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press(key);
}

/** Goes to a field by Tab, and writes in the place of what is there. */
export async function write(page: Page, name: string | RegExp, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(text);
}

/** Goes to a list of choices by Tab, and chooses by the arrows. */
export async function choose(page: Page, name: string | RegExp, option: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('ArrowDown');
  const wanted = page.getByRole('option', { name: option, exact: true });
  await wanted.waitFor();
  for (let i = 0; i < maxChoices; i++) {
    if ((await wanted.getAttribute('data-combobox-selected')) !== null) {
      await page.keyboard.press('Enter');
      return;
    }
    await page.keyboard.press('ArrowDown');
  }
  throw new Error(`${option} is not reached by the arrows`);
}

/** Opens a menu, and goes to an item of it by the arrows. */
export async function chooseItem(page: Page, menu: string | RegExp, item: string): Promise<void> {
  await press(page, menu);
  // What is pressed before it has the focus is for its button.
  await expectFocusWithin(page.getByRole('menu'));
  const chosen = page.locator('[role^="menuitem"]', { hasText: item });
  await chosen.waitFor();
  for (let i = 0; i < maxChoices; i++) {
    await page.keyboard.press('ArrowDown');
    if (await chosen.evaluate((element) => element === document.activeElement)) {
      await page.keyboard.press('Enter');
      return;
    }
  }
  throw new Error(`${item} is not reached by the arrows`);
}

/** The focus comes to something in it. */
export async function expectFocusWithin(part: Locator): Promise<void> {
  const isWithin = () => part.evaluate((element) => element.contains(document.activeElement));
  await expect.poll(isWithin, { timeout: 15_000 }).toBe(true);
}

/** The focus comes to what is called so. */
export async function expectFocusOn(page: Page, name: string | RegExp): Promise<void> {
  const focused = () => focusedName(page);
  if (typeof name === 'string') await expect.poll(focused, { timeout: 15_000 }).toBe(name);
  else await expect.poll(focused, { timeout: 15_000 }).toMatch(name);
}
