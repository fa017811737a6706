import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { expectFocusOn, expectFocusWithin } from './by-keyboard.ts';
import { addLeads, grid, rowOf, storedOf } from './leads-page.ts';
import { overflowOf } from './page-checks.ts';
import { type Website, hold, screenshot, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('the command palette', () => {
  const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Search leads, pages and actions' });
  const box = (page: Page) => paletteOf(page).getByRole('combobox');

  test('finds a lead by the digits of its phone, and only a key after the lead is shown approves it', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(website, workspace, member, 30);
    const palette = paletteOf(page);
    /** The name of the lead that Enter would open, and that a screen reader announces. */
    const chosen = async () => {
      const id = await box(page).getAttribute('aria-activedescendant');
      return page.locator(`[id="${id}"] span`).first().textContent();
    };
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const opened = (name: string) => panel.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    // The script of the palette and the search arrive late. The list must take none of the keys as its own.
    const script = await hold(page, /command-palette-.*\.js/);
    const answer = await hold(page, /\/order\/leads\?q=/);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await grid(page).focus();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('7940001a');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('7');
    script.release();
    await expect.poll(() => box(page).inputValue()).toBe('79400017');
    await page.keyboard.press('Enter');
    await page.keyboard.press('a');
    answer.release();
    await page.keyboard.press('a');
    await opened('Person 0017');
    await page.keyboard.press('a');
    await opened('Person 0018');
    await expect.poll(async () => (await storedOf(website, ids[17] ?? '')).changes).toEqual(['Approved']);
    const changed = await website.fixture.sql('SELECT FROM lead WHERE workspace_id = $1 AND version > 1', [
      workspace.id,
    ]);
    expect(changed).toHaveLength(1);

    // Another lead, while the panel of this one is open. Enter chooses none of several leads that the user has not seen.
    await page.keyboard.press('Control+k');
    // Enter after a text does not change the open lead.
    await box(page).fill('approved');
    await palette.getByRole('option', { name: 'Mark as Approved' }).waitFor();
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(null);
    await box(page).fill('person');
    await page.keyboard.press('Enter');
    await palette.getByRole('option', { name: 'Person 0007' }).waitFor();
    expect(await chosen()).toBe('Person 0000');
    await page.keyboard.press('ArrowDown');
    await expect.poll(chosen).toBe('Person 0001');
    await page.keyboard.press('Enter');
    await opened('Person 0001');
    await expectFocusWithin(panel);
  });

  test('says how many digits of an id it needs if a shorter beginning finds nothing', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1, () => ({ id: '0deadbee-5d2b-7c4e-9f10-2a6b8c0d1e2f' }));
    await page.goto('/overview');
    await page.getByRole('button', { name: 'Search or go to' }).click();
    await box(page).fill('0deadbe');
    const hint = paletteOf(page).getByRole('status');
    await expect.poll(() => hint.textContent()).toContain('an id by its first 8 or more');
    await box(page).fill('0deadbee');
    await page.getByRole('option', { name: 'Person 0000' }).waitFor();
  });

  test('goes to pages, campaigns, views and workspaces, and starts the actions of the page', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const other = await website.fixture.createWorkspace();
    await other.addMember('publisher', { email: member.email });
    await addLeads(website, workspace, member, 3);
    await website.fixture.sql(
      `INSERT INTO saved_view (id, workspace_id, user_id, name, filters)
       VALUES (gen_random_uuid(), $1, $2, 'To call', '{"status":"OnHold"}')`,
      [workspace.id, member.userId],
    );
    await page.goto('/overview');
    const find = async (text: string, option: string) => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await box(page).fill(text);
      await page.getByRole('option', { name: option, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await box(page).waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Search or go to' }).click();
    await box(page).waitFor();
    expect(await page.getByRole('option', { name: 'Audit log' }).count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // The page behind the palette changes its colors by transitions.
      expect(await findViolations(page, { within: '[role="dialog"]' })).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 700 });
    await expect.poll(() => overflowOf(page)).toBe(0);
    await screenshot(page, 'palette-phone');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Escape');
    await expectFocusOn(page, 'Search or go to');

    await find('to ca', 'To call');
    await page.waitForURL(/\/leads\?.*status=OnHold/);
    await page.getByRole('button', { name: 'Views: To call' }).waitFor();
    await find('new le', 'New lead');
    const dialog = page.getByRole('dialog', { name: 'New lead' });
    await dialog.getByLabel('Name').fill('Ada');
    await page.keyboard.press('Control+k');
    expect(await box(page).count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await find('demo', 'DEMO');
    await page.waitForURL(/\/campaigns\//);
    await find('integr', 'Integrations');
    await page.getByRole('button', { name: 'New webhook' }).waitFor();
    await find('new webh', 'New webhook');
    await page.getByRole('dialog', { name: 'New webhook' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A key is made, replaced and revoked. Enter after a text does not choose the action of one key.
    await find('profile', 'Profile');
    await page.getByRole('button', { name: 'Create an API key' }).waitFor();
    await find('create api', 'Create an API key');
    await page.getByRole('dialog', { name: 'Create an API key' }).getByLabel('Name').fill('Shop');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await find('developers', 'Developers');
    // The profile has the same button.
    await page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor();
    await page.getByRole('button', { name: /^Rotate Shop/ }).waitFor();
    await page.keyboard.press('Control+k');
    await box(page).fill('rotate shop');
    await page.getByRole('option', { name: /^Rotate Shop/ }).waitFor();
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(null);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create a replacement for this key?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await find('create access', 'Create an access token');
    await page.getByRole('dialog', { name: 'Create an access token' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await find('usage', 'Usage');
    await page.waitForURL('**tab=usage');
    // A workspace opens only if the user has moved to it.
    await page.keyboard.press('Control+k');
    await box(page).fill(other.slug);
    await page.getByRole('option', { name: other.slug }).waitFor();
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(null);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/w/${other.slug}/leads`));
  });

  test('is closed when Back leads to another page, and stays closed after Forward', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/campaigns');
    await page.getByRole('link', { name: 'Developers' }).click();
    await page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await box(page).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    expect(await paletteOf(page).count()).toBe(0);
    // The page that the palette was opened on shows it no more.
    await page.goForward();
    await page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor();
    expect(await paletteOf(page).count()).toBe(0);
  });
});
