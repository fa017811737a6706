import { randomUUID } from 'node:crypto';
import { totp } from '@leads/test-kit/totp';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  choose,
  chooseItem,
  expectFocusOn,
  expectFocusShown,
  expectFocusWithin,
  expectShown,
  focusedName,
  press,
  tabTo,
  write,
} from './by-keyboard.ts';
import { addLeads } from './leads-page.ts';
import { overflowOf } from './page-checks.ts';
import { type Website, hold, openWebsite, password } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** Steps with the keyboard that also check that the focused element is visible. */
function shownSteps(page: Page) {
  const use = async (name: string | RegExp, key: 'Enter' | 'Space' = 'Enter') => {
    await tabTo(page, name);
    await expectFocusShown(page);
    await page.keyboard.press(key);
  };
  const open = async (path: string, button: string | RegExp) => {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await tabTo(page, button);
    await expectFocusShown(page);
  };
  const fill = async (name: string | RegExp, text: string) => {
    await write(page, name, text);
    await expectFocusShown(page);
  };
  /** Closes a dialog, which returns the focus. */
  const finish = async (name: string) => {
    await use(name);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectFocusShown(page);
  };
  return { use, open, fill, finish };
}

test('every page can be reached and used with the keyboard', async () => {
  const { page, workspace } = await website.openSignedIn();
  await website.fixture.landingPages.add([{ workspaceId: workspace.id, name: 'spring-offer' }]);
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

  await tabTo(page, /^Campaign of spring-offer/);
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

test('the main tasks can be done with the keyboard at 400 % zoom, and nothing covers the focused element', async () => {
  // A window of 1440 by 900 pixels at 400 % zoom.
  const { page, workspace, member } = await website.openSignedIn({ width: 360, height: 225 });
  await website.fixture.leads.insert(
    Array.from({ length: 12 }, (_, i) =>
      workspace.lead(member, {
        name: `Person ${String(i).padStart(2, '0')}`,
        phone: `+44207946${String(i).padStart(4, '0')}`,
        createdAt: new Date(Date.now() - (i + 60) * 1000),
      }),
    ),
  );
  const { open, use, fill } = shownSteps(page);
  const statuses = async () =>
    (
      await website.fixture.sql<{ status: string }>(
        'SELECT status::text FROM lead WHERE workspace_id = $1 ORDER BY created_at DESC',
        [workspace.id],
      )
    ).map(({ status }) => status);

  // All actions on a selection are in the window.
  await open('/leads', 'Select all loaded leads');
  await page.getByRole('row').filter({ hasText: 'Person 00' }).waitFor();
  await use('Select all loaded leads', 'Space');
  const bar = page.getByRole('toolbar', { name: '12 selected' });
  for (const button of await bar.getByRole('button').all()) {
    const { y = 225, height = 0 } = (await button.boundingBox()) ?? {};
    expect([await button.textContent(), y + height <= 225]).toEqual([await button.textContent(), true]);
  }
  await page.evaluate(() => document.getElementById('content')?.focus());
  await use('Assign');
  await expectFocusWithin(page.getByRole('dialog'));
  await expectFocusShown(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const download = page.waitForEvent('download');
  await chooseItem(page, 'Export', 'Export as CSV');
  await download;
  await use('Mark as Approved');
  await expect.poll(statuses).toEqual(Array.from({ length: 12 }, () => 'Approved'));
  await use('Clear the selection');
  expect(await overflowOf(page)).toBe(0);

  // A lead is found, opened, noted and changed.
  await fill('Search leads', '0007');
  await page.keyboard.press('Enter');
  await page.getByRole('row').filter({ hasText: 'Person 00' }).waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
  await panel.getByRole('heading', { level: 2, name: 'Person 07' }).waitFor();
  // The order of the statuses is that of all pages.
  expect(await panel.getByRole('button', { name: /^Mark as/ }).allInnerTexts()).toEqual([
    'Mark as On hold',
    'Mark as Paid',
    'Mark as Trashed',
  ]);
  await fill('New note', 'Call after six');
  await page.keyboard.press('Control+Enter');
  await panel.getByRole('list', { name: 'Notes' }).getByText('Call after six').waitFor();

  // A notification that stays covers no focused element, and its button can be reached.
  await page.route('**/order/leads/status', (route) => route.abort());
  await panel.getByRole('heading', { level: 2 }).focus();
  await page.keyboard.press('p');
  await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
  while ((await focusedName(page)) !== 'Try again') {
    await page.keyboard.press('Tab');
    await expectFocusShown(page);
  }
  await page.unroute('**/order/leads/status');
  await page.keyboard.press('Enter');
  await expect.poll(statuses).toContain('Paid');
  await panel.focus();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });

  // Filters and columns.
  await open('/leads', 'Filters');
  await page.keyboard.press('Enter');
  await expectFocusWithin(page.getByRole('dialog'));
  await use('Approved');
  await page.waitForURL('**status=Approved');
  await choose(page, 'Sort by', 'Oldest first');
  await expectFocusShown(page);
  await page.waitForURL('**sort=createdAt**');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await chooseItem(page, 'More actions', 'Columns');
  await use('Show Region', 'Space');
  await use('Move Region up');
  await page.keyboard.press('Escape');

  // Dialogs of the other pages. The first field has the focus, and nothing covers it.
  for (const [path, button, field] of [
    ['/members', 'Invite someone', /^Email address/],
    ['/campaigns', 'New campaign', 'Name'],
    ['/profile', 'Create an API key', 'Name'],
    ['/integrations', 'New webhook', /^URL/],
  ] as const) {
    await open(path, button);
    await page.keyboard.press('Enter');
    await expectFocusOn(page, field);
    await expectFocusShown(page);
    await use(/^(Cancel|Close)$/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  await open('/profile', 'Create an API key');
  await page.keyboard.press('Enter');
  // The page behind the dialog has a field of the same name.
  await expectFocusWithin(page.getByRole('dialog'));
  await fill('Name', 'Shop');
  await use('Create');
  await use('I have stored it');
  await page.getByText('Shop', { exact: true }).waitFor();
  await open('/campaigns', 'Sort by');
  await open('/overview', 'Open the navigation');
  await page.keyboard.press('Enter');
  await use('Statements');
  await page.getByRole('heading', { level: 1, name: 'Statements' }).waitFor();
});

/** Windows of 1280 by 1024 pixels at each zoom (WCAG 2.2, 1.4.10). */
const zooms = [
  { zoom: 400, width: 320, height: 256 },
  { zoom: 200, width: 640, height: 512 },
];

test.each(zooms)(
  'signing in, inviting, creating a webhook, paying and importing can be done with the keyboard at $zoom % zoom, and nothing covers the focused element',
  async ({ width, height }) => {
    const { page, workspace, member } = await website.openSignedIn({ width, height });
    const { open, use, fill, finish } = shownSteps(page);
    await website.fixture.sql(
      `UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR' WHERE id = $1`,
      [workspace.demoCampaignId],
    );
    const createdAt = new Date('2026-03-10T09:00:00Z');
    await website.fixture.leads.insert(
      [0, 1].map(() => workspace.lead(member, { status: 'Approved', createdAt })),
    );

    await page.context().clearCookies();
    await page.goto(`/sign-in?to=/w/${workspace.slug}/overview`);
    await fill('Email address', member.email);
    await fill('Password', 'a wrong password');
    await page.keyboard.press('Enter');
    await expectShown(page.getByText('The email address or the password is wrong'));
    await expectFocusShown(page);
    await fill('Password', password);
    // The pages below open the workspace that the service knows as the last one.
    const isLast = page.waitForResponse(/\/organization\/set-active$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await isLast;

    await open('/members', 'Invite someone');
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'Email address');
    await fill('Email address', 'guest@example');
    await use('Invite');
    await expectShown(page.getByText(/^Email must|^Must be/));
    await expectFocusShown(page);
    await fill('Email address', 'guest@example.com');
    await choose(page, 'Role', 'Manager');
    await expectFocusShown(page);
    await use('Invite');
    await expectFocusShown(page);
    await use('Copy the link');
    await finish('Close');
    await page.getByText('guest@example.com').waitFor();

    const preview = await hold(page, /\/webhooks\/preview$/);
    await open('/integrations', 'New webhook');
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'URL');
    await fill('URL', 'https://hooks.example.com/leads');
    await fill('Description', 'Shop');
    await use('A note was added to a lead', 'Space');
    for (const status of ['Paid', 'On hold']) {
      await choose(page, 'Only changes to these statuses', status);
      await expectFocusShown(page);
    }
    await page.keyboard.press('Escape');
    // The preview arrives above the focused button.
    await tabTo(page, 'Create');
    preview.release();
    await page.getByRole('region', { name: 'Preview' }).waitFor();
    await use('Create');
    await page.getByRole('dialog', { name: 'The secret of your new webhook' }).waitFor();
    await expectFocusShown(page);
    await finish('I have stored it');
    await page.getByRole('link', { name: 'https://hooks.example.com/leads' }).waitFor();
    await page.getByText('On hold, Paid').waitFor();

    await open('/statements?from=2026-03-10&to=2026-03-11&zone=UTC', /^Mark €25.00 as paid/);
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'Date');
    await expectFocusShown(page);
    await fill('Note', 'Invoice 4711');
    await use('Mark as paid');
    await expectFocusOn(page, 'Payment 1');
    await expectFocusShown(page);
    const result = page.getByRole('status').filter({ hasText: '2 leads are marked as paid.' });
    await result.waitFor();
    await use('Show these leads in the lead list');
    await page.waitForURL('**/leads?payment=**');

    await open('/leads', 'More actions');
    await chooseItem(page, 'More actions', 'Import a CSV file');
    await expectFocusOn(page, 'Choose a CSV file');
    await expectFocusShown(page);
    const input = page.locator('input[type="file"]');
    // The window that chooses a file is not a part of the page.
    await input.evaluate((element) => {
      element.addEventListener('click', (event) => {
        event.preventDefault();
        element.dataset['opened'] = 'true';
      });
    });
    await page.keyboard.press('Enter');
    await page.locator('input[type="file"][data-opened]').waitFor({ state: 'attached' });
    await input.setInputFiles({
      name: 'leads.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('Contact;Mobile;Secret\nAda Lovelace;+44 20 7946 0958;x\nNo Phone;;x\n'),
    });
    await expectFocusWithin(page.getByRole('dialog'));
    await choose(page, 'Field for Contact', 'Name');
    await expectFocusShown(page);
    await choose(page, 'Field for Secret', 'Leave out');
    await expectFocusShown(page);
    await choose(page, 'Campaign for these leads', 'DEMO');
    await expectFocusShown(page);
    await use('Import');
    const report = page.getByRole('table', { name: 'Import report' });
    await report.waitFor();
    await expectFocusShown(page);
    const file = page.waitForEvent('download');
    await use('Download the rejected lines');
    await file;
    await finish('Done');
    await page.getByRole('row').filter({ hasText: 'Ada Lovelace' }).waitFor();
  },
);

test.each(zooms)(
  'landing pages can be mapped and campaigns can be changed with the keyboard at $zoom % zoom, and nothing covers the focused element',
  async ({ width, height }) => {
    const { page, workspace } = await website.openSignedIn({ width, height });
    const { open, use, fill } = shownSteps(page);
    await website.fixture.landingPages.add([{ workspaceId: workspace.id, name: 'spring-offer' }]);
    await workspace.addCampaign('SPRING');
    const campaignOf = async () =>
      (
        await website.fixture.sql<{ code: string }>(
          `SELECT code FROM landing_page JOIN campaign ON campaign.id = campaign_id
           WHERE landing_page.workspace_id = $1`,
          [workspace.id],
        )
      ).map(({ code }) => code);
    const map = async (code: string) => {
      await choose(page, 'Campaign of spring-offer', code);
      await expectFocusShown(page);
    };

    await open('/campaigns', 'Campaign of spring-offer');
    await map('DEMO');
    await expect.poll(campaignOf).toEqual(['DEMO']);
    await page.getByRole('list', { name: 'Mapped' }).getByText('spring-offer').waitFor();
    await expectFocusOn(page, 'Campaign of spring-offer');
    await expectFocusShown(page);

    await map('SPRING');
    const dialog = page.getByRole('dialog', { name: 'Change the campaign of spring-offer?' });
    await expectFocusWithin(dialog);
    await expectFocusShown(page);
    await use('Change the campaign');
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(campaignOf).toEqual(['SPRING']);
    await expectFocusOn(page, 'Campaign of spring-offer');
    await expectFocusShown(page);

    const settings = async () =>
      website.fixture.sql(
        `SELECT payout_amount::float AS payout, payout_currency AS currency, approve_after_seconds AS hold
         FROM campaign WHERE id = $1`,
        [workspace.demoCampaignId],
      );
    await open(`/campaigns/${workspace.demoCampaignId}`, /^Hold time/);
    await choose(page, /^Hold time/, 'Days');
    await expectFocusShown(page);
    await fill('Hold time in days', '7');
    await fill('Amount', 'much');
    await use('Save');
    await expectShown(page.getByText('Must be a decimal number'));
    await expectFocusOn(page, 'Amount');
    await expectFocusShown(page);
    await fill('Amount', '12.50');
    await tabTo(page, 'Currency');
    await expectFocusShown(page);
    await page.keyboard.type('GBP');
    await use('Save');
    await expect.poll(settings).toEqual([{ payout: 12.5, currency: 'GBP', hold: 7 * 86_400 }]);
    await expectFocusShown(page);
    await choose(page, /^Hold time$/, 'Off: a person approves leads');
    await fill('Amount', '');
    await page.keyboard.press('Backspace');
    await use('Save');
    await expect.poll(settings).toEqual([{ payout: null, currency: null, hold: null }]);
  },
);

test.each(zooms)(
  'leads can be assigned, noted, shown by a shared view and found by the palette with the keyboard at $zoom % zoom, and nothing covers the focused element',
  async ({ width, height }) => {
    const { page, workspace, member } = await website.openSignedIn({ width, height });
    const { open, use, fill, finish } = shownSteps(page);
    await website.fixture.leads.insert(
      ['Ada Lovelace', 'Grace Hopper', 'Katherine Johnson'].map((name, index) =>
        workspace.lead(member, {
          name,
          phone: `+4420794600${10 + index}`,
          createdAt: new Date(Date.now() - (index + 60) * 1000),
        }),
      ),
    );
    const stored = () =>
      website.fixture.sql<{ name: string; assignee_id: string | null }>(
        'SELECT name, assignee_id FROM lead WHERE workspace_id = $1 ORDER BY name',
        [workspace.id],
      );

    await open('/leads', 'Select all loaded leads');
    await page.getByRole('row').filter({ hasText: 'Grace Hopper' }).waitFor();
    await use('Select all loaded leads', 'Space');
    await page.evaluate(() => document.getElementById('content')?.focus());
    await use('Assign');
    await page.getByRole('dialog', { name: 'Assign 3 leads?' }).waitFor();
    await expectFocusOn(page, 'Assignee');
    await expectFocusShown(page);
    await page.getByRole('option', { name: 'Test Person' }).waitFor({ state: 'attached' });
    await page.keyboard.type('Test Person');
    await finish('Assign');
    await expect
      .poll(async () => (await stored()).map((lead) => lead.assignee_id))
      .toEqual([0, 1, 2].map(() => member.userId));
    await expectShown(page.getByText('3 leads assigned'));

    // Columns and filters are kept by a view, which is then shared.
    await open('/leads', 'More actions');
    await chooseItem(page, 'More actions', 'Columns');
    await expectFocusWithin(page.getByRole('dialog'));
    await use('Show Assignee', 'Space');
    await use('Move Assignee up');
    await fill('Width of Assignee in pixels', '150');
    await finish('Close');
    await use('Filters');
    await expectFocusWithin(page.getByRole('dialog'));
    await use('On hold');
    await page.waitForURL('**status=OnHold');
    await expectFocusShown(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectFocusShown(page);
    await chooseItem(page, 'Views', 'Save as a new view');
    await expectFocusOn(page, 'Name');
    await expectFocusShown(page);
    await fill('Name', 'To call');
    await use('Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectFocusOn(page, 'Views: To call');
    await expectFocusShown(page);
    await chooseItem(page, 'Views: To call', 'Rename, share or delete To call');
    await expectFocusOn(page, 'Name');
    await use('Share with owners and managers', 'Space');
    await use('Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect
      .poll(() =>
        website.fixture.sql(
          'SELECT name, user_id IS NULL AS shared, filters FROM saved_view WHERE workspace_id = $1',
          [workspace.id],
        ),
      )
      .toEqual([{ name: 'To call', shared: true, filters: { status: 'OnHold' } }]);

    // The palette finds a lead, whose panel takes a note and a reply.
    await page.keyboard.press('ControlOrMeta+K');
    await expectFocusOn(page, 'Search leads, pages and actions');
    await expectFocusShown(page);
    await page.keyboard.type('hopper');
    const option = page.getByRole('option', { name: /^Grace Hopper/ });
    await option.waitFor();
    await expectShown(option);
    await page.keyboard.press('Enter');
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    await panel.getByRole('heading', { level: 2, name: 'Grace Hopper' }).waitFor();
    await fill('New note', 'Call after six');
    await use('Add the note');
    const notes = panel.getByRole('list', { name: 'Notes' });
    await notes.getByText('Call after six').waitFor();
    await expectFocusOn(page, 'New note');
    await expectFocusShown(page);
    await use('Reply to Test Person');
    await expectFocusOn(page, 'Reply to Test Person');
    await expectFocusShown(page);
    await page.keyboard.type('Called');
    await use('Add the note');
    await notes.getByRole('listitem').getByRole('listitem').getByText('Called').waitFor();
    await expectFocusOn(page, 'New note');
    await expectFocusShown(page);
  },
);

test.each(zooms)(
  'request logs, statements and the audit log can be filtered with the keyboard at $zoom % zoom, and nothing covers the focused element',
  async ({ width, height }) => {
    const { page, workspace, member } = await website.openSignedIn({ width, height });
    const { open, use, fill } = shownSteps(page);
    await website.fixture.sql(
      `INSERT INTO api_request (api_key_id, at, id, workspace_id, service, method, route, status, duration_ms)
       SELECT $1, now() - n * interval '1 second', gen_random_uuid(), $2, 'intake', 'POST', '/api/v1/leads',
         CASE n WHEN 3 THEN 400 ELSE 200 END, 2 FROM generate_series(1, 120) n`,
      [member.apiKeyId, workspace.id],
    );
    await open('/developers', 'Keys and tokens');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Examples', selected: true }).waitFor();
    await page.keyboard.press('ArrowRight');
    await expectFocusShown(page);
    await choose(page, 'API key', `Test key (${member.apiKey.slice(0, 11)}…)`);
    const rows = page.getByRole('table', { name: 'Request log' }).getByRole('row');
    await expect.poll(() => rows.count()).toBeGreaterThan(50);
    await choose(page, 'Status', 'Client errors');
    await expectFocusShown(page);
    await expect.poll(() => rows.count()).toBe(2);
    await choose(page, 'Service', 'CRM API');
    await expectFocusShown(page);
    await page.getByText('No request matches the filter.').waitFor();
    await use('Show all requests');
    await expect.poll(() => rows.count()).toBeGreaterThan(50);
    await expectFocusShown(page);
    const count = await rows.count();
    await use('Refresh every 3 seconds', 'Space');
    await use('Show older requests');
    await expect.poll(() => rows.count()).toBeGreaterThan(count);
    await expectFocusShown(page);

    const createdAt = new Date('2026-03-10T09:00:00Z');
    const publisher = await workspace.addMember('publisher');
    await website.fixture.leads.insert([
      workspace.lead(member, { createdAt }),
      workspace.lead(publisher, { createdAt }),
    ]);
    await open('/statements?from=2026-03-10&to=2026-03-11&zone=UTC', 'Publisher');
    await choose(page, 'Publisher', `Test Person (${member.email})`);
    await page.waitForURL(`**user=${member.userId}*`);
    await expectFocusShown(page);
    await choose(page, 'Campaign', 'DEMO');
    await page.waitForURL('**campaignCode=DEMO*');
    await expectFocusShown(page);
    await choose(page, 'Range', 'Last 7 days');
    await page.waitForURL('**range=7d*');
    await expectFocusShown(page);
    const statement = page.waitForEvent('download');
    await use('Download as CSV');
    expect((await statement).suggestedFilename()).toMatch(/^statement-/);
    await expectFocusShown(page);

    await website.fixture.sql(
      `INSERT INTO audit_entry (id, workspace_id, at, action, source, actor_id, details)
       SELECT gen_random_uuid(), $1, now() - n * interval '1 minute', 'campaign.changed', 'website', $2, '{}'
       FROM generate_series(1, 60) n`,
      [workspace.id, member.userId],
    );
    await open('/audit', 'Action');
    await page.keyboard.type('Changed a c');
    await choose(page, 'Action', 'Changed a campaign');
    await expectFocusShown(page);
    const entries = page.getByRole('list', { name: 'Audit log' }).getByText('Changed a campaign');
    await expect.poll(() => entries.count()).toBe(50);
    await use('Show more');
    await expect.poll(() => entries.count()).toBe(60);
    await expectFocusShown(page);
    await fill('Action', 'Erased');
    await choose(page, 'Action', 'Erased a person');
    await use('Show all entries');
    await expect.poll(() => entries.count()).toBeGreaterThan(40);
    await expectFocusShown(page);
    const log = page.waitForEvent('download');
    await use('Download CSV');
    await log;
    await expectFocusShown(page);
  },
);

test.each(zooms)(
  'two-factor authentication can be turned on, used and turned off with the keyboard at $zoom % zoom, and nothing covers the focused element',
  async ({ width, height }) => {
    const { page, member } = await website.openSignedIn({ width, height });
    const { open, use, fill, finish } = shownSteps(page);
    const dialog = page.getByRole('dialog');
    await open('/profile?tab=account', 'Turn on');
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'Current password');
    await expectFocusShown(page);
    await page.keyboard.type('a wrong password');
    await use('Continue');
    await expectShown(dialog.getByText('Password is wrong.'));
    await fill('Current password', password);
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'Current code of the app');
    await expectFocusShown(page);
    const secret = await dialog.locator('pre').innerText();
    const file = page.waitForEvent('download');
    await use('Download');
    await file;
    await fill('Current code of the app', '000000');
    await use('Turn on');
    await expectShown(dialog.getByText(/Code is wrong or was used before/));
    await expectFocusShown(page);
    await fill('Current code of the app', totp(secret));
    await finish('Turn on');

    await chooseItem(page, /^Your account/, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await fill('Email address', member.email);
    await fill('Password', password);
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'Code from your authenticator app');
    await expectFocusShown(page);
    await use('Use a recovery code instead');
    await expectFocusOn(page, 'Recovery code');
    await expectFocusShown(page);
    await use('Use your authenticator app instead');
    await expectFocusOn(page, 'Code from your authenticator app');
    // Each code is accepted once. The next code is accepted 30 s early.
    await page.keyboard.type(totp(secret, Date.now() + 30_000));
    await use('Do not ask again on this device for 30 days', 'Space');
    await use('Verify');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

    await open('/profile?tab=account', 'Turn off');
    await page.keyboard.press('Enter');
    await expectFocusOn(page, 'Current password');
    await fill('Current password', password);
    await finish('Turn off');
    await page.getByText('Off. Signing in needs your password only').waitFor();
    await expectFocusShown(page);
  },
);

test('the focus moves to the heading of the page when a user hides or closes a message or removes a filter, because the button is gone', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.sql(
    `INSERT INTO delivery_endpoint
       (id, workspace_id, kind, secret, url, event_types, statuses, campaign_ids, failures, failing_since)
     VALUES (gen_random_uuid(), $1, 'webhook', 'x', 'https://crm.example.com/', '{lead.created}', '{}', '{}', 3,
       now() - interval '25 hours')`,
    [workspace.id],
  );
  await page.goto('/overview');
  await press(page, 'Hide the first steps');
  await expectFocusOn(page, 'Overview');
  await page.goto('/campaigns');
  await press(page, 'Hide');
  await expectFocusOn(page, 'Campaigns');
  const [job] = await website.fixture.sql<{ id: string }>(
    `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, total, changed, next_step_at)
     VALUES (gen_random_uuid(), $1, $2, 'status', '{}', 'Approved', 2, 1, now() + interval '1 day') RETURNING id`,
    [workspace.id, member.userId],
  );
  await page.goto('/leads');
  await page.getByRole('progressbar', { name: /^Marking leads/ }).waitFor({ state: 'attached' });
  await website.fixture.sql(`UPDATE lead_job SET state = 'cancelled', finished_at = now() WHERE id = $1`, [
    job?.id,
  ]);
  await page.getByRole('alert').filter({ hasText: 'Canceled after' }).waitFor();
  await press(page, 'Close');
  await expectFocusOn(page, 'Leads');
  await page.goto('/leads?country=NL');
  await press(page, 'Remove the filter Country: NL');
  await page.waitForURL((url) => url.search === '');
  await expectFocusOn(page, 'Leads');
});

test('the focus stays near an error whose request is sent again, because its button disappears', async () => {
  const { page } = await website.openSignedIn();
  /** Fails the requests of a page once, and sends them again by the keyboard. */
  const retry = async (path: string, request: RegExp) => {
    await page.route(request, (route) => route.fulfill({ status: 404 }));
    await page.goto(path);
    await tabTo(page, 'Try again');
    await page.unroute(request);
    await page.keyboard.press('Enter');
  };
  await retry('/members', /\/console\/invitations$/);
  await page.getByText('No pending invitations.').waitFor();
  await expectFocusWithin(page.getByRole('region', { name: 'Pending invitations' }));
  await retry('/payments', /\/console\/payments/);
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await expectFocusWithin(page.getByRole('heading', { name: 'Payments', level: 1 }));
});

test('the focus stays near a button that its own action removes, such as one that enables a webhook', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const [lead] = await addLeads(website, workspace, member, 1);
  const [webhook] = await website.fixture.sql<{ id: string }>(
    `INSERT INTO delivery_endpoint
       (id, workspace_id, kind, secret, url, event_types, statuses, campaign_ids, disabled_at, disabled_reason)
     VALUES (gen_random_uuid(), $1, 'webhook', 'x', 'https://crm.example.com/', '{lead.created}', '{}', '{}', now(),
       'user') RETURNING id`,
    [workspace.id],
  );
  await website.fixture.sql(
    `INSERT INTO delivery (id, workspace_id, endpoint_id, type, lead_id, version, state, attempts)
     VALUES (gen_random_uuid(), $1, $2, 'lead.created', $3, 1, 'failed', 1)`,
    [workspace.id, webhook?.id, lead],
  );
  await page.goto(`/webhooks/${webhook?.id}`);
  await press(page, 'Enable');
  await page.getByRole('button', { name: 'Disable' }).waitFor();
  await expectFocusWithin(page.getByRole('listitem').filter({ hasText: 'https://crm.example.com/' }));
  const delivery = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
  await press(page, /^Send again/);
  await delivery.getByText('Waiting', { exact: true }).waitFor();
  await expectFocusWithin(delivery);
  await page.getByLabel('Status code').fill('599');
  await press(page, 'Clear the filters');
  await delivery.waitFor();
  await expectFocusWithin(page.getByRole('region', { name: 'Deliveries' }));
  await page.goto(`/payments?user=${member.userId}`);
  await press(page, 'Show all payments');
  await page.getByRole('link', { name: 'Go to Statements' }).waitFor();
  await expectFocusOn(page, 'Payments');
});
