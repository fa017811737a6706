import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { choose, chooseItem, expectFocusOn, press, tabTo, write } from './by-keyboard.ts';
import { type Website, password, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
}, 400_000);
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

test('every page can be reached and used with the keyboard', async () => {
  const { page, workspace } = await website.openSignedIn();
  await website.fixture.campaigns.addLandingPages([{ workspaceId: workspace.id, name: 'spring-offer' }]);
  const open = async (label: string) => {
    await tabTo(page, label);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: label, level: 1 }).waitFor();
  };
  await page.goto('/overview');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  // The first link skips the navigation.
  await tabTo(page, 'Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');

  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await open('Campaigns');
  await tabTo(page, 'New campaign');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expectFocusOn(page, 'Name');
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
      website.fixture.sql(
        `SELECT code FROM landing_page JOIN campaign ON campaign.id = campaign_id
         WHERE landing_page.workspace_id = $1 AND landing_page.name = 'spring-offer'`,
        [workspace.id],
      ),
    )
    .toEqual([{ code: 'SPRING' }]);

  await page.goto('/members');
  await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  await tabTo(page, 'Invite someone');
  await page.keyboard.press('Enter');
  await expectFocusOn(page, 'Email address');
  await page.keyboard.type('guest@example.com');
  await page.keyboard.press('Enter');
  await dialog.getByText(/\/invitations\//).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('guest@example.com').waitFor();

  await page.goto('/profile');
  await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor();
  await tabTo(page, 'Credentials');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'Account', selected: true }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByText('This browser').waitFor();

  await chooseItem(page, /^Your account/, 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test('invitations, sign-up, the range of the overview and test leads can be used with the keyboard', async () => {
  const { page: inviting, workspace } = await website.openSignedIn();
  const email = `${randomUUID()}@example.com`;
  await inviting.goto('/members');
  await inviting.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  await press(inviting, 'Invite someone');
  const dialog = inviting.getByRole('dialog');
  await dialog.waitFor();
  await expectFocusOn(inviting, 'Email address');
  await inviting.keyboard.type(email);
  await inviting.keyboard.press('Enter');
  const link = await dialog.locator('pre').innerText();

  const page = await website.openPage();
  await page.goto(new URL(link).pathname);
  await page.getByRole('heading', { name: `Join ${workspace.slug}` }).waitFor();
  await press(page, 'Create an account');
  await page.getByLabel('Your name').waitFor();
  await write(page, 'Your name', 'Grace Hopper');
  await write(page, 'Password', password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `Switch workspace: ${workspace.slug}` }).waitFor();

  await chooseItem(page, /^Your account/, 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await write(page, 'Email address', email);
  await write(page, 'Password', password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

  await choose(page, 'Range', 'Last 7 days');
  await page.waitForURL(/range=7d/);
  await tabTo(page, 'Time zone');
  await page.keyboard.type('Kolkata');
  await page.getByRole('option', { name: 'Asia/Kolkata' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/zone=Asia%2FKolkata|zone=Asia\/Kolkata/);

  await page.goto('/profile');
  await press(page, 'Create an API key');
  await page.getByRole('dialog').waitFor();
  await write(page, 'Name', 'By keys');
  await page.keyboard.press('Enter');
  await press(page, 'I have stored it');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await tabTo(page, 'Intake API');
  await page.keyboard.press('ArrowRight');
  // The input itself is hidden. Its label is visible.
  await page.getByRole('radio', { name: 'CRM API', checked: true }).waitFor({ state: 'attached' });
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('radio', { name: 'Intake API', checked: true }).waitFor({ state: 'attached' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await press(page, 'Copy the example');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('lk_');
  await press(page, 'Send a test lead');
  await page.getByText(/^Answer: 200 in/).waitFor();
});
