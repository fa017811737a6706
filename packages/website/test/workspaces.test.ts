import { readFileSync } from 'node:fs';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { chooseItem } from './by-keyboard.ts';
import { chooseImport, csvFile } from './leads-page.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, openWebsite, signInInAnotherTab, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

const lead = (page: Page, name: string) => page.getByRole('row', { name });
const campaign = (page: Page, code: string) => page.locator(`[data-campaign="${code}"]`);
const switcher = (page: Page, { slug }: TestWorkspace) =>
  page.getByRole('button', { name: `Switch workspace: ${slug}` });
const goTo = async (page: Page, name: string) => {
  const navigation = page.getByRole('navigation', { name: 'Navigation' });
  await navigation.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
};

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

/** Records the requests of a page to the API, and checks that all of them name one workspace. */
function recordRequests(page: Page) {
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/console/')) requests.push(request);
  });
  return async ({ slug }: TestWorkspace) => {
    const all = requests.splice(0);
    expect(all.length).toBeGreaterThan(2);
    for (const request of all) {
      const named =
        (await request.headerValue('workspace-id')) ?? new URL(request.url()).searchParams.get('workspaceId');
      expect([request.url(), named]).toEqual([request.url(), slug]);
    }
  };
}

test('two tabs work in two workspaces, and each request of a tab is for the workspace in its address', async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  const otherTab = await page.context().newPage();
  const expectRequestsOf = recordRequests(page);
  const expectRequestsOfOther = recordRequests(otherTab);
  await page.goto(`/w/${first.slug}/leads?q=ada`);
  await lead(page, 'Ada First').waitFor();
  // The last workspace of the session is the second one from now on.
  await otherTab.goto(`/w/${second.slug}/leads`);
  await lead(otherTab, 'Grace Second').waitFor();
  expect(await otherTab.title()).toContain(second.slug);

  await goTo(page, 'Campaigns');
  await campaign(page, 'FIRST').waitFor();
  await page.getByRole('button', { name: 'New campaign' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Made in the first');
  await page.getByRole('dialog').getByLabel('Code').fill('MADE');
  await page.keyboard.press('Enter');
  await campaign(page, 'MADE').waitFor();
  await goTo(page, 'Members');
  await page.getByLabel('Name of the workspace').fill('Renamed first');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Switch workspace: Renamed first' }).waitFor();
  await goTo(page, 'Leads');
  await page.getByRole('button', { name: 'More actions' }).click();
  const downloaded = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Export as CSV' }).click();
  const file = readFileSync(await (await downloaded).path(), 'utf8');
  expect(file).toContain('Ada First');
  expect(file).not.toContain('Grace Second');
  // A link survives a new name of the workspace and a reload.
  await page.reload();
  await lead(page, 'Ada First').waitFor();
  expect(new URL(page.url()).pathname).toBe(`/w/${first.slug}/leads`);
  await expectRequestsOf(first);
  await send(second, 'Live Second');
  await lead(otherTab, 'Live Second').waitFor();
  await expectRequestsOfOther(second);
  const changed = await website.fixture.sql(
    `SELECT code, workspace.id, workspace.name FROM campaign JOIN workspace ON workspace.id = workspace_id
     WHERE code = 'MADE' AND workspace_id = ANY($1)`,
    [[first.id, second.id]],
  );
  expect(changed).toEqual([{ code: 'MADE', id: first.id, name: 'Renamed first' }]);

  await chooseItem(page, 'Switch workspace: Renamed first', second.slug);
  await switcher(page, second).waitFor();
  await lead(page, 'Live Second').waitFor();
  expect(await page.getByText('Ada First').count()).toBe(0);
  await page.goBack();
  await lead(page, 'Ada First').waitFor();
});

test('an address without a workspace opens the last workspace with its query and hash', async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  const isRemembered = () => page.waitForResponse('**/organization/set-active');
  for (const workspace of [second, first]) {
    const remembered = isRemembered();
    await page.goto(`/w/${workspace.slug}/overview`);
    // The session starts in the first workspace.
    await remembered;
    await page.goto('/leads?q=second#top');
    await page.waitForURL(`${website.crm}/w/${workspace.slug}/leads?q=second#top`);
    await switcher(page, workspace).waitFor();
  }
  await page.goto(website.crm);
  await page.waitForURL(`${website.crm}/w/${first.slug}/overview`);
  await goTo(page, 'Leads');
  expect(page.url()).toBe(`${website.crm}/w/${first.slug}/leads`);

  // After the session ends, signing in leads back to the same page.
  await page.context().clearCookies();
  await page.goto(`/w/${second.slug}/campaigns`);
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
  expect(new URL(page.url()).searchParams.get('to')).toBe(`/w/${second.slug}/campaigns`);
});

