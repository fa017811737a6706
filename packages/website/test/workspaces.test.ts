import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { chooseItem, expectFocusOn } from './by-keyboard.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Console, startConsole } from './website.ts';

let console: Console;
beforeAll(async () => {
  console = await startConsole();
}, 400_000);
afterEach(() => console.closePages());
afterAll(() => console?.[Symbol.asyncDispose]());

const timeout = 120_000;
const startedOver = /You are in another workspace now/;

const lead = (page: Page, name: string) => page.getByRole('row', { name });
const campaign = (page: Page, code: string) => page.locator(`[data-campaign="${code}"]`);
const switcher = (page: Page, { slug }: TestWorkspace) =>
  page.getByRole('button', { name: `Switch workspace: ${slug}` });
const goTo = async (page: Page, name: string) => {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
};

/** The page tells why it started over, until it is read. */
async function expectTold(page: Page): Promise<void> {
  const notice = page.getByRole('alert').filter({ hasText: startedOver });
  await notice.waitFor();
  await notice.getByRole('button', { name: 'Close' }).click();
  await notice.waitFor({ state: 'detached' });
}

/** Sends a lead by way of the API. */
async function send({ owner }: TestWorkspace, name: string): Promise<void> {
  const answer = await fetch(`${console.crm}/api/v1/order/leads`, {
    method: 'POST',
    headers: { ...owner.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ campaignCode: 'DEMO', name, phone: '+44 20 7946 0958' }),
  });
  expect(answer.status).toBe(200);
}

/** A page of the first of two workspaces that its user is an owner of, each with a lead and a campaign. */
async function openOfTwo() {
  const { page, workspace: first, member } = await console.openSignedIn();
  const second = await console.fixture.createWorkspace();
  await second.addMember('owner', { email: member.email });
  await send(first, 'Ada First');
  await send(second, 'Grace Second');
  await first.addCampaign('FIRST');
  await second.addCampaign('SECOND');
  return { page, first, second };
}

/** What pages show is of the second workspace, whatever they showed of the first. */
async function expectSecondOnly(page: Page, second: TestWorkspace): Promise<void> {
  await switcher(page, second).waitFor();
  await goTo(page, 'Leads');
  await lead(page, 'Grace Second').waitFor();
  expect(await page.getByText('Ada First').count()).toBe(0);
  await goTo(page, 'Campaigns');
  await campaign(page, 'SECOND').waitFor();
  expect(await campaign(page, 'FIRST').count()).toBe(0);
  await goTo(page, 'Members');
  expect(await page.getByLabel('Name of the workspace').inputValue()).toBe(second.slug);
}

test('chosen on a page, its own data is what all pages show', { timeout }, async () => {
  const { page, first, second } = await openOfTwo();
  const asked: Request[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    // Which workspace it is, a page that was just loaded learns by the first of them.
    if (pathname.startsWith('/api/console/') && pathname !== '/api/console/me') asked.push(request);
  });
  const expectAskedFor = async ({ id }: TestWorkspace) => {
    const all = asked.splice(0);
    expect(all.length).toBeGreaterThan(2);
    for (const request of all) {
      const named = await request.headerValue('workspace-id');
      expect([request.url(), named]).toEqual([request.url(), id]);
    }
  };
  await page.goto('/leads?q=ada');
  await lead(page, 'Ada First').waitFor();
  await goTo(page, 'Campaigns');
  await campaign(page, 'FIRST').waitFor();
  await goTo(page, 'Overview');
  await goTo(page, 'Members');
  await goTo(page, 'Profile');
  await goTo(page, 'Leads');
  await lead(page, 'Ada First').waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  const link = page.getByRole('menuitem', { name: 'Export as CSV' });
  expect(await link.getAttribute('href')).toContain(`workspaceId=${first.id}`);
  await page.getByRole('menuitem', { name: 'Import a CSV file' }).click();
  await page.locator('input[type="file"]').setInputFiles({
    name: 'leads.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('name,phone,campaignCode\nImported First,+44 20 7946 0000,FIRST\n'),
  });
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await lead(page, 'Imported First').waitFor();
  await expectAskedFor(first);

  await chooseItem(page, `Switch workspace: ${first.slug}`, second.slug);
  await switcher(page, second).waitFor();
  await expectFocusOn(page, `Switch workspace: ${second.slug}`);
  await lead(page, 'Grace Second').waitFor();
  asked.splice(0);
  await expectSecondOnly(page, second);
  await expectAskedFor(second);
  expect(await page.getByText(startedOver).count()).toBe(0);
});

