import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import {
  choose,
  chooseItem,
  expectFocusOn,
  expectFocusWithin,
  focusedName,
  press,
  tabTo,
  write,
} from './by-keyboard.ts';
import { notice } from './leads-page.ts';
import { setColorScheme } from './page-checks.ts';
import { totp } from '@leads/test-kit/totp';
import { type Website, hold, openWebsite, password, waitForFrames } from './website.ts';

// Every dialog and menu is opened, used and closed with the keyboard only, and checked for accessibility.

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** Waits until a query returns the given rows, because a page's change reaches the database later. */
async function expectRows(query: string, values: readonly unknown[], rows: readonly object[]): Promise<void> {
  await expect.poll(() => website.fixture.sql(query, [...values])).toEqual(rows);
}

/** Checks that a part has the focus and no accessibility violations in light and in dark mode. */
async function expectAccessible(page: Page, part: Locator, selector: string): Promise<void> {
  await part.waitFor();
  await expectFocusWithin(part);
  expect(await findViolations(page, { within: selector })).toEqual([]);
  await setColorScheme(page, 'dark');
  // All other rules are independent of the color scheme.
  expect(await findViolations(page, { within: selector, rules: ['color-contrast'] })).toEqual([]);
  await setColorScheme(page, 'light');
}

/** Returns the dialog with a title after checking it. */
async function checkDialog(page: Page, title: string | RegExp): Promise<Locator> {
  const dialog = page.getByRole('dialog', { name: title });
  await expectAccessible(page, dialog, '[role="dialog"]');
  expect(await page.getByRole('banner').count()).toBe(1);
  return dialog;
}

const waitUntilClosed = (part: Locator) => part.waitFor({ state: 'detached' });

/** Opens a menu, checks it, and closes it. The focus must return to its button. */
async function checkMenu(page: Page, name: string): Promise<void> {
  await press(page, name);
  const menu = page.getByRole('menu');
  await expectAccessible(page, menu, '[role="menu"]');
  await page.keyboard.press('Escape');
  await waitUntilClosed(menu);
  await expectFocusOn(page, name);
}

/** Opens a confirmation, cancels it, opens it again, and confirms it. */
async function confirm(page: Page, button: string | RegExp, title: string, action: string): Promise<void> {
  await press(page, button);
  const dialog = await checkDialog(page, title);
  // The initial focus is on Cancel, because the action is hard to undo.
  await expectFocusOn(page, 'Cancel');
  await page.keyboard.press('Escape');
  await waitUntilClosed(dialog);
  await expectFocusOn(page, button);
  await page.keyboard.press('Enter');
  await expectFocusOn(page, 'Cancel');
  await press(page, action);
  await waitUntilClosed(dialog);
}

/** Opens a page of the website. The focus is before its first element. */
async function openPage(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
}

test('campaigns can be created, edited, paused and archived, and landing pages registered, with the keyboard', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  const campaign = (columns: string) =>
    `SELECT ${columns} FROM campaign WHERE workspace_id = $1 AND code = 'DEMO'`;
  await openPage(page, '/campaigns', 'Campaigns');
  const [before] = await website.fixture.sql<{ name: string }>(campaign('name'), [workspace.id]);
  const name = before?.name ?? '';

  await press(page, 'New campaign');
  const created = await checkDialog(page, 'New campaign');
  await page.keyboard.press('Escape');
  await waitUntilClosed(created);
  await expectFocusOn(page, 'New campaign');

  await press(page, name);
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await write(page, 'Name', 'Summer');
  await choose(page, 'Duplicate window', 'Another number of days...');
  await write(page, 'Days', '3');
  await press(page, 'Save');
  await page.getByRole('heading', { level: 1, name: 'Summer' }).waitFor();
  await expectRows(
    campaign('name, duplicate_window_seconds AS window'),
    [workspace.id],
    [{ name: 'Summer', window: 259_200 }],
  );
  await openPage(page, '/campaigns', 'Campaigns');

  await checkMenu(page, 'More for Summer');
  for (const [item, title, action, status] of [
    ['Pause', 'Pause this campaign?', 'Pause', 'paused'],
    ['Resume', 'Resume this campaign?', 'Resume', 'active'],
    ['Archive', 'Archive this campaign?', 'Archive', 'archived'],
  ] as const) {
    await chooseItem(page, 'More for Summer', item);
    const dialog = await checkDialog(page, title);
    await press(page, action);
    await waitUntilClosed(dialog);
    await expectRows(campaign('status::text'), [workspace.id], [{ status }]);
    if (status !== 'archived') await expectFocusOn(page, 'More for Summer');
  }
  // An archived campaign is hidden by default.
  await page.getByText('Show archived (1)').waitFor();
  await expectFocusOn(page, /./);
  await page.reload();
  await page.getByText('Show archived (1)').waitFor();
  await press(page, 'Show archived (1)', 'Space');
  await chooseItem(page, 'More for Summer', 'Restore');
  await press(page, 'Resume');
  await expectRows(campaign('status::text'), [workspace.id], [{ status: 'active' }]);
  await expectFocusOn(page, 'More for Summer');
  await chooseItem(page, 'More for Summer', 'Make default');
  const made = await checkDialog(page, 'Make this the default campaign?');
  await press(page, 'Make default');
  await waitUntilClosed(made);
  await expectRows(campaign('is_default'), [workspace.id], [{ is_default: true }]);

  await press(page, 'Register a landing page');
  const register = await checkDialog(page, 'Register a landing page');
  await page.keyboard.type('autumn-offer');
  // A click beside a dialog would discard what the user has typed.
  await page.mouse.click(5, 5);
  expect(await register.getByLabel('Name (lp_name)').inputValue()).toBe('autumn-offer');
  await choose(page, 'Campaign', 'Summer (DEMO)');
  await press(page, 'Create');
  await waitUntilClosed(register);
  await expectFocusOn(page, 'Register a landing page');
  await expectRows(
    'SELECT landing_page.name, code FROM landing_page JOIN campaign ON campaign.id = campaign_id WHERE landing_page.workspace_id = $1',
    [workspace.id],
    [{ name: 'autumn-offer', code: 'DEMO' }],
  );
});