test('the address of an unknown workspace lists the workspaces of the user, and of another page answers 404', async () => {
  const { page, first } = await openWithTwoWorkspaces();
  const { slug: foreign } = await website.fixture.createWorkspace();
  for (const slug of ['no-such-workspace', foreign]) {
    await page.goto(`/w/${slug}/leads`);
    await page.getByRole('heading', { name: 'Workspace not found', level: 1 }).waitFor();
    await page.getByText(`There is no workspace "${slug}", or you are not a member of it.`).waitFor();
  }
  // Without a workspace, every destination would show this page again.
  expect(await page.getByRole('navigation').count()).toBe(0);
  await expectGoodEverywhere(page, 'unknown-workspace');
  await page.getByRole('list', { name: 'Your workspaces' }).getByRole('link', { name: first.slug }).click();
  await switcher(page, first).waitFor();
  expect((await page.goto(`/w/${first.slug}/no-such-page`))?.status()).toBe(404);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
});

test('a form keeps its input when the session ends, and is sent after a sign-in in another tab', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const endSession = () => website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
  await page.goto(`/w/${workspace.slug}/campaigns`);
  await page.getByRole('button', { name: 'New campaign' }).click();
  const dialog = page.getByRole('dialog', { name: 'New campaign' });
  await dialog.getByLabel('Name').fill('Summer offer');
  await dialog.getByLabel('Code').fill('SUMMER');
  await endSession();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await signInInAnotherTab(page, member);
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Summer offer');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await campaign(page, 'SUMMER').waitFor();
  // Without a form, the page shows nothing of the session that has ended.
  await endSession();
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
});

test('what a user has typed into a page, and a new secret, stay when the session ends', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const signedOut = page.getByText('You are signed out. Your input stays here');
  /** Ends the session, and lets the page notice it. */
  const endSession = async () => {
    await website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await signedOut.waitFor();
  };
  const fields = [
    [`/campaigns/${workspace.demoCampaignId}`, /^Name/, 'Summer offer'],
    [`/campaigns/${workspace.demoCampaignId}`, /^Amount/, '20.5'],
    ['/members', /^Name of the workspace/, 'Summer offers'],
    ['/profile?tab=account', /^Your name/, 'Grace Hopper'],
    ['/profile?tab=account', /^New password/, 'a longer password'],
    ['/profile', /^Phone/, '+44 20 7946 0958'],
  ] as const;
  const expectKept = async (field: Locator, value: string) => {
    await endSession();
    expect(await field.inputValue()).toBe(value);
    await signInInAnotherTab(page, member);
  };
  for (const [path, label, value] of fields) {
    await page.goto(`/w/${workspace.slug}${path}`);
    const field = page.getByRole('main').getByLabel(label).last();
    await field.fill(value);
    await expectKept(field, value);
  }

  await page.goto(`/w/${workspace.slug}/leads`);
  await chooseImport(page, csvFile('Who,Mobile\nAda,+44 20 7946 0000\n'));
  const target = page.getByRole('combobox', { name: 'Field for Who' });
  await target.click();
  await page.getByRole('option', { name: 'Name', exact: true }).click();
  await expectKept(target, 'Name');

  await page.goto(`/w/${workspace.slug}/profile`);
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Shown once');
  await page.keyboard.press('Enter');
  const secret = page.getByLabel(/^Secret of /);
  await secret.waitFor();
  await endSession();
  expect(await secret.count()).toBe(1);
});

test('the name of a first workspace stays when the session ends', async () => {
  const { page, member } = await website.openSignedIn();
  await website.fixture.sql('DELETE FROM member WHERE user_id = $1', [member.userId]);
  await page.goto('/leads');
  const name = page.getByLabel('Name of the workspace');
  await name.fill('Of my own');
  await website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await signInInAnotherTab(page, member);
  expect(await name.inputValue()).toBe('Of my own');
});

