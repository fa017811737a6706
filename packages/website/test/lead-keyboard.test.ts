import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { addLeads, grid, notice, rowOf, storedOf } from './leads-page.ts';
import { type Website, hold, screenshot, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('with the keyboard only', () => {
  test('a lead is approved with only `/` or Ctrl K, its digits, Enter and a, and no other lead while the search is late', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(website, workspace, member, 250, (i) =>
      i < 240 ? {} : { phone: `+33123456${i}` },
    );
    const approved = async () => {
      const stored = await website.fixture.sql<{ id: string }>(
        `SELECT id FROM lead WHERE workspace_id = $1 AND status = 'Approved'`,
        [workspace.id],
      );
      return stored.map(({ id }) => ids.indexOf(id)).toSorted((a, b) => a - b);
    };
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const script = await hold(page, /command-palette-.*\.js/);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await page.evaluate(() => {
      document.addEventListener('keydown', ({ key }) => (document.body.dataset['keys'] += ` ${key}`), true);
      document.body.dataset['keys'] = '';
    });
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const search = async (open: '/' | 'Control+k', digits: string) => {
      await press(open);
      await page.keyboard.type(digits);
      await press('Enter');
    };
    const pressed = () => page.evaluate(() => document.body.dataset['keys']?.trim());

    await search('/', '79400017');
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    await page.locator('[data-active]').filter({ hasText: '+442079400017' }).waitFor();
    await press('a');
    await notice(page, '1 lead marked as Approved').waitFor();
    expect(await approved()).toEqual([17]);
    expect(await pressed()).toBe('/ 7 9 4 0 0 0 1 7 Enter a');

    // The script of the palette arrives after the last key.
    await search('Control+k', '79400018');
    script.release();
    await panel.getByRole('heading', { level: 2, name: 'Person 0018' }).waitFor();
    await panel.getByText('+442079400018').waitFor();
    await press('a');
    await expect.poll(approved).toEqual([17, 18]);
    expect(await pressed()).toBe('/ 7 9 4 0 0 0 1 7 Enter a Control k 7 9 4 0 0 0 1 8 Enter a');

    // The user has not read the row that the list still shows.
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    const answer = await hold(page, /\/order\/leads\?.*q=33123456/);
    await search('/', '33123456');
    await press('a', 'Enter');
    await notice(page, 'The lead is not shown yet').waitFor();
    answer.release();
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    expect(await panel.count()).toBe(0);
    // Of several results that the list has not shown before, the first one is the active row.
    await page.locator('[data-active]').filter({ hasText: 'Person 0240' }).waitFor();
    await press('a');
    await expect.poll(approved).toEqual([17, 18, 240]);
  });

  test('shortcuts work with Caps Lock and on a keyboard with Cyrillic letters', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(website, workspace, member, 3);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    const session = await page.context().newCDPSession(page);
    const press = async (key: string, code: string, modifiers = 0) => {
      for (const type of ['rawKeyDown', 'keyUp'] as const)
        await session.send('Input.dispatchKeyEvent', { type, key, code, modifiers });
    };
    const statusAt = async (i: number) => (await storedOf(website, ids[i] ?? '')).status;
    await grid(page).focus();
    await press('о', 'KeyJ');
    await press('ф', 'KeyA');
    await expect.poll(() => statusAt(1)).toBe('Approved');
    await press('U', 'KeyU');
    await expect.poll(() => statusAt(1)).toBe('OnHold');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Person 0001' }).waitFor();
    await press('ф', 'KeyA');
    await page.getByRole('heading', { level: 2, name: 'Person 0002' }).waitFor();
    await press('A', 'KeyA');
    await expect.poll(() => Promise.all([0, 1, 2].map(statusAt))).toEqual(['OnHold', 'Approved', 'Approved']);
    const control = 2;
    await press('л', 'KeyK', control);
    await page.getByRole('dialog', { name: 'Search leads, pages and actions' }).waitFor();
  });

  test('leads can be found, selected, changed, opened and created', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(website, workspace, member, 5);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-shortcuts');
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The focus returns to the list a moment after the dialog has closed.
    const isOnList = () => grid(page).evaluate((element) => document.activeElement === element);
    await expect.poll(isOnList).toBe(true);
    const answered = page.waitForResponse((answer) => /leads\?.*q=person(&|$)/.test(answer.url()));
    await press('/');
    await page.keyboard.type('person');
    await press('Enter');
    await page.waitForURL('**q=person');
    await expect.poll(isOnList).toBe(true);
    // Keys change no lead before the answer is shown.
    await answered;
    await page.locator('[aria-busy="false"]').getByRole('grid').waitFor();
    const active = async () =>
      page.locator(`[id="${await grid(page).getAttribute('aria-activedescendant')}"]`).textContent();
    await press('j');
    await expect.poll(active).toContain('Person 0001');
    await press('k', 'ArrowDown');
    await expect.poll(active).toContain('Person 0001');

    await press(' ', 'Shift+ArrowDown', 'a');
    await notice(page, '2 leads marked as Approved').waitFor();
    expect((await storedOf(website, ids[2] ?? '')).status).toBe('Approved');
    await press('u');
    await notice(page, 'Undone for 2 leads').waitFor();
    await press('t');
    await page.getByRole('dialog', { name: /^Why mark/ }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('radio');
    await press('ArrowDown');
    await expect.poll(() => page.getByRole('radio', { name: 'Wrong number' }).isChecked()).toBe(true);
    await press('Enter');
    await notice(page, '2 leads marked as Trashed').waitFor();
    await expect.poll(isOnList).toBe(true);
    expect((await storedOf(website, ids[1] ?? '')).changes.at(-1)).toBe('Trashed (Wrong number)');
    await press('h');
    await notice(page, '2 leads marked as On hold').waitFor();
    await notice(page, '2 leads marked as Trashed').waitFor({ state: 'detached' });
    await press('Escape');
    await page.getByText('2 selected').waitFor({ state: 'detached' });

    await press('Enter');
    await page.getByRole('dialog', { name: 'Lead', exact: true }).waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(isOnList).toBe(true);

    await page.getByRole('button', { name: 'New lead' }).focus();
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New lead' });
    await dialog.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.type('Person Typed');
    await press('Enter');
    await dialog.getByText('Must not be empty').or(dialog.getByText('Is required')).first().waitFor();
    await dialog.getByLabel('Phone', { exact: false }).fill('+442079460958');
    await screenshot(page, 'leads-new');
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await rowOf(page, 'Person Typed').waitFor();
  });
});