test('the focus moves to the field that a form rejects without a request, because nothing else announces the error', async () => {
  const { page, workspace } = await website.openSignedIn();
  await workspace.addMember('publisher');
  await page.goto('/campaigns');
  await press(page, 'New campaign');
  await page.getByRole('dialog').getByLabel('Name').fill('Spring');
  await page.getByRole('dialog').getByLabel('Code').fill('SPRING 1');
  await press(page, 'Create');
  await expectFocusOn(page, 'Code');

  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const payouts = page.getByRole('region', { name: 'Payouts of publishers' });
  await payouts.getByLabel('Amount').fill('3');
  await press(page, 'Set the payout');
  await expectFocusOn(page, 'Publisher');

  await page.goto('/integrations');
  await press(page, 'New webhook');
  await page.getByRole('dialog').getByLabel('URL').fill('https://hooks.example.com');
  await page.getByRole('dialog').getByLabel('Additional headers').fill('no header');
  await press(page, 'Create');
  await expectFocusOn(page, 'Additional headers');

  await page.goto('/developers?tab=examples');
  await choose(page, 'Language', 'HTML form');
  await press(page, 'Create a page key');
  await page.getByRole('dialog').getByLabel('Name').fill('Shop');
  await press(page, 'Create');
  await expectFocusOn(page, 'Allowed origins');
});

test('the focus moves to the name of the workspace and to the scopes of a key that the service rejects', async () => {
  const { page } = await website.openSignedIn();
  await page.goto('/members');
  const name = page.getByLabel('Name of the workspace');
  await name.fill('https://example.com');
  await press(page, 'Save');
  await page.getByText(/^Must not .* a web address$/).waitFor();
  expect(await name.evaluate((field) => field === document.activeElement)).toBe(true);

  await page.goto('/profile');
  await press(page, 'Create an API key');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Shop');
  await dialog.getByLabel('For single scopes').check();
  await press(page, 'Create');
  await dialog.getByText('Must not be empty').waitFor();
  await expectFocusOn(page, 'leads:read');
});

test('an integration page can be created, renewed and deleted with the keyboard', async () => {
  const { page, workspace } = await website.openSignedIn();
  const [campaign] = await website.fixture.sql<{ name: string }>('SELECT name FROM campaign WHERE id = $1', [
    workspace.demoCampaignId,
  ]);
  const menu = `More for ${campaign?.name}`;
  const token = async () => {
    const rows = await website.fixture.sql<{ token: string | null }>(
      'SELECT integration_token AS token FROM campaign WHERE id = $1',
      [workspace.demoCampaignId],
    );
    return rows[0]?.token;
  };
  await openPage(page, '/campaigns', 'Campaigns');
  await chooseItem(page, menu, 'Integration page');
  const dialog = await checkDialog(page, /^Integration page of/);
  await press(page, 'Create the page');
  await dialog.getByRole('button', { name: 'Renew the link' }).waitFor();
  const first = await token();
  expect(first).toBeTypeOf('string');
  await expectAccessible(page, dialog, '[role="dialog"]');
  await confirm(page, 'Renew the link', 'Renew the link?', 'Renew the link');
  await expectFocusOn(page, 'Renew the link');
  expect(await token()).not.toBe(first);
  await confirm(page, 'Delete the page', 'Delete the integration page?', 'Delete the page');
  await dialog.getByRole('button', { name: 'Create the page' }).waitFor();
  expect(await token()).toBeNull();
  await expectFocusWithin(dialog);
  await page.keyboard.press('Escape');
  await waitUntilClosed(dialog);
  await expectFocusOn(page, menu);
});

