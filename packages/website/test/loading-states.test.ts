import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { hold, openWebsite, type Website } from './website.ts';

/* What pages show while their data is unknown. They must not say that there is none. */

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

test('a page appears with its heading, because its code is loaded before', async () => {
  const { page } = await website.openSignedIn();
  await page.addInitScript(() => {
    const shown: (string | undefined)[] = [];
    Object.assign(window, { shown });
    new MutationObserver(() => {
      const content = document.querySelector('#content');
      if (content !== null) shown.push(content.querySelector('h1')?.textContent);
    }).observe(document, { childList: true, subtree: true });
  });
  for (const [path, heading] of [
    ['/campaigns', 'Campaigns'],
    ['/leads', 'Leads'],
  ] as const) {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const shown = await page.evaluate(() => Reflect.get(window, 'shown') as string[]);
    expect([...new Set(shown)]).toEqual([heading]);
  }
});

test('the overview says that no country has leads only when the countries are known, and its CSV file waits for them', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.leads.insert([
    workspace.lead(member, { createdAt: new Date('2026-03-10T09:00:00Z'), country: 'GB' }),
  ]);
  const countries = await hold(page, /\/overview\/countries/);
  await page.goto('/overview?from=2026-03-10&to=2026-03-10&zone=UTC');
  const table = page.getByRole('region', { name: 'By country' });
  const csv = page.getByRole('button', { name: 'Download as CSV' });
  await table.getByText('Loading').waitFor();
  expect(await table.getByText('None in this range').count()).toBe(0);
  expect(await csv.getAttribute('aria-disabled')).toBe('true');
  countries.release();
  await table.getByRole('cell').first().waitFor();
  expect(await csv.getAttribute('aria-disabled')).toBe('false');

  await page.route(/\/overview\/countries/, (route) => route.fulfill({ status: 500 }));
  await page.reload();
  await table.getByText('The leads could not be counted by country').waitFor();
  expect(await table.getByText('None in this range').count()).toBe(0);
  await page.getByText('The CSV file is incomplete').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), csv.click()]);
  expect(await readFile(await download.path(), 'utf8')).not.toContain('By country');
});

test('the campaigns have no landing page only when the landing pages are known', async () => {
  const { page, workspace } = await website.openSignedIn();
  await workspace.mapLandingPage('quiz', workspace.demoCampaignId);
  await page.route(/\/landing-pages\?.*mapped=true/, (route) => route.fulfill({ status: 403 }));
  await page.goto('/campaigns');
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'DEMO' }) });
  await expect.poll(() => row.getByRole('cell').allInnerTexts()).toContain('See the list');
});

test.each(['/statements', '/payments', '/campaigns'])(
  'the select of publishers of %s shows that one is chosen before the members are loaded',
  async (path) => {
    const { page, member } = await website.openSignedIn();
    const members = await hold(page, /\/console\/members/);
    await page.goto(`${path}?user=${member.userId}`);
    const select = page.getByRole('combobox', { name: 'Publisher' });
    await expect.poll(() => select.inputValue()).toBe(`…${member.userId.slice(-8)}`);
    members.release();
    await expect.poll(() => select.inputValue()).toBe(`Test Person (${member.email})`);
  },
);

test('the filters of the leads show that a campaign, a user and an assignee are chosen before these are loaded', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const publisher = await workspace.addMember('publisher');
  const [campaigns, members] = [
    await hold(page, /\/console\/campaigns$/),
    await hold(page, /\/console\/members/),
  ];
  await page.goto(`/leads?campaignCode=DEMO&user=${member.userId}&assignee=${publisher.userId}`);
  const valueOf = (name: string) => page.getByRole('combobox', { name, exact: true }).inputValue();
  await expect.poll(() => valueOf('Campaign')).toBe('DEMO');
  const chips = page.getByRole('list', { name: 'Applied filters' }).getByRole('listitem');
  const shortId = (id: string) => `…${id.slice(-8)}`;
  const [user, assignee] = [shortId(member.userId), shortId(publisher.userId)];
  await expect
    .poll(() => chips.allTextContents())
    .toEqual(['Campaign: DEMO', `Publisher: ${user}`, `Assignee: ${assignee}`]);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await expect.poll(() => valueOf('Publisher')).toBe(user);
  expect(await valueOf('Assignee')).toBe(assignee);

  campaigns.release();
  members.release();
  await expect.poll(() => valueOf('Publisher')).toBe(`Test Person (${member.email})`);
  // A publisher cannot be an assignee, so the list of assignees does not have it.
  expect(await valueOf('Assignee')).not.toBe('');
});

/** Adds a postback for the leads of the campaign DEMO. Returns the path of its page. */
async function addPostback(workspace: TestWorkspace): Promise<string> {
  const id = randomUUID();
  await website.fixture.sql(
    `INSERT INTO delivery_endpoint (id, workspace_id, kind, method, url, event_types, statuses, campaign_ids)
     VALUES ($1, $2, 'postback', 'GET', 'https://tracker.example.com/?click={s1}', '{lead.created}', '{Approved}', ARRAY[$3::uuid])`,
    [id, workspace.id, workspace.demoCampaignId],
  );
  return `/postbacks/${id}`;
}

test('the dialog of a postback shows its campaign before the campaigns are loaded', async () => {
  const { page, workspace } = await website.openSignedIn();
  const campaigns = await hold(page, /\/console\/campaigns$/);
  await page.goto(await addPostback(workspace));
  await page.getByRole('button', { name: 'Edit' }).click();
  const select = page.getByRole('dialog').getByRole('combobox', { name: 'Only leads of this campaign' });
  await expect.poll(() => select.inputValue()).toBe('DEMO');
  campaigns.release();
});

