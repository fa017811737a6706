import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The maximum number of presses of Tab. */
const maxStops = 80;
/** The maximum number of options in a list. */
const maxChoices = 20;

/** The elements that Tab can reach. */
const stops = 'a[href], button, input, select, textarea, [tabindex="0"]';

/** Returns the accessible names of the elements that match a CSS selector. */
function namesOf(page: Page, selector: string): Promise<string[]> {
  // A locator takes 3 requests to the browser, and Playwright's scripts a second time in each document.
  return page.evaluate(
    (css) =>
      [...document.querySelectorAll(css)].map((element) => {
        const label = (element as HTMLInputElement).labels?.[0]?.textContent ?? element.textContent;
        return (element.getAttribute('aria-label') ?? label).replace(/\s*\*$/, '').trim();
      }),
    selector,
  );
}

/** Returns the accessible name of the focused element, or an empty text if no element has the focus. */
export async function focusedName(page: Page): Promise<string> {
  const [name = ''] = await namesOf(page, ':focus');
  return name;
}

/**
 * Presses Tab until the focused element has the given name. Starts with the current element.
 * Waits for the element first, because a page loads parts of its content later.
 */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const matches = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
  await expect.poll(() => namesOf(page, stops)).toSatisfy((names: string[]) => names.some(matches));
  const seen: string[] = [];
  for (let stop = 0; stop < maxStops; stop++) {
    const focused = await focusedName(page);
    if (matches(focused)) return;
    seen.push(focused);
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(name)}, only: ${seen.join(' | ')}`);
}

/** Checks that the focused element is in the window, and that no other element covers it (WCAG 2.2, 2.4.11). */
export async function expectFocusShown(page: Page): Promise<void> {
  const isFocusShown = () => page.evaluate(isShown, undefined);
  await expect.poll(isFocusShown, { timeout: 60_000, message: await focusedName(page) }).toBe(true);
}

/** Checks that an element is in the window, and that no other element covers it. */
export async function expectShown(element: Locator): Promise<void> {
  await expect.poll(() => element.evaluate(isShown)).toBe(true);
}

/**
 * Whether the middle of the visible part of an element is in the window. Evaluated in the page.
 *
 * @param element the default is the focused element.
 */
function isShown(element: Element = document.activeElement ?? document.body): boolean {
  // The library shows a label in place of some inputs.
  const shown = element.matches('[type="radio"], [type="checkbox"]')
    ? (element.closest('label') ?? element.parentElement)
    : element;
  const { left, right, top, bottom } = shown?.getBoundingClientRect() ?? new DOMRect();
  const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
  const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
  const visible = document.elementFromPoint(x, y);
  return shown?.contains(visible) === true || visible?.contains(shown) === true;
}

/** Moves to a button, a link or a checkbox with Tab, and presses a key. */
export async function press(
  page: Page,
  name: string | RegExp,
  key: 'Enter' | 'Space' = 'Enter',
): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press(key);
}

/** Moves to a field with Tab, and replaces its content. */
export async function write(page: Page, name: string | RegExp, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(text);
}

/** Moves to a select with Tab, and chooses an option with the arrow keys. */
export async function choose(page: Page, name: string | RegExp, option: string): Promise<void> {
  await tabTo(page, name);
  // A select that saves a choice ignores keys.
  await page.locator(':focus:not([aria-busy="true"])').waitFor();
  await page.keyboard.press('ArrowDown');
  const wanted = page.getByRole('option', { name: option, exact: true });
  await wanted.waitFor();
  for (let i = 0; i < maxChoices; i++) {
    if ((await wanted.getAttribute('data-combobox-selected')) !== null) {
      // Until the select has rendered the selection, Enter would submit the form.
      const isActive = (element: Element) =>
        document.activeElement?.getAttribute('aria-activedescendant') === element.id;
      await expect.poll(() => wanted.evaluate(isActive)).toBe(true);
      await page.keyboard.press('Enter');
      return;
    }
    await page.keyboard.press('ArrowDown');
  }
  throw new Error(`The arrow keys do not reach ${option}`);
}

/** Opens a menu, and chooses an item with the arrow keys. */
export async function chooseItem(page: Page, menu: string | RegExp, item: string): Promise<void> {
  await press(page, menu);
  // Until the menu has the focus, its button receives the keys.
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
  throw new Error(`The arrow keys do not reach ${item}`);
}

/** Waits until an element of a part has the focus. */
export async function expectFocusWithin(part: Locator): Promise<void> {
  const isWithin = () => part.evaluate((element) => element.contains(document.activeElement));
  await expect.poll(isWithin).toBe(true);
}

/** Waits until the element with the given name has the focus. */
export async function expectFocusOn(page: Page, name: string | RegExp): Promise<void> {
  const focused = () => focusedName(page);
  if (typeof name === 'string') await expect.poll(focused).toBe(name);
  else await expect.poll(focused).toMatch(name);
}