test('credentials can be created, rotated and revoked with the keyboard', async () => {
  const { page, member } = await website.openSignedIn();
  const keys = `SELECT name FROM api_key WHERE user_id = $1 AND revoked_at IS NULL ORDER BY name`;
  const tokens = `SELECT name FROM access_token WHERE user_id = $1 AND revoked_at IS NULL ORDER BY name`;
  const [rotated] = await website.fixture.sql<{ name: string }>(keys, [member.userId]);
  const [token] = await website.fixture.sql<{ name: string }>(tokens, [member.userId]);
  const keyName = rotated?.name ?? '';
  const tokenName = token?.name ?? '';
  await openPage(page, '/profile', 'Profile');
  const store = async (title: string) => {
    const dialog = await checkDialog(page, title);
    await press(page, 'I have stored it');
    await waitUntilClosed(dialog);
  };

  await press(page, 'Create an access token');
  const newToken = await checkDialog(page, 'Create an access token');
  await page.keyboard.type('Nightly');
  await choose(page, 'Lifetime', 'Another number of days...');
  await write(page, 'Days', '3');
  await expectAccessible(page, newToken, '[role="dialog"]');
  await press(page, 'Create');
  await store('Your new access token');
  await expectFocusOn(page, 'Create an access token');
  await expectRows(tokens, [member.userId], [{ name: 'Nightly' }, { name: tokenName }]);

  await press(page, 'Create an API key');
  const newKey = await checkDialog(page, 'Create an API key');
  await page.keyboard.type('Form');
  await choose(page, 'Expires', 'At the end of a day...');
  await choose(page, 'Default campaign', 'DEMO');
  await tabTo(page, /^For the CRM and the intake/);
  await page.keyboard.press('ArrowDown');
  await tabTo(page, 'Allowed origins');
  await page.keyboard.type('https://offer.example.com');
  await page.keyboard.press('Enter');
  await expectAccessible(page, newKey, '[role="dialog"]');
  await choose(page, 'Expires', 'In 90 days');
  await press(page, 'Create');
  await store('Your new API key');
  await expectFocusOn(page, 'Create an API key');
  await expectRows(
    `SELECT scope::text, allowed_origins AS origins FROM api_key WHERE user_id = $1 AND name = 'Form'`,
    [member.userId],
    [{ scope: 'intake', origins: ['https://offer.example.com'] }],
  );

  const rotate = new RegExp(`^Rotate ${keyName} `);
  await confirm(page, rotate, 'Create a replacement for this key?', 'Create the new key');
  await store('Your new API key');
  // The button is gone, so the focus is on its row.
  await expectFocusOn(page, /Being replaced by/);
  await confirm(page, new RegExp(`^Revoke ${keyName} `), 'Revoke this API key?', 'Revoke');
  await expectRows(keys, [member.userId], [{ name: 'Form' }, { name: keyName }]);
  await expectFocusOn(page, 'API keys');
  await confirm(page, `Revoke Nightly`, 'Revoke this access token?', 'Revoke');
  await expectRows(tokens, [member.userId], [{ name: tokenName }]);
  await expectFocusOn(page, 'Access tokens');
  await press(page, 'Show old ones (1)');
  await page.getByText('Revoked').first().waitFor();
  await press(page, `Clear ${keyName}`);
  await waitUntilClosed(page.getByRole('button', { name: `Clear ${keyName}` }));
});