test('the form of a new workspace is sent once while the page of the workspace loads', async () => {
  const { page } = await website.openSignedIn();
  await page.goto('/overview');
  await chooseItem(page, /^Switch workspace/, 'New workspace');
  // An answer without content leaves the page as it is while the next one loads.
  await page.route(/\/w\/[^/]+\/overview$/, (route) => route.fulfill({ status: 204 }));
  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') requests.push(new URL(request.url()).pathname);
  });
  const loads = page.waitForRequest((request) => request.isNavigationRequest());
  await page.getByRole('dialog').getByLabel('Name of the workspace').fill('Autumn');
  await page.keyboard.press('Enter');
  await loads;
  await waitForFrames(page);
  await page.keyboard.press('Enter');
  await waitForFrames(page);
  expect(requests).toEqual(['/api/console/workspaces']);
});

test('the back button leaves the page for the sign-in after the session has ended', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await page.goto('/icon.svg');
  await page.goto(`/w/${workspace.slug}/campaigns`);
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Members', exact: true }).click();
  await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  await website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
  const signIn = page.getByRole('heading', { name: 'Sign in', level: 1 });
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await signIn.waitFor();
  // The page before needs a sign-in, too.
  await page.goBack();
  await page.waitForURL((url) => url.search.includes('campaigns'));
  await signIn.waitFor();
  await page.goBack();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/icon.svg');
});

test('a tab shows nothing of its user after another user has signed in in another tab', async () => {
  const { page, workspace } = await website.openSignedIn();
  const { page: otherPage } = await website.openSignedIn({ workspace, role: 'publisher' });
  await send(workspace, 'Ada First');
  await page.goto(`/w/${workspace.slug}/leads`);
  await lead(page, 'Ada First').waitFor();
  await page.context().clearCookies();
  await page.context().addCookies(await otherPage.context().cookies());
  // The user returns to the tab.
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await page.getByText('There are no leads yet').waitFor();
  expect(await lead(page, 'Ada First').count()).toBe(0);
});

test('a form is rejected after another user has signed in in another window', async () => {
  const { page, workspace } = await website.openSignedIn();
  const { page: otherPage } = await website.openSignedIn({ workspace });
  await page.goto(`/w/${workspace.slug}/campaigns`);
  await page.getByRole('button', { name: 'New campaign' }).click();
  const dialog = page.getByRole('dialog', { name: 'New campaign' });
  await dialog.getByLabel('Name').fill('Summer offer');
  await dialog.getByLabel('Code').fill('SUMMER');
  await page.context().clearCookies();
  await page.context().addCookies(await otherPage.context().cookies());
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await dialog.getByRole('button', { name: 'Create' }).click();
  expect((await answer).status()).toBe(403);
  await dialog.waitFor({ state: 'detached' });
  await campaign(page, 'DEMO').waitFor();
  expect(await campaign(page, 'SUMMER').count()).toBe(0);
});

test('after a removal from the workspace, a tab with an import or a new secret reloads when its dialog closes', async () => {
  const { page, first, second } = await openWithTwoWorkspaces();
  const [{ user_id: userId } = { user_id: '' }] = await website.fixture.sql<{ user_id: string }>(
    `SELECT user_id FROM member GROUP BY user_id HAVING array_agg(workspace_id) @> $1`,
    [[first.id, second.id]],
  );
  const remove = ({ id }: TestWorkspace) =>
    website.fixture.sql('DELETE FROM member WHERE user_id = $1 AND workspace_id = $2', [userId, id]);
  const refusal = () => page.waitForResponse((answer) => answer.status() === 404);
  await page.goto(`/w/${first.slug}/leads`);
  await lead(page, 'Ada First').waitFor();
  await chooseImport(page, csvFile('name,phone,campaignCode\nImported First,+44 20 7946 0000,FIRST\n'));
  // The response to the import arrives after the page has received the 404 response.
  await page.route('**/order/leads/import*', async (route) => {
    const response = await route.fetch();
    const refused = refusal();
    await remove(first);
    await refused;
    await route.fulfill({ response });
  });
  const dialog = page.getByRole('dialog');
  const lost = page.getByRole('heading', { name: 'Workspace not found' });
  let isLeft = false;
  page.on('request', (request) => (isLeft ||= request.isNavigationRequest()));
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByRole('row', { name: 'Stored' }).waitFor();
  // A reload of the page would have started before this response.
  await page.evaluate(() => fetch('/icon.svg').then(() => undefined));
  expect(isLeft).toBe(false);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await lost.waitFor();

  await page.goto(`/w/${second.slug}/profile`);
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await dialog.getByLabel('Name').fill('Of the second');
  await page.keyboard.press('Enter');
  const secret = page.getByLabel(/^Secret of /);
  await secret.waitFor();
  await remove(second);
  const refused = refusal();
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await refused;
  await secret.waitFor();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await lost.waitFor();
});