test('the dialog of a postback asks for a URL only when none is entered', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.leads.insert([workspace.lead(member)]);
  const preview = await hold(page, /\/preview$/);
  await page.goto(await addPostback(workspace));
  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog').getByRole('group', { name: 'Preview' });
  await form.getByText('Loading').waitFor();
  expect(await form.getByText('Enter a URL').count()).toBe(0);
  await page.getByRole('dialog').getByLabel('URL').fill('');
  await form.getByText('Enter a URL').waitFor();
  preview.release();
});

test('the menu of the views says that there is none only when the views are known', async () => {
  const { page } = await website.openSignedIn();
  await page.route(/\/console\/views$/, (route) => route.fulfill({ status: 403 }));
  await page.goto('/leads');
  await page.getByRole('button', { name: 'Views' }).click();
  const menu = page.getByRole('menu');
  await menu.getByRole('menuitem', { name: 'Try again' }).waitFor();
  expect(await menu.getByText('No saved views yet').count()).toBe(0);
  expect(await findViolations(page)).toEqual([]);
  await page.unrouteAll();
  const views = await hold(page, /\/console\/views$/);
  await menu.getByRole('menuitem', { name: 'Try again' }).click();
  await menu.getByRole('menuitem', { name: 'Loading' }).waitFor();
  expect(await menu.getByText('No saved views yet').count()).toBe(0);
  views.release();
  await menu.getByText('No saved views yet').waitFor();
});

test('the command palette says that nothing matches only when the campaigns and the views are known', async () => {
  const { page } = await website.openSignedIn();
  await page.route(/\/console\/views$/, (route) => route.fulfill({ status: 403 }));
  const campaigns = await hold(page, /\/console\/campaigns$/);
  await page.goto('/members');
  await page.getByRole('button', { name: 'Search or go to' }).click();
  const palette = page.getByRole('dialog', { name: 'Search leads, pages and actions' });
  // One character searches no leads.
  await palette.getByRole('combobox').fill('z');
  await palette.getByRole('status').getByText('Searching').waitFor();
  campaigns.release();
  await palette.getByRole('alert').waitFor();
  await expect.poll(() => palette.getByRole('status').innerText()).toBe('');
  await page.unrouteAll();
  await palette.getByRole('button', { name: 'Try again' }).click();
  await palette.getByText('Nothing matches').waitFor();
});

test('the example of a request is shown only when the default campaign is known', async () => {
  const { page, workspace } = await website.openSignedIn();
  await website.fixture.sql(`UPDATE campaign SET code = 'SPRING' WHERE id = $1`, [
    workspace.defaultCampaignId,
  ]);
  await page.route(/\/console\/campaigns$/, (route) => route.fulfill({ status: 403 }));
  await page.goto('/developers?tab=examples');
  const example = page.getByRole('region', { name: 'Try it' });
  await example.getByText('CRM API').click();
  await example.getByRole('alert').getByRole('button').waitFor();
  expect(await example.getByText('campaignCode').count()).toBe(0);
  await page.unrouteAll();
  await example.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => example.innerText()).toMatch(/campaignCode":\s*"SPRING"/);
});

test('the campaigns show the error of a request for their publishers, and repeat it', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.leads.insert([workspace.lead(member)]);
  await page.route(/\/campaign-publishers$/, (route) => route.fulfill({ status: 403 }));
  await page.goto('/campaigns');
  const list = page.getByRole('region', { name: 'Campaigns', exact: true });
  await list.getByRole('alert').waitFor();
  expect(await list.getByRole('rowheader').count()).toBe(2);
  await page.unrouteAll();
  await list.getByRole('button', { name: 'Try again' }).click();
  await list.getByRole('link', { name: 'Test Person' }).waitFor();
});

test('the preview of a postback that cannot be read is shown after "Try again"', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const lead = workspace.lead(member);
  await website.fixture.leads.insert([lead]);
  await page.route(/\/postbacks\/preview$/, (route) => route.fulfill({ status: 503 }));
  await page.goto(await addPostback(workspace));
  const preview = page.waitForResponse(
    (response) => response.request().postData()?.includes(`"leadId":"${lead.id}"`) === true,
  );
  await page.getByRole('button', { name: 'Edit' }).click();
  await preview;
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('alert').waitFor();
  await page.unrouteAll();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('region', { name: 'Preview' }).waitFor();
  expect(await dialog.getByRole('alert').count()).toBe(0);
});

test('the dialog of a postback shows the errors of the requests for presets and leads, and repeats them', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.leads.insert([workspace.lead(member, { name: 'Ada' })]);
  await page.route(/\/postbacks\/presets$|\/order\/leads\?/, (route) => route.fulfill({ status: 403 }));
  await page.goto(await addPostback(workspace));
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  const lead = dialog.getByRole('combobox', { name: 'Lead', exact: true });
  await expect.poll(() => lead.getAttribute('aria-invalid')).toBe('true');
  await dialog.getByRole('alert').waitFor();
  await page.unrouteAll();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('alert').waitFor({ state: 'detached' });
  await lead.click();
  await expect.poll(() => lead.inputValue()).toBe('Ada, On hold');
  expect(await lead.getAttribute('aria-invalid')).not.toBe('true');
});