test('a confirmation that is closed before its request fails reports the failure, and the action can be tried again', async () => {
  const { page, member } = await website.openSignedIn();
  await openPage(page, '/profile', 'Profile');
  const dialog = page.getByRole('dialog', { name: 'Revoke this API key?' });
  const failAfterClosing = async (route: Route) => {
    await waitUntilClosed(dialog);
    await route.abort();
  };
  await page.route('**/api/console/api-keys/*', failAfterClosing, { times: 1 });
  await press(page, /^Revoke Test key/);
  await dialog.waitFor();
  await press(page, 'Revoke');
  await dialog.locator('button[data-loading]').waitFor();
  await page.keyboard.press('Escape');
  const failure = notice(page, 'Revoke: The server cannot be reached');
  await failure.getByRole('button', { name: 'Try again' }).click();
  await expectRows(
    'SELECT count(*)::int AS active FROM api_key WHERE user_id = $1 AND revoked_at IS NULL',
    [member.userId],
    [{ active: 0 }],
  );
  await waitUntilClosed(failure);
});

test('a confirmation that is closed before its request succeeds leaves the next dialog open', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  await website.fixture.sql(`UPDATE campaign SET name = code WHERE workspace_id = $1`, [workspace.id]);
  await openPage(page, '/campaigns', 'Campaigns');
  const changed = await hold(page, /\/console\/campaigns\/[^/]+$/, 'PATCH');
  const first = page.getByRole('dialog', { name: 'Pause this campaign?' });
  await chooseItem(page, 'More for DEMO', 'Pause');
  await first.waitFor();
  await press(page, 'Pause');
  await first.locator('button[data-loading]').waitFor();
  await page.keyboard.press('Escape');
  await waitUntilClosed(first);
  const next = page.getByRole('dialog', { name: /^Integration page of/ });
  await chooseItem(page, 'More for DEMO', 'Integration page');
  await next.getByRole('button', { name: 'Create the page' }).waitFor();
  changed.release();
  await page.getByText('Paused').waitFor();
  await waitForFrames(page);
  expect(await next.count()).toBe(1);
});

test('the name, the password and the second factor of an account can be changed with the keyboard', async () => {
  const { page, member } = await website.openSignedIn();
  const user = `SELECT name, two_factor_enabled AS two FROM "user" WHERE id = $1`;
  await openPage(page, '/profile?tab=account', 'Profile');
  await page.getByRole('button', { name: 'Turn on' }).waitFor();
  await write(page, 'Your name', 'Ada Lovelace');
  await page.keyboard.press('Enter');
  await expectRows(user, [member.userId], [{ name: 'Ada Lovelace', two: false }]);

  const hash = 'SELECT password FROM account WHERE user_id = $1';
  const [old] = await website.fixture.sql<{ password: string }>(hash, [member.userId]);
  await write(page, 'Current password', password);
  await write(page, 'New password', 'another horse battery');
  await press(page, 'Sign out everywhere else', 'Space');
  await press(page, 'Change the password');
  await page.getByText('Your password is changed.').waitFor();
  const [now] = await website.fixture.sql<{ password: string }>(hash, [member.userId]);
  expect(now?.password).not.toBe(old?.password);
  await expectAccessible(page, page.locator('body'), 'main');

  await press(page, 'Turn on');
  const enable = await checkDialog(page, 'Turn on two-factor authentication');
  await page.keyboard.type('wrong password');
  await press(page, 'Continue');
  await enable.getByText('Password is wrong.').waitFor();
  await expectAccessible(page, enable, '[role="dialog"]');
  await write(page, 'Current password', 'another horse battery');
  await page.keyboard.press('Enter');
  await enable.getByRole('img', { name: 'QR code' }).waitFor();
  await expectAccessible(page, enable, '[role="dialog"]');
  await expectFocusOn(page, 'Current code of the app');
  await page.keyboard.type(totp(await enable.locator('pre').innerText()));
  await page.keyboard.press('Enter');
  await waitUntilClosed(enable);
  await expectRows(user, [member.userId], [{ name: 'Ada Lovelace', two: true }]);
  await expectFocusOn(page, 'Two-factor authentication');

  const codes = 'SELECT backup_codes AS codes FROM two_factor WHERE user_id = $1';
  const [before] = await website.fixture.sql<{ codes: string }>(codes, [member.userId]);
  await press(page, 'New recovery codes');
  const renewed = await checkDialog(page, 'New recovery codes');
  await page.keyboard.type('another horse battery');
  await page.keyboard.press('Enter');
  await renewed.getByRole('list', { name: 'Recovery codes' }).waitFor();
  await expectAccessible(page, renewed, '[role="dialog"]');
  await page.keyboard.press('Escape');
  const [after] = await website.fixture.sql<{ codes: string }>(codes, [member.userId]);
  expect(after?.codes).not.toBe(before?.codes);
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')]);
  expect(download.suggestedFilename()).toBe('recovery-codes.txt');
  await press(page, 'I have stored it');
  await waitUntilClosed(renewed);
  await expectFocusOn(page, 'New recovery codes');

  await press(page, 'Turn off');
  const disable = await checkDialog(page, 'Turn off two-factor authentication?');
  await page.keyboard.press('Escape');
  await waitUntilClosed(disable);
  await expectFocusOn(page, 'Turn off');
  await page.keyboard.press('Enter');
  await expectFocusWithin(disable);
  await page.keyboard.type('another horse battery');
  await press(page, 'Turn off');
  await waitUntilClosed(disable);
  await expectRows(user, [member.userId], [{ name: 'Ada Lovelace', two: false }]);
  await expectFocusOn(page, 'Two-factor authentication');
});