test('chosen in one tab, the other starts over with it, and says why', { timeout }, async () => {
  const { page, first, second } = await openOfTwo();
  await page.goto('/leads');
  await lead(page, 'Ada First').waitFor();
  const otherTab = await page.context().newPage();
  await otherTab.goto('/overview');
  await chooseItem(otherTab, `Switch workspace: ${first.slug}`, second.slug);
  await switcher(otherTab, second).waitFor();

  // By what it asks for again and again, without being touched.
  await page.getByText(startedOver).waitFor();
  await expectGoodEverywhere(page, 'other-workspace');
  await expectTold(page);
  await lead(page, 'Grace Second').waitFor();
  await send(second, 'Live Second');
  await lead(page, 'Live Second').waitFor();
  await expectSecondOnly(page, second);
  await otherTab.reload();
  expect(await otherTab.getByText(startedOver).count()).toBe(0);
});

test('chosen in one tab, nothing that the other was about to do is done in it', { timeout }, async () => {
  const { page, first, second } = await openOfTwo();
  const otherTab = await page.context().newPage();
  const stored = async () => [
    await console.fixture.sql('SELECT id, name FROM workspace WHERE id = ANY ($1) ORDER BY id', [
      [first.id, second.id],
    ]),
    await console.fixture.sql('SELECT code FROM campaign WHERE workspace_id = ANY ($1) ORDER BY code', [
      [first.id, second.id],
    ]),
  ];
  const before = await stored();
  const choose = async (from: TestWorkspace, to: TestWorkspace) => {
    await otherTab.goto('/overview');
    await chooseItem(otherTab, `Switch workspace: ${from.slug}`, to.slug);
    await switcher(otherTab, to).waitFor();
  };

  await page.goto('/campaigns');
  await page.getByRole('button', { name: 'New campaign' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Strayed');
  await dialog.getByLabel('Code').fill('STRAYED');
  await choose(first, second);
  await page.keyboard.press('Enter');
  await expectTold(page);
  await campaign(page, 'SECOND').waitFor();
  expect(await dialog.count()).toBe(0);

  await goTo(page, 'Members');
  await page.getByLabel('Name of the workspace').fill('Strayed');
  await choose(second, first);
  await page.getByRole('button', { name: 'Save' }).click();
  await expectTold(page);
  await expect.poll(() => page.getByLabel('Name of the workspace').inputValue()).toBe(first.slug);
  expect(await stored()).toEqual(before);
});

test('an import and a secret that are shown stay until they are looked at', { timeout }, async () => {
  const { page, first, second } = await openOfTwo();
  const otherTab = await page.context().newPage();
  const refused = () => page.waitForResponse((answer) => answer.status() === 409, { timeout });
  const choose = async (from: TestWorkspace, to: TestWorkspace) => {
    await otherTab.goto('/overview');
    await chooseItem(otherTab, `Switch workspace: ${from.slug}`, to.slug);
    await switcher(otherTab, to).waitFor();
  };
  await page.goto('/leads');
  await lead(page, 'Ada First').waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Import a CSV file' }).click();
  await page.locator('input[type="file"]').setInputFiles({
    name: 'leads.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('name,phone,campaignCode\nImported First,+44 20 7946 0000,FIRST\n'),
  });
  // It is answered only after the page is told that it is of another workspace.
  await page.route('**/order/leads/import*', async (route) => {
    const response = await route.fetch();
    const told = refused();
    await choose(first, second);
    await told;
    await route.fulfill({ response });
  });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByRole('row', { name: 'Stored' }).waitFor();
  expect(await page.getByText(startedOver).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expectTold(page);
  await lead(page, 'Grace Second').waitFor();
  const stored = await console.fixture.sql(
    `SELECT workspace_id AS id FROM lead WHERE name = 'Imported First' AND workspace_id = ANY ($1)`,
    [[first.id, second.id]],
  );
  expect(stored).toEqual([{ id: first.id }]);

  await goTo(page, 'Profile');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await dialog.getByLabel('Name').fill('Of the second');
  await page.keyboard.press('Enter');
  const secret = page.getByLabel(/^Secret of /);
  await secret.waitFor();
  const told = refused();
  await choose(second, first);
  await told;
  await secret.waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await expectTold(page);
  await page.getByRole('list', { name: 'API keys' }).waitFor();
  expect(await page.getByText('Of the second').count()).toBe(0);
});
