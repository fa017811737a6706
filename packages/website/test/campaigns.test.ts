import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { LandingPageView } from '@leads/core/campaign';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { choose as chooseByKeyboard, expectFocusOn, press } from './by-keyboard.ts';
import { expectGoodEverywhere, expectGoodPage } from './page-checks.ts';
import { hold, type Website, openWebsite, screenshot } from './website.ts';

const run = promisify(execFile);

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

const campaign = (page: Page, code: string) => page.locator(`[data-campaign="${code}"]`);
/** Waits until a change of a landing page is stored. Until then, no other one can be changed. */
async function expectStored(page: Page): Promise<void> {
  // The lists are loaded one by one, so two of them can have the landing page for a moment.
  await expect.poll(() => page.locator('#landing-pages [aria-busy="true"]').count()).toBe(0);
}
const landingPage = (page: Page, name: string) => page.locator(`[data-landing-page="${name}"]`);

async function choose(page: Page, of: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `More for ${of}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

const statusOf = async (workspaceId: string, code: string) => {
  const [row] = await website.fixture.sql<{ status: string; is_default: boolean }>(
    'SELECT status, is_default FROM campaign WHERE workspace_id = $1 AND code = $2',
    [workspaceId, code],
  );
  return row;
};

/** Adds an archived campaign with the code `OLD`. Returns its id. */
async function archivedCampaign(workspace: TestWorkspace): Promise<string> {
  await workspace.addCampaign('OLD');
  const [row] = await website.fixture.sql<{ id: string }>(
    `UPDATE campaign SET status = 'archived' WHERE workspace_id = $1 AND code = 'OLD' RETURNING id`,
    [workspace.id],
  );
  return row?.id ?? '';
}

test('managers create, edit, pause and archive campaigns, set payouts and hold times, and make one the default', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  const publisher = await workspace.addMember('publisher');
  await page.goto('/campaigns');
  await campaign(page, 'DEMO').waitFor();
  await page.getByRole('button', { name: 'New campaign' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Spring offer');
  await dialog.getByLabel('Code').fill('SPRING SALE');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('must not have spaces').waitFor();
  await dialog.getByLabel('Code').fill('demo');
  await dialog.getByRole('status').filter({ hasText: 'The campaign DEMO exists.' }).waitFor();
  await expectGoodPage(page);
  await dialog.getByLabel('Code').fill('DEMO');
  await dialog.getByLabel('Duplicate window').first().click();
  await page.getByRole('option', { name: '7 days' }).click();
  await expectGoodEverywhere(page, 'campaigns-new');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Is used by another campaign').first().waitFor();
  await dialog.getByLabel('Code').fill('SPRING');
  await dialog.getByRole('button', { name: 'Create' }).click();

  await page.getByRole('link', { name: 'Spring offer' }).click();
  await page.waitForURL(/\/campaigns\/[0-9a-f-]+$/);
  await page.getByText('Within 7 days').waitFor();
  const settings = page.getByRole('region', { name: 'Settings' });
  await settings.getByLabel('Name').fill('Spring offers');
  await settings.getByLabel('Duplicate window').first().click();
  await page.getByRole('option', { name: 'Another number of days...' }).click();
  await settings.getByLabel('Days').fill('45');
  const answer = await hold(page, /\/campaigns\/[0-9a-f-]+$/, 'PATCH');
  await settings.getByRole('button', { name: 'Save' }).click();
  // An entry during the request stays.
  await settings.getByLabel('Amount').fill('12,50');
  answer.release();
  await page.getByText('Within 45 days').waitFor();
  await page.getByRole('heading', { level: 1, name: 'Spring offers' }).waitFor();

  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('Must be a decimal number such as "12.5"').waitFor();
  await settings.getByLabel('Amount').fill('12.50');
  await settings.getByLabel('Currency').selectOption('CHF: Swiss Franc');
  await settings.getByLabel('Hold time', { exact: true }).first().click();
  await page.getByRole('option', { name: 'Hours' }).click();
  await settings.getByLabel('Hold time in hours').fill('36');
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByText('CHF 12.50', { exact: true }).waitFor();
  await page.getByText('36 hours', { exact: true }).waitFor();
  const own = page.getByRole('region', { name: 'Payouts of publishers' });
  await own.getByRole('combobox', { name: 'Publisher' }).fill(publisher.email);
  await page.getByRole('option', { name: publisher.email }).click();
  await own.getByLabel('Amount').fill('1e3');
  await own.getByRole('button', { name: 'Set the payout' }).click();
  await own.getByText('Must be a decimal number such as "12.5"').waitFor();
  await own.getByLabel('Amount').fill('20.1234');
  await own.getByRole('button', { name: 'Set the payout' }).click();
  await own.getByRole('cell', { name: 'CHF 20.1234' }).waitFor();
  await expectGoodEverywhere(page, 'campaign-payouts');
  const [stored] = await website.fixture.sql(
    `SELECT concat_ws(' ', payout_amount, payout_currency, approve_after_seconds) AS rules,
       (SELECT concat_ws(' ', amount, currency) FROM publisher_payout WHERE campaign_id = campaign.id AND user_id = $2) AS own
     FROM campaign WHERE workspace_id = $1 AND code = 'SPRING'`,
    [workspace.id, publisher.userId],
  );
  expect(stored).toEqual({ rules: '12.5000 CHF 129600', own: '20.1234 CHF' });
  // A publisher sees its own payout, and not the one of the campaign.
  const ofPublisher = await website.openSignedIn({ workspace, role: 'publisher' });
  await website.fixture.sql('UPDATE publisher_payout SET user_id = $2 WHERE user_id = $1', [
    publisher.userId,
    ofPublisher.member.userId,
  ]);
  await ofPublisher.page.goto(new URL(page.url()).pathname);
  await ofPublisher.page.getByText('CHF 20.1234', { exact: true }).waitFor();
  expect(await ofPublisher.page.getByRole('main').innerText()).not.toContain('12.50');
  await ofPublisher.page.goto('/campaigns');
  await campaign(ofPublisher.page, 'DEMO').waitFor();
  expect(await ofPublisher.page.getByRole('combobox', { name: 'Publisher' }).count()).toBe(0);
  expect(await ofPublisher.page.getByRole('columnheader', { name: 'Publishers' }).count()).toBe(0);
  await page.reload();
  await own.getByRole('button', { name: 'Remove the payout of' }).click();
  await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
  await own.getByText('No publisher has a payout of its own.').waitFor();
  await settings.getByLabel('Amount').fill('');
  await settings.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('definition').filter({ hasText: 'None' }).waitFor();
  await page.getByRole('link', { name: 'All campaigns' }).click();
  // The page of the campaign has the same menu.
  await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor();

  await choose(page, 'Spring offers', 'Pause');
  await dialog.getByText('rejects leads with its code (400)').waitFor();
  await expectGoodPage(page);
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await campaign(page, 'SPRING').getByText('Paused').waitFor();
  expect(await statusOf(workspace.id, 'SPRING')).toMatchObject({ status: 'paused' });
  await choose(page, 'Spring offers', 'Resume');
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await campaign(page, 'SPRING').getByText('Active').waitFor();
  await choose(page, 'Spring offers', 'Make default');
  await dialog.getByRole('button', { name: 'Make default' }).click();
  await campaign(page, 'SPRING').getByText('Default', { exact: true }).waitFor();
  expect(await statusOf(workspace.id, 'SPRING')).toEqual({ status: 'active', is_default: true });
  // The default campaign cannot be paused or archived.
  await page.getByRole('button', { name: 'More for Spring offers' }).click();
  await page.getByRole('menuitem', { name: 'Integration page' }).waitFor();
  expect(await page.getByRole('menuitem').count()).toBe(1);
  await page.keyboard.press('Escape');

  await choose(page, 'DEMO', 'Archive');
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await campaign(page, 'DEMO').waitFor({ state: 'detached' });
  await page.getByLabel('Show archived (1)').check();
  await campaign(page, 'DEMO').getByText('Archived').waitFor();
  await choose(page, 'DEMO', 'Restore');
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await campaign(page, 'DEMO').getByText('Active').waitFor();
});

test('the table of campaigns shows figures and warnings, sorts and searches, and leads to the page of a campaign', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const publisher = await workspace.addMember('publisher');
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  const [quiet, busy] = [await workspace.addCampaign('QUIET'), await workspace.addCampaign('BUSY')];
  const old = await archivedCampaign(workspace);
  await workspace.mapLandingPage('quiz', busy);
  await workspace.mapLandingPage('forgotten', old);
  await website.fixture.leads.insert([
    workspace.lead(publisher, { campaignId: busy, lpName: 'quiz', status: 'Paid' }),
    workspace.lead(publisher, { campaignId: busy, lpName: 'quiz' }),
    workspace.lead(member, { campaignId: busy, createdAt: daysAgo(1) }),
    workspace.lead(member, { campaignId: busy, createdAt: daysAgo(30) }),
    ...Array.from({ length: 5 }, () =>
      workspace.lead(member, { campaignId: quiet, createdAt: daysAgo(9.5) }),
    ),
  ]);
  await website.fixture.sql(
    `INSERT INTO delivery_endpoint (id, workspace_id, url, description, event_types, statuses, campaign_ids, secret)
     VALUES (gen_random_uuid(), $1, 'https://crm.example.com/a', 'Call center', '{lead.created}', '{}', ARRAY[$2::uuid], 'x'),
       (gen_random_uuid(), $1, 'https://crm.example.com/b', 'Everything', '{lead.created}', '{}', '{}', 'x')`,
    [workspace.id, busy],
  );
  await page.goto('/campaigns');
  const cells = async (code: string) =>
    (await campaign(page, code).getByRole('cell').allInnerTexts()).map((text) => text.trim());
  await campaign(page, 'BUSY').getByText('quiz').waitFor();
  expect((await cells('BUSY')).slice(0, 3)).toEqual(['3', '25%', '4']);
  const chart = await campaign(page, 'BUSY').getByRole('img').getAttribute('aria-label');
  // The next day may have begun.
  expect(chart).toMatch(/^Leads of the last 14 days \(UTC\), oldest first: (0, ){11,12}1, 2(, 0)?$/);
  await campaign(page, 'QUIET').getByText('No lead for 9 days').waitFor();
  await campaign(page, 'QUIET').getByText('No landing page').waitFor();
  await page.getByLabel('Show archived (1)').check();
  await campaign(page, 'OLD').getByText('1 landing page still mapped').waitFor();
  // The publishers of the last 30 days: the name of a single one leads to its leads, and a number to the campaign.
  const linkOf = (code: string, name: string) =>
    campaign(page, code).getByRole('link', { name, exact: true }).getAttribute('href');
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(await linkOf('BUSY', '2 publishers')).toMatch(new RegExp(`/campaigns/${busy}$`));
  expect(await linkOf('QUIET', 'Test Person')).toMatch(
    new RegExp(`/leads\\?user=${member.userId}&campaignCode=QUIET$`),
  );
  const cutOff = () =>
    page.getByRole('group', { name: 'Campaigns' }).evaluate((each) => each.scrollWidth - each.clientWidth);
  expect(await cutOff()).toBe(0);
  await expectGoodEverywhere(page, 'campaigns-table');
  const size = page.viewportSize();
  // Where the table has no room, cards show all of it without scrolling.
  for (const width of [768, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const card = page.getByRole('listitem').and(campaign(page, 'QUIET'));
    const parts = [
      card.getByText('Active'),
      card.getByText('No lead for 9 days'),
      card.getByRole('button', { name: 'More for QUIET' }),
      card.getByText('5', { exact: true }),
      card.getByRole('link', { name: 'Test Person', exact: true }),
      page.getByRole('combobox', { name: 'Publisher' }),
    ];
    await expect
      .poll(async () => {
        const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
        return boxes.every((box) => box !== null && box.x >= 0 && box.x + box.width <= width);
      })
      .toBe(true);
    expect(await page.getByRole('table', { name: 'Campaigns' }).count()).toBe(0);
    await expectGoodPage(page);
    await screenshot(page, `campaigns-${width}`);
  }
  const order = () =>
    page
      .locator('[data-campaign]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-campaign')));
  await page.getByRole('combobox', { name: 'Sort by' }).click();
  await page.getByRole('option', { name: 'Leads', exact: true }).click();
  expect((await order())[0]).toBe('QUIET');
  await page.getByRole('button', { name: 'Reverse the order' }).click();
  expect((await order()).at(-1)).toBe('QUIET');
  await page.getByRole('combobox', { name: 'Sort by' }).click();
  await page.getByRole('option', { name: 'Last 7 days', exact: true }).click();
  if (size !== null) await page.setViewportSize(size);

  expect((await order())[0]).toBe('BUSY');
  await page.getByRole('button', { name: 'Leads', exact: true }).click();
  expect((await order()).slice(0, 2)).toEqual(['QUIET', 'BUSY']);
  await page
    .getByRole('columnheader', { name: 'Leads', exact: true })
    .and(page.locator('[aria-sort="descending"]'))
    .waitFor();
  await page.getByRole('searchbox', { name: 'Search by name or code' }).fill('bus');
  expect(await order()).toEqual(['BUSY']);

  // The filter by a publisher leaves its campaigns and its leads.
  await page.getByRole('searchbox', { name: 'Search by name or code' }).fill('');
  await page.getByRole('combobox', { name: 'Publisher' }).fill(publisher.email);
  await page.getByRole('option', { name: publisher.email }).click();
  await expect.poll(order).toEqual(['BUSY']);
  expect((await cells('BUSY')).slice(0, 3)).toEqual(['2', '50%', '2']);
  await expectGoodEverywhere(page, 'campaigns-of-publisher');
  // The filter is in the address.
  await page.reload();
  await expect.poll(order).toEqual(['BUSY']);
  const chosen = page.getByRole('combobox', { name: 'Publisher' });
  await expect.poll(() => chosen.inputValue()).toContain(publisher.email);
  await page.getByRole('searchbox', { name: 'Search by name or code' }).fill('quiet');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect.poll(order).toContain('QUIET');
  expect(new URL(page.url()).search).toBe('');

  await page.getByRole('link', { name: 'BUSY' }).click();
  await page.getByRole('heading', { level: 1, name: 'BUSY' }).waitFor();
  const section = (name: string) => page.getByRole('region', { name });
  await section('Landing pages').getByRole('row', { name: 'quiz 2' }).waitFor();
  await section('Publishers').getByRole('row').nth(2).waitFor();
  expect(
    await section('Publishers')
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
  ).toEqual(
    [publisher, member].map(({ userId }) =>
      expect.stringMatching(new RegExp(`^/w/[^/]+/leads\\?user=${userId}&campaignCode=BUSY&createdFrom=`)),
    ),
  );
  await section('Integrations').getByRole('link', { name: 'Webhook Call center' }).waitFor();
  expect(await section('Integrations').innerText()).not.toContain('Everything');
  await section('Integrations')
    .getByText('1 webhook or postback reports the leads of all campaigns.')
    .waitFor();
  // A long name without spaces does not make the page scroll sideways.
  const long = 'W'.repeat(120);
  await website.fixture.sql('UPDATE campaign SET name = $2 WHERE id = $1', [busy, long]);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: long }).waitFor();
  await expectGoodEverywhere(page, 'campaign');
  await page.goto('/campaigns');
  await page.getByRole('link', { name: long }).waitFor();
  await expectGoodEverywhere(page, 'campaigns-long-name');

  // The campaign of another workspace does not exist.
  const stranger = await website.openSignedIn();
  await stranger.page.goto(`/campaigns/${busy}`);
  await stranger.page.getByRole('heading', { name: 'This campaign does not exist' }).waitFor();
});

test('a search says that an archived campaign matches, and that no campaign of the chosen publisher matches', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await archivedCampaign(workspace);
  await website.fixture.leads.insert([workspace.lead(member)]);
  await page.goto('/campaigns');
  const search = page.getByRole('searchbox', { name: 'Search by name or code' });
  await search.fill('old');
  await page.getByText('1 archived campaign matches.').waitFor();
  await page.getByRole('button', { name: 'Show archived (1)' }).click();
  await campaign(page, 'OLD').waitFor();

  await page.goto(`/campaigns?user=${member.userId}`);
  await campaign(page, 'DEMO').waitFor();
  await search.fill('old');
  await page.getByText('No campaign with leads of this publisher has this name or code.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await campaign(page, 'DEMO').waitFor();
  expect(await campaign(page, 'OLD').count()).toBe(0);
});

test('new leads are assigned in turn to the members that a campaign names, until it names none', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.sql(`UPDATE "user" SET name = 'Grace Hopper' WHERE id = $1`, [
    workspace.owner.userId,
  ]);
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const optionOf = (name: string, email: string) => `${name} (${email})`;
  for (const [name, email] of [
    ['Test Person', member.email],
    ['Grace Hopper', workspace.owner.email],
  ] as const) {
    await chooseByKeyboard(page, 'Assign new leads to', optionOf(name, email));
  }
  await page.keyboard.press('Escape');
  await expectGoodEverywhere(page, 'campaign-assignees');
  await press(page, 'Save');
  await page.getByText('The campaign was saved').first().waitFor();

  let sent = 0;
  const send = async (count: number) => {
    for (const end = sent + count; sent < end; sent++) {
      const response = await fetch(`${website.crm}/api/v1/order/leads`, {
        method: 'POST',
        headers: { ...member.headers, 'content-type': 'application/json' },
        body: JSON.stringify({
          campaignCode: 'DEMO',
          name: `Lead ${sent}`,
          phone: `+4420794600${10 + sent}`,
        }),
      });
      expect(response.status).toBe(200);
    }
  };
  await send(4);
  await page.goto('/leads');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Columns' }).click();
  const dialog = page.getByRole('dialog', { name: 'Columns of the list' });
  await dialog.getByRole('checkbox', { name: 'Show Assignee' }).check();
  await page.keyboard.press('Escape');
  const assignees = () =>
    Promise.all(
      Array.from({ length: sent }, async (_, index) => {
        const row = page.getByRole('row').filter({ hasText: `Lead ${index}` });
        const cells = await row.getByRole('gridcell').allInnerTexts();
        return cells.filter((text) => ['Test Person', 'Grace Hopper', 'Unassigned'].includes(text));
      }),
    );
  await expect
    .poll(async () => new Set((await assignees()).flat()))
    .toEqual(new Set(['Test Person', 'Grace Hopper']));
  const [first, second, ...others] = await assignees();
  expect(first).not.toEqual(second);
  expect(others).toEqual([first, second]);

  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  await press(page, 'Assign new leads to');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await press(page, 'Save');
  await page.getByText('The campaign was saved').first().waitFor();
  await send(1);
  await page.goto('/leads');
  await page.getByRole('row').filter({ hasText: 'Lead 4' }).waitFor();
  await expect.poll(async () => (await assignees()).map((each) => each.length)).toEqual([1, 1, 1, 1, 0]);
});

test('a payout in a currency that the browser does not know is shown in that currency', async () => {
  const { page, workspace } = await website.openSignedIn();
  await website.fixture.sql(`UPDATE campaign SET payout_amount = 7, payout_currency = 'XXQ' WHERE id = $1`, [
    workspace.demoCampaignId,
  ]);
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const settings = page.getByRole('region', { name: 'Settings' });
  await settings.getByLabel('Amount').waitFor();
  expect(await settings.getByLabel('Currency').inputValue()).toBe('XXQ');
});

test('the settings of a campaign show what another user has changed, and keep what the user has typed', async () => {
  const { page, workspace } = await website.openSignedIn();
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const settings = page.getByRole('region', { name: 'Settings' });
  await settings.getByLabel('Amount').fill('2.5');
  await website.fixture.sql(
    `UPDATE campaign SET name = 'Renamed', approve_after_seconds = 172800, duplicate_window_seconds = 345600 WHERE id = $1`,
    [workspace.demoCampaignId],
  );
  await choose(page, 'DEMO', 'Pause');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('heading', { name: 'Renamed' }).waitFor();
  const shown = async () =>
    Promise.all(
      ['Name', 'Days', 'Hold time in days', 'Amount'].map((label) =>
        settings.getByRole('textbox', { name: label, exact: true }).inputValue(),
      ),
    );
  await expect.poll(shown).toEqual(['Renamed', '4', '2', '2.5']);
  await press(page, 'Save');
  await page.getByText('The campaign was saved').waitFor();
  const [stored] = await website.fixture.sql(
    'SELECT name, approve_after_seconds AS hold, payout_amount::text AS amount FROM campaign WHERE id = $1',
    [workspace.demoCampaignId],
  );
  expect(stored).toEqual({ name: 'Renamed', hold: 172_800, amount: '2.5000' });
  expect(await page.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')).toBe('true');
});

test('a campaign that another user has archived stays archived when its pause or its resumption is confirmed', async () => {
  const { page, workspace } = await website.openSignedIn();
  await workspace.addCampaign('WAITING', 'paused');
  const archive = (code: string) =>
    website.fixture.sql(`UPDATE campaign SET status = 'archived' WHERE workspace_id = $1 AND code = $2`, [
      workspace.id,
      code,
    ]);
  const dialog = page.getByRole('dialog');
  const confirm = async (code: string, action: string) => {
    await choose(page, code, action);
    const button = dialog.getByRole('button', { name: action });
    await button.waitFor();
    await archive(code);
    await button.click();
    await dialog.getByText('The campaign is archived: its status was changed meanwhile').waitFor();
    expect(await statusOf(workspace.id, code)).toMatchObject({ status: 'archived' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  };
  await page.goto('/campaigns');
  await confirm('WAITING', 'Resume');
  // The table hides archived campaigns.
  await campaign(page, 'WAITING').waitFor({ state: 'detached' });
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  await confirm('DEMO', 'Pause');
  await page.getByText('Archived', { exact: true }).waitFor();
});

test('the payout of a publisher that the user types stays when another user changes the currency of the campaign', async () => {
  const { page, workspace } = await website.openSignedIn();
  const publisher = await workspace.addMember('publisher');
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const own = page.getByRole('region', { name: 'Payouts of publishers' });
  const [chosen, amount, currency] = [
    own.getByRole('combobox', { name: 'Publisher' }),
    own.getByLabel('Amount'),
    own.getByLabel('Currency'),
  ];
  /** Changes the currency, and shows the campaign of the database. */
  const changeCurrency = async (code: string, action: string) => {
    await website.fixture.sql('UPDATE campaign SET payout_amount = 7, payout_currency = $2 WHERE id = $1', [
      workspace.demoCampaignId,
      code,
    ]);
    await choose(page, 'DEMO', action);
    await page.getByRole('dialog').getByRole('button', { name: action }).click();
    await page.getByRole('definition').filter({ hasText: code }).waitFor();
    // The dialog returns the focus when it is closed, which would close a list that the test has opened.
    await expectFocusOn(page, 'More for DEMO');
  };
  await changeCurrency('CHF', 'Pause');
  await expect.poll(() => currency.inputValue()).toBe('CHF');
  await chosen.fill(publisher.email);
  await page.getByRole('option', { name: publisher.email }).click();
  await amount.fill('20.5');
  await changeCurrency('NOK', 'Resume');
  expect(await chosen.inputValue()).toContain(publisher.email);
  expect([await amount.inputValue(), await currency.inputValue()]).toEqual(['20.5', 'CHF']);
  await press(page, 'Set the payout');
  await own.getByRole('cell', { name: 'CHF 20.5' }).waitFor();
  // The next entry begins with the currency of the campaign.
  await expect.poll(() => currency.inputValue()).toBe('NOK');
  expect([await chosen.inputValue(), await amount.inputValue()]).toEqual(['', '']);
});

test('the payout of a publisher that the user types stays when the user chooses another publisher', async () => {
  const { page, workspace } = await website.openSignedIn();
  const [first, second] = [await workspace.addMember('publisher'), await workspace.addMember('publisher')];
  await website.fixture.sql(
    `INSERT INTO publisher_payout (campaign_id, user_id, workspace_id, amount, currency)
     VALUES ($1, $2, $3, 15, 'CHF')`,
    [workspace.demoCampaignId, first.userId, workspace.id],
  );
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const own = page.getByRole('region', { name: 'Payouts of publishers' });
  await own.getByRole('cell', { name: 'CHF 15' }).waitFor();
  const choosePublisher = async (email: string) => {
    await own.getByRole('combobox', { name: 'Publisher' }).fill(email);
    await page.getByRole('option', { name: email }).click();
  };
  const entered = async () => [
    await own.getByLabel('Amount').inputValue(),
    await own.getByLabel('Currency').inputValue(),
  ];
  await choosePublisher(first.email);
  expect(await entered()).toEqual(['15', 'CHF']);
  // A payout that is only of the former publisher does not stay.
  await choosePublisher(second.email);
  expect(await entered()).toEqual(['', 'EUR']);
  await own.getByLabel('Amount').fill('20.5');
  await choosePublisher(first.email);
  expect(await entered()).toEqual(['20.5', 'EUR']);
});

test('assignees who have become publishers are shown by name, and the other assignees can still be changed', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const former = await workspace.addMember('publisher');
  await website.fixture.sql(`UPDATE "user" SET name = 'Ada Publisher' WHERE id = $1`, [former.userId]);
  await website.fixture.sql('UPDATE campaign SET assignee_ids = ARRAY[$2::uuid] WHERE id = $1', [
    workspace.demoCampaignId,
    former.userId,
  ]);
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const settings = page.getByRole('region', { name: 'Settings' });
  await settings.getByText('Ada Publisher', { exact: true }).waitFor();
  await chooseByKeyboard(page, 'Assign new leads to', `Test Person (${member.email})`);
  await page.keyboard.press('Escape');
  await press(page, 'Save');
  await page.getByText('The campaign was saved').waitFor();
  const [stored] = await website.fixture.sql('SELECT assignee_ids FROM campaign WHERE id = $1', [
    workspace.demoCampaignId,
  ]);
  expect(stored).toEqual({ assignee_ids: [former.userId, member.userId] });
});

test('landing pages are mapped with the select and by drag and drop, and can be registered', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  for (const name of ['quiz', 'spring-offer']) await workspace.mapLandingPage(name, null);
  await workspace.addCampaign('OTHER');
  await website.fixture.leads.insert(
    [1, 2, 3].map(() => workspace.lead(member, { source: 'intake', lpName: 'quiz' })),
  );
  await page.goto('/campaigns');
  await page.getByText('2 landing pages without a campaign sent 3 leads').waitFor();
  await expectGoodEverywhere(page, 'campaigns-unmapped');

  await landingPage(page, 'quiz').getByRole('combobox', { name: 'Campaign of quiz' }).click();
  await page.getByRole('option', { name: 'DEMO' }).click();
  await campaign(page, 'DEMO').getByText('quiz').waitFor();
  // The list moves its rows when it is read again, which a drag must not meet.
  await page.getByText('1 landing page without a campaign').waitFor();
  await expectStored(page);
  await landingPage(page, 'spring-offer').dragTo(campaign(page, 'DEMO'));
  await campaign(page, 'DEMO').getByText('quiz, spring-offer').waitFor();
  expect(
    await website.fixture.sql(
      'SELECT name, campaign_id FROM landing_page WHERE workspace_id = $1 ORDER BY name',
      [workspace.id],
    ),
  ).toEqual(['quiz', 'spring-offer'].map((name) => ({ name, campaign_id: workspace.demoCampaignId })));
  await page.getByText('Landing pages without a campaign').waitFor({ state: 'detached' });
  await expectStored(page);

  // A page that has a campaign gets another one only after a confirmation.
  const question = page.getByRole('dialog', { name: 'Change the campaign of quiz?' });
  await landingPage(page, 'quiz').dragTo(campaign(page, 'OTHER'));
  await question.getByText('go to OTHER instead of DEMO').waitFor();
  await expectGoodEverywhere(page, 'campaigns-remap');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  await campaign(page, 'DEMO').getByText('quiz, spring-offer').waitFor();
  await landingPage(page, 'quiz').getByRole('combobox', { name: 'Campaign of quiz' }).click();
  await page.getByRole('option', { name: 'OTHER' }).click();
  await question.getByRole('button', { name: 'Change the campaign' }).click();
  await question.waitFor({ state: 'detached' });
  await campaign(page, 'OTHER').getByText('quiz').waitFor();
  await campaign(page, 'DEMO').getByText('spring-offer', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Register a landing page' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name (lp_name)').fill('quiz');
  await page.keyboard.press('Enter');
  await dialog.getByText('Is used by another landing page').first().waitFor();
  await expectGoodPage(page);
  await dialog.getByLabel('Name (lp_name)').fill('summer');
  await page.keyboard.press('Enter');
  await landingPage(page, 'summer').waitFor();
  await page.getByText('1 landing page without a campaign').waitFor();
});

/** Opens the settings of a campaign as a manager. `sent` has the bodies of the changes that the page sends. */
async function openSettings() {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const sent: (string | null)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') sent.push(request.postData());
  });
  return { page, settings: page.getByRole('region', { name: 'Settings' }), sent };
}

test('a cleared number of days stays empty, is not submitted, and takes the next number that is typed', async () => {
  const { page, settings, sent } = await openSettings();
  for (const [select, option, label, setting] of [
    ['Duplicate window', 'Another number of days...', 'Days', 'duplicateWindowSeconds'],
    ['Hold time', 'Days', 'Hold time in days', 'approveAfterSeconds'],
  ] as const) {
    await settings.getByRole('combobox', { name: select, exact: true }).click();
    await page.getByRole('option', { name: option, exact: true }).click();
    const field = settings.getByRole('textbox', { name: label, exact: true });
    await field.press('ControlOrMeta+A');
    await field.press('Backspace');
    expect(await field.inputValue()).toBe('');
    await field.press('0');
    await field.press('Enter');
    expect(await field.evaluate((input: HTMLInputElement) => input.validity.valueMissing)).toBe(true);
    await field.press('3');
    expect(await field.inputValue()).toBe('3');
    await field.press('Enter');
    await expect.poll(() => sent).toEqual([JSON.stringify({ [setting]: 3 * 86_400 })]);
    await settings.locator('button[aria-disabled="true"]', { hasText: 'Save' }).waitFor();
    sent.length = 0;
  }
});

test('a number of days that is not whole or too large stays as it is typed or pasted, and is not submitted', async () => {
  const { page, settings, sent } = await openSettings();
  await settings.getByRole('combobox', { name: 'Hold time', exact: true }).click();
  await page.getByRole('option', { name: 'Days', exact: true }).click();
  const field = settings.getByRole('textbox', { name: 'Hold time in days', exact: true });
  const paste = (text: string) =>
    field.evaluate((input: HTMLInputElement, pasted) => {
      input.select();
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', pasted);
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      if (input.dispatchEvent(event)) document.execCommand('insertText', false, pasted);
    }, text);
  const whole = 'Enter a whole number';
  for (const [enter, shown, message] of [
    [() => field.pressSequentially('12,5'), '12.5', whole],
    [() => paste('1,5'), '1.5', whole],
    [() => paste('1.000'), '1.000', whole],
    [() => field.pressSequentially('400'), '400', 'Enter 365 or less'],
  ] as const) {
    await field.press('ControlOrMeta+A');
    await enter();
    expect(await field.inputValue()).toBe(shown);
    await field.press('Enter');
    expect(await field.evaluate((input: HTMLInputElement) => input.validationMessage)).toBe(message);
  }
  await paste('15');
  await field.press('Enter');
  await expect.poll(() => sent).toEqual([JSON.stringify({ approveAfterSeconds: 15 * 86_400 })]);
});

test('no other landing page is changed while a change of one is stored, so that its state and its failure stay on screen', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  for (const name of ['quiz', 'spring-offer']) await workspace.mapLandingPage(name, null);
  await website.fixture.landingPages.add(
    [{ workspaceId: workspace.id, name: 'junk', apiKeyId: randomUUID() }],
    0,
  );
  await page.goto('/campaigns');
  const select = (name: string) =>
    landingPage(page, name).getByRole('combobox', { name: `Campaign of ${name}` });
  const map = async (name: string) => {
    await select(name).click();
    await page.getByRole('option', { name: 'DEMO' }).click();
  };
  const approve = page.getByRole('button', { name: 'Approve junk' });
  await approve.waitFor();
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname);
  });
  const stored = await hold(page, /\/landing-pages\//);
  await map('quiz');
  await landingPage(page, 'quiz').locator('[aria-busy="true"]').waitFor();
  await landingPage(page, 'spring-offer').dragTo(campaign(page, 'DEMO'));
  await approve.press('Enter');
  expect(await approve.getAttribute('aria-disabled')).toBe('true');
  expect(await select('spring-offer').getAttribute('readonly')).not.toBeNull();
  expect(await landingPage(page, 'quiz').locator('[aria-busy="true"]').count()).toBe(1);
  stored.release();
  await campaign(page, 'DEMO').getByText('quiz', { exact: true }).waitFor();
  await page.getByText('1 landing page without a campaign').waitFor();
  expect(sent).toHaveLength(1);
  await expectStored(page);
  await map('spring-offer');
  await campaign(page, 'DEMO').getByText('quiz, spring-offer').waitFor();
});

test('managers approve landing pages beyond the cap of an API key, with or without a campaign', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  const names = ['first', 'junk', 'quiz', 'spring'];
  const apiKeyId = randomUUID();
  await website.fixture.landingPages.add(
    names.map((name) => ({ workspaceId: workspace.id, name, apiKeyId })),
    1,
  );
  await page.goto('/campaigns');
  await page
    .getByText('The leads of 3 landing pages go to the default campaign. An API key named more')
    .waitFor();
  await expectGoodEverywhere(page, 'campaigns-approval');
  await page.getByRole('button', { name: 'Approve spring' }).click();
  await page.getByText('The leads of 2 landing pages go to the default campaign. An API key').waitFor();
  await expectStored(page);
  await landingPage(page, 'quiz').getByRole('combobox', { name: 'Campaign of quiz' }).click();
  await page.getByRole('option', { name: 'DEMO' }).click();
  await page.getByText('The leads of 1 landing page go to the default campaign. An API key').waitFor();
  const rows = await website.fixture.sql<{ name: string; campaign_id: string | null }>(
    'SELECT name, campaign_id FROM landing_page WHERE workspace_id = $1 AND pending_since IS NULL ORDER BY name',
    [workspace.id],
  );
  expect(rows).toEqual([
    { name: 'first', campaign_id: null },
    { name: 'quiz', campaign_id: workspace.demoCampaignId },
    { name: 'spring', campaign_id: null },
  ]);
});

test('managers dismiss landing pages without a campaign, and restore them', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  const apiKeyId = randomUUID();
  await website.fixture.landingPages.add(
    ['first', 'junk', 'quiz'].map((name) => ({ workspaceId: workspace.id, name, apiKeyId })),
    1,
  );
  await page.goto('/campaigns');
  await press(page, 'Dismiss junk');
  await page.getByText('The leads of 1 landing page go to the default campaign. An API key').waitFor();
  await landingPage(page, 'junk').waitFor({ state: 'detached' });
  // The row with the focused button is hidden.
  await expectFocusOn(page, 'Show 1 landing page dismissed');
  await page.keyboard.press('Enter');
  await landingPage(page, 'junk').waitFor();
  await expectGoodEverywhere(page, 'campaigns-dismissed');
  await page.getByRole('button', { name: 'Restore junk' }).click();
  await page.getByText('The leads of 2 landing pages go to the default campaign. An API key').waitFor();
  await page.getByRole('button', { name: 'Dismiss junk' }).waitFor();
  await expectStored(page);

  await page.getByRole('button', { name: 'Dismiss first' }).click();
  await page.getByText('1 landing page without a campaign').waitFor({ state: 'detached' });
  await expectStored(page);
  await page.getByRole('button', { name: 'Restore first' }).click();
  await page.getByText('The leads of 3 landing pages go to the default campaign. An API key').waitFor();
});

test('landing pages are shown in pages of 50', async () => {
  const { page, workspace } = await website.openSignedIn();
  await website.fixture.landingPages.add(
    Array.from({ length: 60 }, (_, index) => ({
      workspaceId: workspace.id,
      name: `page-${String(index).padStart(2, '0')}`,
    })),
  );
  await page.goto('/campaigns');
  await landingPage(page, 'page-49').waitFor();
  expect(await landingPage(page, 'page-50').count()).toBe(0);
  await page.getByText('50 or more landing pages without a campaign sent 0 or more leads').waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await landingPage(page, 'page-59').waitFor();
  await page.getByText('60 landing pages without a campaign sent 0 leads').waitFor();
});

test('the leads of a landing page are shown as a minimum if the service did not count all of them', async () => {
  const { page, workspace } = await website.openSignedIn();
  for (const name of ['busy', 'quiet']) await workspace.mapLandingPage(name, null);
  await page.route('**/api/console/landing-pages?mapped=false*', async (route) => {
    const response = await route.fetch();
    const [busy, quiet] = (await response.json()) as LandingPageView[];
    const json = [
      { ...busy, leads: 100_000, leadsTruncated: true },
      { ...quiet, leads: 17 },
    ];
    await route.fulfill({ response, json });
  });
  await page.goto('/campaigns');
  await landingPage(page, 'busy').getByText('100,000 or more', { exact: true }).waitFor();
  await page.getByText('2 landing pages without a campaign sent 100,017 or more leads to').waitFor();
  expect(await landingPage(page, 'quiet').innerText()).toMatch(/\b17\b(?! or more)/);
});

test('landing pages of an archived campaign are not listed as mapped, and their leads are explained', async () => {
  const { page, workspace } = await website.openSignedIn();
  await workspace.mapLandingPage('quiz', workspace.demoCampaignId);
  await workspace.mapLandingPage('old', await archivedCampaign(workspace));
  await page.goto('/campaigns');
  const section = page.getByRole('region', { name: 'Landing pages' });
  await section.getByText('The leads of 1 landing page with an archived campaign go to').waitFor();
  const listed = async (name: string) =>
    section.getByRole('list', { name, exact: true }).locator('[data-landing-page]').allInnerTexts();
  expect((await listed('Mapped to an archived campaign')).join()).toContain('old');
  expect((await listed('Mapped')).join()).not.toContain('old');
  await expectGoodEverywhere(page, 'campaigns-archived-pages');
});

test('the table of campaigns is shown with its landing pages, because their names move its columns', async () => {
  const { page, workspace } = await website.openSignedIn();
  await workspace.mapLandingPage('quiz', workspace.demoCampaignId);
  let answer = () => undefined as void;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/console/landing-pages?mapped=true*', async (route) => {
    await held;
    await route.continue();
  });
  await page.addInitScript(`
    globalThis.rows = [];
    new MutationObserver(() => {
      const row = document.querySelector('[data-campaign="DEMO"]');
      if (row !== null) rows.push(row.textContent);
    }).observe(document, { childList: true, subtree: true, characterData: true });`);
  const figures = page.waitForResponse('**/api/console/campaign-figures');
  await page.goto('/campaigns');
  await figures;
  await page.locator('main .mantine-Loader-root').waitFor();
  answer();
  await campaign(page, 'DEMO').getByText('quiz').waitFor();
  for (const row of await page.evaluate<string[]>('rows')) expect(row).toContain('quiz');
});

test('publishers see campaigns and their own landing pages but cannot change them', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'publisher' });
  await workspace.mapLandingPage('quiz', workspace.demoCampaignId);
  await workspace.mapLandingPage('old', await archivedCampaign(workspace));
  await workspace.mapLandingPage('theirs', await workspace.addCampaign('OTHERS'));
  await website.fixture.leads.insert([
    workspace.lead(member, { lpName: 'quiz' }),
    workspace.lead(member, { lpName: 'old' }),
    workspace.lead(workspace.owner, { lpName: 'theirs' }),
  ]);
  await page.goto('/campaigns');
  await landingPage(page, 'quiz').getByText('DEMO').waitFor();
  await landingPage(page, 'old').getByText('OLD (archived)').waitFor();
  expect(await landingPage(page, 'theirs').count()).toBe(0);
  await campaign(page, 'DEMO').getByText('quiz').waitFor();
  const main = page.getByRole('main');
  const buttons = await main.getByRole('button').allInnerTexts();
  expect(buttons.map((text) => text.trim())).toEqual([
    'Campaign',
    'Last 7 days',
    'Approve rate',
    'Leads',
    'State',
    'Last lead',
  ]);
  // The search, and the switch for archived campaigns.
  expect(await main.locator('input').count()).toBe(2);
  await expectGoodEverywhere(page, 'campaigns-publisher');
  await campaign(page, 'OTHERS').getByText('None of yours').waitFor();
  await campaign(page, 'OTHERS').getByRole('link').first().click();
  await page.getByText('None of your landing pages is mapped to this campaign.').waitFor();
  expect(await main.getByRole('link', { name: 'Map landing pages' }).count()).toBe(0);
  // A publisher does not see the webhooks and the postbacks of others, which may be limited to the campaign.
  await page.getByText('None of your postbacks is limited to this campaign.').waitFor();
});

test('campaigns and landing pages are visible only in their own workspace', async () => {
  const { page, workspace } = await website.openSignedIn();
  await workspace.addCampaign('MINE');
  await workspace.mapLandingPage('my-page', null);
  const stranger = await website.openSignedIn();
  await page.goto('/campaigns');
  await campaign(page, 'MINE').waitFor();
  await landingPage(page, 'my-page').waitFor();
  await stranger.page.goto('/campaigns');
  await campaign(stranger.page, 'DEMO').waitFor();
  await stranger.page.getByText('No landing pages yet').waitFor();
  expect(await campaign(stranger.page, 'MINE').count()).toBe(0);
});

test('an integration page is readable without an account until its link is renewed or deleted', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await workspace.mapLandingPage('quiz', workspace.demoCampaignId);
  await page.goto('/campaigns');
  await choose(page, 'DEMO', 'Integration page');
  const dialog = page.getByRole('dialog').first();
  await dialog.getByRole('button', { name: 'Create the page' }).click();
  const link = dialog.getByRole('region', { name: 'Link' });
  const first = new URL(await link.innerText()).pathname;
  await expectGoodEverywhere(page, 'campaigns-integration');

  const visitor = await website.openPage();
  await visitor.goto(first);
  await visitor.getByRole('heading', { level: 1, name: 'Send leads to DEMO' }).waitFor();
  await visitor.getByText(`This campaign belongs to ${workspace.slug}.`).waitFor();
  const shown = await visitor.getByRole('main').innerText();
  expect(shown).toContain('"campaignCode":"DEMO"');
  expect(shown).toContain('"lp_name":"quiz"');
  expect(shown).toContain('<API_KEY>');
  expect(shown).not.toContain(member.apiKey.slice(0, 11));
  expect(await visitor.context().cookies()).toEqual([]);
  await expectGoodEverywhere(visitor, 'integration');

  const confirmation = page.getByRole('dialog', { name: /\?$/ });
  await dialog.getByRole('button', { name: 'Renew the link' }).click();
  await confirmation.getByRole('button', { name: 'Renew the link' }).click();
  await expect.poll(async () => new URL(await link.innerText()).pathname).not.toBe(first);
  const second = new URL(await link.innerText()).pathname;
  await visitor.reload();
  await visitor.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  await expectGoodEverywhere(visitor, 'integration-gone');
  await visitor.goto(second);
  await visitor.getByRole('heading', { name: 'Send leads to DEMO' }).waitFor();
  await dialog.getByRole('button', { name: 'Delete the page' }).click();
  await confirmation.getByRole('button', { name: 'Delete the page' }).click();
  await dialog.getByText('This campaign has no integration page yet.').waitFor();
  await visitor.reload();
  await visitor.getByRole('heading', { name: 'This link no longer works' }).waitFor();
});

test('the integration page of the default campaign shows how to send leads without a landing page, because they arrive there', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const token = 'd'.repeat(43);
  await website.fixture.sql('UPDATE campaign SET integration_token = $1 WHERE id = $2', [
    token,
    workspace.defaultCampaignId,
  ]);
  await page.goto(`/integration/${token}`);
  const intake = page.locator('section').filter({ hasText: 'From a landing page: the intake' });
  await intake.waitFor();
  const shown = await intake.innerText();
  expect(shown).toContain('This is the default campaign');
  expect(shown).not.toContain('would go to another campaign');
  expect(shown).not.toContain('lp_name"');
  // The example stores its lead in this campaign.
  const command = await intake.locator('pre').innerText();
  await run('bash', ['-c', command.replace('<API_KEY>', member.apiKey)]);
  expect(
    await website.fixture.sql('SELECT campaign_id FROM lead WHERE workspace_id = $1', [workspace.id]),
  ).toEqual([{ campaign_id: workspace.defaultCampaignId }]);
});