test('one session or all other sessions can be signed out with the keyboard', async () => {
  const { page, member } = await website.openSignedIn();
  for (let i = 0; i < 3; i++) {
    const other = await website.openPage();
    const answer = await other.context().request.post(`${website.crm}/api/auth/sign-in/email`, {
      headers: { origin: website.crm },
      data: { email: member.email, password },
    });
    expect(answer.ok()).toBe(true);
  }
  const sessions = 'SELECT count(*)::int FROM session WHERE user_id = $1';
  await expectRows(sessions, [member.userId], [{ count: 4 }]);
  await openPage(page, '/profile?tab=sessions', 'Profile');
  await page.getByText('This browser').waitFor();
  await confirm(page, /^Sign out (?!all)/, 'Sign out this browser?', 'Sign out');
  await expectRows(sessions, [member.userId], [{ count: 3 }]);
  await expectFocusOn(page, /./);
  await page.reload();
  await page.getByText('This browser').waitFor();
  await confirm(page, 'Sign out all others', 'Sign out all other browsers?', 'Sign out all others');
  await expectRows(sessions, [member.userId], [{ count: 1 }]);
  await expectFocusOn(page, /./);
});

test('members can be invited, changed and removed, and the workspace renamed and left, with the keyboard', async () => {
  const { page, workspace } = await website.openSignedIn();
  const guest = await workspace.addMember('publisher');
  const [{ name } = { name: '' }] = await website.fixture.sql<{ name: string }>(
    `UPDATE "user" SET name = 'Grace Hopper' WHERE id = $1 RETURNING name`,
    [guest.userId],
  );
  await openPage(page, '/members', 'Members');
  await page.getByText(name).waitFor();
  await choose(page, `Role of ${name}`, 'Manager');
  const roles = 'SELECT role::text FROM member WHERE workspace_id = $1 AND user_id = $2';
  await expectRows(roles, [workspace.id, guest.userId], [{ role: 'manager' }]);
  await expectFocusOn(page, `Role of ${name}`);
  await confirm(page, `Remove ${name}`, 'Remove this member?', 'Remove');
  await expectRows(roles, [workspace.id, guest.userId], []);
  await expectFocusOn(page, /./);

  await page.reload();
  await page.getByText('No pending invitations').waitFor();
  await press(page, 'Invite someone');
  const invite = await checkDialog(page, 'Invite someone');
  await page.keyboard.type('guest@example.com');
  await choose(page, 'Role', 'Manager');
  await press(page, 'Invite');
  const invited = await checkDialog(page, 'The invitation is ready');
  await press(page, 'Close');
  await waitUntilClosed(invited);
  await waitUntilClosed(invite);
  await expectFocusOn(page, 'Invite someone');
  const invitations = 'SELECT email, role::text, status FROM invitation WHERE workspace_id = $1';
  const invitation = { email: 'guest@example.com', role: 'manager' };
  await expectRows(invitations, [workspace.id], [{ ...invitation, status: 'pending' }]);
  await confirm(
    page,
    'Cancel the invitation of guest@example.com',
    'Cancel this invitation?',
    'Cancel the invitation',
  );
  await expectRows(invitations, [workspace.id], [{ ...invitation, status: 'canceled' }]);
  await expectFocusOn(page, 'Pending invitations');

  await write(page, 'Name of the workspace', 'Spring');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Switch workspace: Spring' }).waitFor();
  await expectRows('SELECT name FROM workspace WHERE id = $1', [workspace.id], [{ name: 'Spring' }]);

  await page.reload();
  await page.getByRole('button', { name: 'Leave the workspace' }).waitFor();
  await confirm(page, 'Leave the workspace', 'Leave this workspace?', 'Leave the workspace');
  await page.getByRole('button', { name: "Switch workspace: Test Person's workspace" }).waitFor();
  await expectRows('SELECT role FROM member WHERE workspace_id = $1', [workspace.id], [{ role: 'owner' }]);
  // A new document: screen readers announce its title.
  await expect.poll(() => page.title()).toContain("Test Person's workspace");
});

