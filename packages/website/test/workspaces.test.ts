import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { chooseItem, expectFocusOn } from './by-keyboard.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, startWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await startWebsite();
}, 400_000);
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

const timeout = 120_000;
const reloadNotice = /You are in another workspace now/;

const lead = (page: Page, name: string) => page.getByRole('row', { name });
const campaign = (page: Page, code: string) => page.locator(`[data-campaign="${code}"]`);
const switcher = (page: Page, { slug }: TestWorkspace) =>
  page.getByRole('button', { name: `Switch workspace: ${slug}` });
const goTo = async (page: Page, name: string) => {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
};

/** Waits for the notification about the reload, and closes it. */
async function expectReloadNotice(page: Page): Promise<void> {
  const notice = page.getByRole('alert').filter({ hasText: reloadNotice });
  await notice.waitFor();
  await notice.getByRole('button', { name: 'Close' }).click();
  await notice.waitFor({ state: 'detached' });
}

/** Sends a lead with the CRM API. */
async function send({ owner }: TestWorkspace, name: string): Promise<void> {
  const answer = await fetch(`${website.crm}/api/v1/order/leads`, {
    method: 'POST',
    headers: { ...owner.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ campaignCode: 'DEMO', name, phone: '+44 20 7946 0958' }),
  });
  expect(answer.status).toBe(200);
}

/** Opens a page in the first of two workspaces of an owner. Each workspace has a lead and a campaign. */
async function openWithTwoWorkspaces() {
  const { page, workspace: first, member } = await website.openSignedIn();
  const second = await website.fixture.createWorkspace();
  await second.addMember('owner', { email: member.email });
  await send(first, 'Ada First');
  await send(second, 'Grace Second');
  await first.addCampaign('FIRST');
  await second.addCampaign('SECOND');
  return { page, first, second };
}

/** Checks that all pages show only data of the second workspace. */
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

test('after a switch of the workspace, all pages show only data of the new workspace', {
  timeout,
}, async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  const requests: Request[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    // A page learns its workspace from the response to /me, so that request does not name a workspace.
    if (pathname.startsWith('/api/console/') && pathname !== '/api/console/me') requests.push(request);
  });
  const expectRequestsFor = async ({ id }: TestWorkspace) => {
    const all = requests.splice(0);
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
  await expectRequestsFor(first);

  await chooseItem(page, `Switch workspace: ${first.slug}`, second.slug);
  await switcher(page, second).waitFor();
  await expectFocusOn(page, `Switch workspace: ${second.slug}`);
  await lead(page, 'Grace Second').waitFor();
  requests.splice(0);
  await expectSecondOnly(page, second);
  await expectRequestsFor(second);
  expect(await page.getByText(reloadNotice).count()).toBe(0);
});

test('after a switch in one tab, the other tab reloads and shows the reason', { timeout }, async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  await page.goto('/leads');
  await lead(page, 'Ada First').waitFor();
  const otherTab = await page.context().newPage();
  await otherTab.goto('/overview');
  await chooseItem(otherTab, `Switch workspace: ${first.slug}`, second.slug);
  await switcher(otherTab, second).waitFor();

  // The other tab notices the switch when it polls for changes.
  await page.getByText(reloadNotice).waitFor();
  await expectGoodEverywhere(page, 'other-workspace');
  await expectReloadNotice(page);
  await lead(page, 'Grace Second').waitFor();
  await send(second, 'Live Second');
  await lead(page, 'Live Second').waitFor();
  await expectSecondOnly(page, second);
  await otherTab.reload();
  expect(await otherTab.getByText(reloadNotice).count()).toBe(0);
});

test('after a switch in one tab, a form of the other tab changes nothing in the new workspace', {
  timeout,
}, async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  const otherTab = await page.context().newPage();
  const stored = async () => [
    await website.fixture.sql('SELECT id, name FROM workspace WHERE id = ANY ($1) ORDER BY id', [
      [first.id, second.id],
    ]),
    await website.fixture.sql('SELECT code FROM campaign WHERE workspace_id = ANY ($1) ORDER BY code', [
      [first.id, second.id],
    ]),
  ];
  const before = await stored();
  const switchWorkspace = async (from: TestWorkspace, to: TestWorkspace) => {
    await otherTab.goto('/overview');
    await chooseItem(otherTab, `Switch workspace: ${from.slug}`, to.slug);
    await switcher(otherTab, to).waitFor();
  };

  await page.goto('/campaigns');
  await page.getByRole('button', { name: 'New campaign' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Strayed');
  await dialog.getByLabel('Code').fill('STRAYED');
  await switchWorkspace(first, second);
  await page.keyboard.press('Enter');
  await expectReloadNotice(page);
  await campaign(page, 'SECOND').waitFor();
  expect(await dialog.count()).toBe(0);

  await goTo(page, 'Members');
  await page.getByLabel('Name of the workspace').fill('Strayed');
  await switchWorkspace(second, first);
  await page.getByRole('button', { name: 'Save' }).click();
  await expectReloadNotice(page);
  await expect.poll(() => page.getByLabel('Name of the workspace').inputValue()).toBe(first.slug);
  expect(await stored()).toEqual(before);
});

test('a tab with an import or a new secret reloads only after the user closes the dialog', {
  timeout,
}, async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  const otherTab = await page.context().newPage();
  const conflictResponse = () => page.waitForResponse((answer) => answer.status() === 409, { timeout });
  const switchWorkspace = async (from: TestWorkspace, to: TestWorkspace) => {
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
  // The response to the import arrives after the page has received the 409 response.
  await page.route('**/order/leads/import*', async (route) => {
    const response = await route.fetch();
    const conflict = conflictResponse();
    await switchWorkspace(first, second);
    await conflict;
    await route.fulfill({ response });
  });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByRole('row', { name: 'Stored' }).waitFor();
  expect(await page.getByText(reloadNotice).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expectReloadNotice(page);
  await lead(page, 'Grace Second').waitFor();
  const stored = await website.fixture.sql(
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
  const conflict = conflictResponse();
  await switchWorkspace(second, first);
  await conflict;
  await secret.waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await expectReloadNotice(page);
  await page.getByRole('list', { name: 'API keys' }).waitFor();
  expect(await page.getByText('Of the second').count()).toBe(0);
});
