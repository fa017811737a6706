import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { chooseItem, tabTo } from './by-keyboard.ts';
import { type Console, startConsole } from './console.ts';

let console: Console;
beforeAll(async () => {
  console = await startConsole();
}, 400_000);
afterEach(() => console.closePages());
afterAll(() => console?.[Symbol.asyncDispose]());

test('without a mouse: to every page, and through what is done there', async () => {
  const { page, workspace } = await console.openSignedIn();
  await console.fixture.campaigns.addLandingPages([{ workspaceId: workspace.id, name: 'spring-offer' }]);
  const open = async (label: string) => {
    await tabTo(page, label);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: label, level: 1 }).waitFor();
  };
  await page.goto('/overview');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  // The way past the navigation is the first of all.
  await tabTo(page, 'Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');

  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await open('Campaigns');
  await tabTo(page, 'New campaign');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await page.keyboard.type('Spring offer');
  await tabTo(page, 'Code');
  await page.keyboard.type('SPRING');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('SPRING', { exact: true }).waitFor();

  await tabTo(page, /spring-offer/);
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: /SPRING/ }).waitFor();
  await page.keyboard.type('SPRING');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect
    .poll(() =>
      console.fixture.sql(
        `SELECT code FROM landing_page JOIN campaign ON campaign.id = campaign_id WHERE landing_page.name = $1`,
        ['spring-offer'],
      ),
    )
    .toEqual([{ code: 'SPRING' }]);

  await page.goto('/members');
  await page.getByRole('heading', { name: 'Members' }).waitFor();
  await tabTo(page, 'Invite someone');
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await page.keyboard.type('guest@example.com');
  await page.keyboard.press('Enter');
  await dialog.getByText(/\/invitations\//).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('guest@example.com').waitFor();

  await page.goto('/profile');
  await page.getByRole('heading', { name: 'Profile' }).waitFor();
  await tabTo(page, 'Credentials');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'Account', selected: true }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByText('This one').waitFor();

  await chooseItem(page, /^Your account/, 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