test('the navigation on a phone can be opened, used and closed with the keyboard', async () => {
  const { page } = await website.openSignedIn({ width: 390, height: 844 });
  await openPage(page, '/overview', 'Overview');
  const navigation = page.getByRole('navigation', { name: 'Navigation' });
  expect(await navigation.isVisible()).toBe(false);
  await page.getByRole('region', { name: 'Welcome. Your first steps' }).waitFor();
  // Tab skips the hidden navigation.
  await tabTo(page, /^Your account/);
  await page.keyboard.press('Tab');
  await expectFocusOn(page, 'Hide the first steps');

  await press(page, 'Open the navigation');
  await navigation.waitFor();
  await expectFocusOn(page, 'Close the navigation');
  expect(await navigation.getByRole('link').count()).toBe(11);
  await tabTo(page, 'Overview');
  await expectAccessible(page, navigation, 'body');
  await press(page, 'Leads');
  await page.getByRole('heading', { name: 'Leads', level: 1 }).waitFor();
  await navigation.waitFor({ state: 'hidden' });
  await expectFocusOn(page, 'Leads');
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  await press(page, 'Open the navigation');
  await navigation.waitFor();
  await press(page, 'Close the navigation');
  await navigation.waitFor({ state: 'hidden' });
  await expectFocusOn(page, 'Open the navigation');
});

test('the menus of the workspaces and of the account can be used with the keyboard', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await openPage(page, '/overview', 'Overview');
  await checkMenu(page, `Switch workspace: ${workspace.slug}`);
  await chooseItem(page, `Switch workspace: ${workspace.slug}`, 'New workspace');
  const dialog = await checkDialog(page, 'New workspace');
  await page.keyboard.press('Escape');
  await waitUntilClosed(dialog);
  await expectFocusOn(page, `Switch workspace: ${workspace.slug}`);
  await page.keyboard.press('Enter');
  const menu = page.getByRole('menu');
  await expectFocusWithin(menu);
  await page.keyboard.press('Escape');
  await waitUntilClosed(menu);
  await expectFocusOn(page, `Switch workspace: ${workspace.slug}`);
  await chooseItem(page, `Switch workspace: ${workspace.slug}`, 'New workspace');
  await expectFocusWithin(dialog);
  await page.keyboard.type('Autumn');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Switch workspace: Autumn' }).waitFor();
  await waitUntilClosed(dialog);
  await expect.poll(() => page.title()).toContain('Autumn');
  await expectRows(
    `SELECT workspace.name FROM workspace JOIN member ON workspace_id = workspace.id WHERE user_id = $1 AND name = 'Autumn'`,
    [member.userId],
    [{ name: 'Autumn' }],
  );
  await chooseItem(page, 'Switch workspace: Autumn', workspace.slug);
  await page.getByRole('button', { name: `Switch workspace: ${workspace.slug}` }).waitFor();

  await checkMenu(page, 'Your account: Test Person');
  await chooseItem(page, 'Your account: Test Person', 'Profile');
  await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor();
  await chooseItem(page, 'Your account: Test Person', 'Dark');
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
  await page.reload();
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
});

/** Moves the focus to the list and makes its first lead active. */
async function goToList(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await expectFocusOn(page, 'Search leads');
  await page.keyboard.press('Enter');
  await expectFocusWithin(page.getByRole('grid', { name: 'Leads' }));
  await page.keyboard.press('Home');
}

test('leads can be created, filtered, exported and imported with the keyboard', async () => {
  const { page, workspace } = await website.openSignedIn();
  const names = 'SELECT name, phone FROM lead WHERE workspace_id = $1 ORDER BY name';
  await openPage(page, '/leads', 'Leads');
  await press(page, 'New lead');
  const created = await checkDialog(page, 'New lead');
  await page.keyboard.press('Escape');
  await waitUntilClosed(created);
  await expectFocusOn(page, 'New lead');
  await page.keyboard.press('Enter');
  await expectFocusOn(page, 'Name');
  await page.keyboard.type('Ada');
  await write(page, 'Phone', '+12025550147');
  await choose(page, 'Campaign', 'DEMO');
  await press(page, 'Create');
  await waitUntilClosed(created);
  await expectRows(names, [workspace.id], [{ name: 'Ada', phone: '+12025550147' }]);
  await expectFocusOn(page, 'New lead');

  await press(page, 'Filters');
  const filters = page.getByRole('dialog');
  await expectAccessible(page, filters, '[role="dialog"]');
  await write(page, 'Sub-id (s1)', 'click-1');
  const search = () => new URL(page.url()).search;
  await expect.poll(search).toBe('?s1=click-1');
  await page.keyboard.press('Escape');
  await waitUntilClosed(filters);
  await expectFocusOn(page, 'Filters');
  const cleared = async () => {
    // The focus may return to the filters a moment later, and Enter then opens them again.
    if (search() !== '') await press(page, 'Clear all');
    return search();
  };
  await expect.poll(cleared, { interval: 1_000 }).toBe('');
  await waitUntilClosed(filters);

  await checkMenu(page, 'More actions');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    chooseItem(page, 'More actions', 'Export as CSV'),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.csv$/);
  await chooseItem(page, 'More actions', 'Keyboard shortcuts');
  const shortcuts = await checkDialog(page, 'Keyboard shortcuts');
  await page.keyboard.press('Escape');
  await waitUntilClosed(shortcuts);
  await expectFocusOn(page, 'More actions');

  await chooseItem(page, 'More actions', 'Import a CSV file');
  const dialog = await checkDialog(page, 'Import leads');
  const choosing = page.waitForEvent('filechooser');
  await expectFocusOn(page, 'Choose a CSV file');
  await page.keyboard.press('Enter');
  const chooser = await choosing;
  await chooser.setFiles({
    name: 'leads.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('Customer No,Phone\nGrace,+12025550143\nMissing,\n'),
  });
  await dialog.getByRole('button', { name: 'Import', exact: true }).waitFor();
  await choose(page, 'Field for Customer No', 'Name');
  await choose(page, 'Campaign for these leads', 'DEMO');
  await expectAccessible(page, dialog, '[role="dialog"]');
  await press(page, 'Import');
  await dialog.getByRole('table', { name: 'Import report' }).waitFor();
  await expectAccessible(page, dialog, '[role="dialog"]');
  const [rejected] = await Promise.all([
    page.waitForEvent('download'),
    press(page, 'Download the rejected lines'),
  ]);
  expect(rejected.suggestedFilename()).toBe('leads-rejected.csv');
  await press(page, 'Done');
  await waitUntilClosed(dialog);
  await expectFocusOn(page, 'More actions');
  await expectRows(
    names,
    [workspace.id],
    [
      { name: 'Ada', phone: '+12025550147' },
      { name: 'Grace', phone: '+12025550143' },
    ],
  );
});

test('leads can be edited and change status one by one and in bulk, with the keyboard', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const nowMs = Date.now() - 60_000;
  const leads = ['Ada', 'Grace', 'Joan'].map((name, i) =>
    workspace.lead(member, { name, phone: `+1202555014${i}`, createdAt: new Date(nowMs - i * 1000) }),
  );
  await website.fixture.leads.insert(leads);
  const [ada] = leads;
  const status = 'SELECT name, status::text FROM lead WHERE workspace_id = $1 ORDER BY name';
  const expectStatuses = (...statuses: string[]) =>
    expectRows(
      status,
      [workspace.id],
      statuses.map((each, i) => ({ name: leads[i]?.name, status: each })),
    );
  await openPage(page, '/leads', 'Leads');
  await page.getByRole('row').filter({ hasText: 'Joan' }).waitFor();

  await goToList(page);
  await page.keyboard.press('Enter');
  const drawer = await checkDialog(page, 'Lead');
  await drawer.getByText(/^Created by/).waitFor();
  await expectAccessible(page, drawer, '[role="dialog"]');
  await press(page, 'Edit');
  await write(page, 'City', 'London');
  await press(page, 'Save');
  await expectRows('SELECT city FROM lead WHERE id = $1', [ada?.id], [{ city: 'London' }]);
  await expectFocusWithin(drawer);
  await press(page, 'Mark as Trashed');
  const reason = await checkDialog(page, /^Why mark/);
  await page.keyboard.press('Escape');
  await waitUntilClosed(reason);
  expect(await drawer.count()).toBe(1);
  await expectFocusWithin(drawer);
  await press(page, 'Mark as Trashed');
  await expectFocusWithin(reason);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await waitUntilClosed(reason);
  await expectStatuses('Trashed', 'OnHold', 'OnHold');
  await expectFocusOn(page, 'Ada');
  await page.keyboard.press('Escape');
  await waitUntilClosed(drawer);
  await expectFocusWithin(page.getByRole('grid', { name: 'Leads' }));

  await goToList(page);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await page.keyboard.press('Shift+ArrowDown');
  await page.getByRole('toolbar', { name: '2 selected' }).waitFor();
  await press(page, 'Mark as Trashed');
  const reasonOfBoth = await checkDialog(page, /^Why mark/);
  await write(page, 'Or write your own reason', 'Called twice');
  await press(page, 'Mark as Trashed');
  await waitUntilClosed(reasonOfBoth);
  await expectStatuses('Trashed', 'Trashed', 'Trashed');
  await expectFocusWithin(page.getByRole('grid', { name: 'Leads' }));
  // The test waits for each response before the next key.
  const waitForNotice = (text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();
  await waitForNotice('2 leads marked as Trashed');
  await page.keyboard.press('u');
  await waitForNotice('Undone for 2 leads');
  await expectStatuses('Trashed', 'OnHold', 'OnHold');
  await page.keyboard.press('a');
  await waitForNotice('2 leads marked as Approved');
  await expectStatuses('Trashed', 'Approved', 'Approved');

  await page.keyboard.press('p');
  const final = await checkDialog(page, 'Mark as Paid?');
  await press(page, 'Cancel');
  await waitUntilClosed(final);
  await expectFocusWithin(page.getByRole('grid', { name: 'Leads' }));
  await press(page, 'Clear the selection');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('p');
  await expectFocusOn(page, 'Mark as paid');
  await page.keyboard.press('Enter');
  await waitUntilClosed(final);
  await expectStatuses('Trashed', 'Paid', 'Approved');
  await expectFocusWithin(page.getByRole('grid', { name: 'Leads' }));

  // Another user has changed the lead, which this page does not know yet.
  await page.keyboard.press('ArrowDown');
  await website.fixture.sql(`UPDATE lead SET status = 'OnHold' WHERE id = $1`, [leads[2]?.id]);
  await page.keyboard.press('p');
  await expectFocusOn(page, 'Mark as paid');
  await page.keyboard.press('Enter');
  const refused = await checkDialog(page, '1 lead could not be changed');
  await page.keyboard.press('Escape');
  await waitUntilClosed(refused);
  await expectFocusWithin(page.getByRole('grid', { name: 'Leads' }));
});

test('on a busy machine, late timers do not move the focus, and no key is lost', async () => {
  const { page, workspace, member } = await website.openSignedIn({ minTimerMs: 200 });
  const leads = ['Ada', 'Grace', 'Joan'].map((name, i) =>
    workspace.lead(member, { name, createdAt: new Date(Date.now() - (i + 60) * 1000) }),
  );
  await website.fixture.leads.insert(leads);
  await openPage(page, '/leads', 'Leads');
  await page.getByRole('row').filter({ hasText: 'Joan' }).waitFor();

  await press(page, 'Filters');
  await expectFocusOn(page, 'Publisher');
  await tabTo(page, 'Sub-id (s1)');
  await page.waitForTimeout(500);
  expect(await focusedName(page)).toBe('Sub-id (s1)');
  await page.keyboard.press('Escape');
  await waitUntilClosed(page.getByRole('dialog'));

  await goToList(page);
  for (const key of ['a', 'a', 'ArrowDown', 'a', 'ArrowDown', 'a', 'a', 'u']) await page.keyboard.press(key);
  await page.getByRole('alert').filter({ hasText: 'Undone for 1 lead' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await expectRows(
    'SELECT name, status::text FROM lead WHERE workspace_id = $1 ORDER BY name',
    [workspace.id],
    ['Approved', 'Approved', 'OnHold'].map((status, i) => ({ name: leads[i]?.name, status })),
  );

  await openPage(page, '/profile', 'Profile');
  await press(page, /^Revoke .*token/);
  await press(page, 'Revoke');
  await expectFocusOn(page, 'Access tokens');
  await page.waitForTimeout(500);
  expect(await focusedName(page)).toBe('Access tokens');
});

test('the focus stays where a user moves it while a dialog opens', async () => {
  const { page } = await website.openSignedIn({ minTimerMs: 1_000 });
  await openPage(page, '/profile', 'Profile');
  await press(page, /^Revoke .*token/);
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'Revoke');
  await page.waitForTimeout(2_500);
  expect(await focusedName(page)).toBe('Revoke');
  await page.keyboard.press('Enter');
  await expectFocusOn(page, 'Access tokens');
});
