import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { choose, expectFocusOn, press, tabTo, write } from './by-keyboard.ts';
import { lookOf, oneLook } from './look.ts';
import { expectGoodEverywhere, overflowOf } from './page-checks.ts';
import {
  hold,
  type Website,
  type SignedInPage,
  screenshot,
  openWebsite,
  storePayment,
  waitForFrames,
} from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** Adds 10 leads on two days in March 2026 and 2 leads before, of an owner and a publisher. */
async function addLeads({ workspace, member }: SignedInPage) {
  const publisher = member.role === 'publisher' ? member : await workspace.addMember('publisher');
  const lead = (at: string, changes: Parameters<typeof workspace.lead>[1] = {}) => {
    const createdAt = new Date(at);
    return workspace.lead(publisher, { createdAt, source: 'intake', ...changes });
  };
  const { defaultCampaignId: campaignId, owner } = workspace;
  await website.fixture.leads.insert([
    lead('2026-03-10T09:00:00Z', { status: 'Paid', country: 'GB', lpName: 'spring offer', s1: 'click/1' }),
    lead('2026-03-10T10:00:00Z', { status: 'Paid', lpName: 'spring offer', s1: 'click/1' }),
    lead('2026-03-10T11:00:00Z', { status: 'Approved', lpName: 'spring offer' }),
    lead('2026-03-10T23:30:00Z', { status: 'Trashed', lpName: 'quiz' }),
    lead('2026-03-11T08:00:00Z', { status: 'Trashed' }),
    lead('2026-03-11T08:05:00Z'),
    lead('2026-03-11T08:10:00Z', { campaignId }),
    lead('2026-03-11T08:15:00Z', { campaignId, userId: owner.userId }),
    lead('2026-03-11T08:20:00Z', { campaignId, userId: owner.userId, s1: 'click-2' }),
    lead('2026-03-11T08:25:00Z', { campaignId, userId: owner.userId }),
    lead('2026-03-08T08:00:00Z'),
    lead('2026-03-09T08:00:00Z', { status: 'Paid' }),
  ]);
}

test.each([
  [
    'overview',
    '?from=2026-03-10&to=2026-03-11&zone=UTC',
    ['me', 'overview', 'overview/payouts', 'attention', 'failing-endpoints', 'first-steps'],
  ],
  ['leads', '?status=Paid&q=0044&sort=createdAt', ['me', 'order/leads']],
  ['campaigns', '', ['me', 'campaign-figures', 'landing-pages']],
  ['statements', '?from=2026-03-10&to=2026-03-11&zone=UTC', ['me', 'statements', 'payments']],
] as const)(
  'the document of the page %s requests its first data and files before any script has arrived, each once, and nothing moves',
  async (name, search, paths) => {
    const signedIn = await website.openSignedIn();
    const { page, workspace } = signedIn;
    await addLeads(signedIn);
    await page.addInitScript(`
      globalThis.shift = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) shift += value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).pathname));
    const isPageScript = new RegExp(`/assets/${name}-page-`);
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/assets/*.js', async (route) => {
      await released;
      await route.continue();
    });
    // Neither is requested later than the scripts, which are held.
    const sent = [
      ...paths.map((path) =>
        page.waitForResponse((response) => new URL(response.url()).pathname === `/api/console/${path}`),
      ),
      page.waitForRequest((request) => isPageScript.test(request.url())),
    ];
    await page.goto(`/w/${workspace.slug}/${name}${search}`, { waitUntil: 'commit' });
    await Promise.all(sent);
    await page.locator('.first header').getByText('Leads').waitFor();
    release?.();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('[role="grid"], dd, td').first().waitFor();
    for (const path of paths.filter((each) => !/leads|steps|landing/.test(each))) {
      expect([path, requested.filter((each) => each === `/api/console/${path}`).length]).toEqual([path, 1]);
    }
    // The page has used each response.
    await expect.poll(() => page.evaluate('[...firstResponses.keys()]')).toEqual([]);
    expect(await page.evaluate('shift')).toBeLessThanOrEqual(0.02);
  },
);

const twoDays = '/overview?from=2026-03-10&to=2026-03-11&zone=UTC';

/** Moves the start of the next Tab to the heading, because the tables below have many links and buttons. */
const toTheTop = (page: Page) => page.getByRole('heading', { level: 1 }).click();

const rowsOf = (page: Page, section: string) =>
  page
    .getByRole('region', { name: section })
    .getByRole('row')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent)),
    );
const figuresOf = (page: Page, region = 'Totals') =>
  page
    .getByRole('region', { name: region })
    .locator('dl')
    .evaluateAll((lists) =>
      Object.fromEntries(
        lists.map((list) => [
          list.querySelector('dt')?.textContent,
          [...list.querySelectorAll('dd')].map((each) => each.textContent),
        ]),
      ),
    );

describe('the overview', () => {
  test('shows the figures of the range, with links to the leads', async () => {
    const signedIn = await website.openSignedIn();
    const { page } = signedIn;
    await addLeads(signedIn);
    await page.goto(twoDays);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(await page.title()).toContain('Overview');
    const chart = page.getByRole('figure', { name: /^Leads by hour/ });
    await chart.locator('svg').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    // The chart explains itself: it has labeled axes and a legend for the colors.
    const labels = ['Hour', 'Leads', '10 Mar, 00:00', '0', '2', '4', '6', '8'];
    await expect
      .poll(() => chart.locator('svg text').allTextContents())
      .toEqual(expect.arrayContaining(labels));
    const legend = (await chart.locator('.recharts-legend-wrapper').innerText()).split(/\s*\n\s*/);
    expect(legend).toEqual(['On hold', 'Approved', 'Paid', 'Trashed']);

    expect(await figuresOf(page)).toEqual({
      Leads: ['10', '+400%'],
      'On hold': ['5', '+400%'],
      Approved: ['1', 'none before'],
      Paid: ['2', '+100%'],
      Trashed: ['2', 'none before'],
      'Approve rate': ['30%', '-20 points'],
      'Approve rate without trash': ['37.5%', '-12.5 points'],
    });
    expect((await rowsOf(page, 'By campaign')).slice(1)).toEqual([
      ['DEMO', '6', '50%', '60%', '1', '2', '2'],
      [expect.any(String), '4', '0%', '40%', '0', '0', '0'],
    ]);
    expect((await rowsOf(page, 'By landing page')).slice(1)).toEqual([
      ['spring offer', '3', '100%', '30%', '1', '2', '0'],
      ['quiz', '1', '0%', '10%', '0', '0', '1'],
    ]);
    expect((await rowsOf(page, 'By publisher')).slice(1).map((row) => row.slice(1))).toEqual([
      ['7', '42.9%', '70%', '1', '2', '2'],
      ['3', '0%', '30%', '0', '0', '0'],
    ]);
    await page.getByRole('link', { name: 'GB' }).waitFor();
    expect((await rowsOf(page, 'By country')).slice(1).map((row) => row.slice(0, 3))).toEqual([
      ['GB', '1', '100%'],
    ]);
    expect((await rowsOf(page, 'By hour of the day')).slice(1).map((row) => row.slice(0, 2))).toEqual([
      ['08:00', '6'],
      ['09:00', '1'],
      ['10:00', '1'],
      ['11:00', '1'],
      ['23:00', '1'],
    ]);
    expect((await rowsOf(page, 'By sub-id (s1)')).slice(1).map((row) => row.slice(0, 2))).toEqual([
      ['click/1', '2'],
      ['click-2', '1'],
    ]);

    await tabTo(page, 'Chart');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('radio', { name: 'Table', checked: true }).waitFor({ state: 'attached' });
    await chart.waitFor({ state: 'detached' });
    expect(await findViolations(page)).toEqual([]);
    const steps = await rowsOf(page, 'Leads by hour');
    expect(steps).toHaveLength(1 + 48);
    expect(steps.find(([name]) => name?.includes('11 Mar') && name.includes('08:00'))?.slice(1)).toEqual([
      '5',
      '0',
      '0',
      '1',
    ]);

    const span = 'createdFrom=2026-03-10T00%3A00%3A00.000Z&createdTo=2026-03-12T00%3A00%3A00.000Z';
    const hrefs = await page
      .locator('main a[href*="/leads?"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')?.replace(/^\/w\/[^/]+/, '')));
    expect(hrefs).toContain(`/leads?campaignCode=DEMO&${span}`);
    expect(hrefs).toContain(`/leads?lpName=spring+offer&${span}`);
    expect(hrefs).toContain(`/leads?country=GB&${span}`);
    expect(hrefs).toContain(`/leads?user=${signedIn.workspace.owner.userId}&${span}`);
    expect(hrefs).toContain(`/leads?s1=click%2F1&${span}`);
    expect(hrefs).toContain(`/leads?status=Paid&${span}`);

    // A column header sorts its table. The file has the shown counts.
    const byTrash = page
      .getByRole('region', { name: 'By landing page' })
      .getByRole('button', { name: 'Trashed' });
    await byTrash.click();
    expect((await rowsOf(page, 'By landing page')).slice(1).map(([name]) => name)).toEqual([
      'quiz',
      'spring offer',
    ]);
    await byTrash.click();
    expect((await rowsOf(page, 'By landing page')).slice(1).map(([name]) => name)).toEqual([
      'spring offer',
      'quiz',
    ]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('overview-2026-03-10-2026-03-11.csv');
    const lines = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(lines[0]).toBe('Table,Row,Leads,On hold,Approved,Paid,Trashed');
    expect(lines).toContain('By landing page,spring offer,3,0,1,2,0');
    expect(lines).toContain('By hour of the day,08:00,6,5,0,0,1');

    await page.getByRole('link', { name: 'spring offer' }).click();
    await page.waitForURL('**/leads?*');
  });

  test('links an hour of a day to its leads, whose filters name the hour', async () => {
    const signedIn = await website.openSignedIn();
    const { page } = signedIn;
    await addLeads(signedIn);
    const chips = page.getByRole('list', { name: 'Applied filters' });
    for (const [link, from, to] of [
      ['09:00', '10 Mar 2026, 09:00:00', '10 Mar 2026, 10:00:00'],
      ['GB', '10 Mar 2026', '10 Mar 2026'],
    ] as const) {
      await page.goto('/overview?from=2026-03-10&to=2026-03-10&zone=UTC');
      await page.getByRole('link', { name: link, exact: true }).click();
      await page.getByText('1 lead', { exact: true }).waitFor();
      await expect
        .poll(() => chips.getByRole('button').allTextContents())
        .toEqual(expect.arrayContaining([`Created from: ${from}`, `Created until: ${to}`]));
    }
  });

  test('compares with chosen days, and shows by color and arrow whether a change is good', async () => {
    const signedIn = await website.openSignedIn();
    const { page } = signedIn;
    await addLeads(signedIn);
    await page.goto('/overview?from=2026-03-11&to=2026-03-11&zone=UTC');
    await choose(page, 'Compare with', 'From … to');
    await page.getByLabel('Compare from').fill('2026-03-10');
    await page.getByText('The compared range has 2 days and this range has 1 day').waitFor();
    await page.getByLabel('Compare to').fill('2026-03-10');
    await page.waitForURL(/compareFrom=2026-03-10&compareTo=2026-03-10/);
    await expect.poll(async () => (await figuresOf(page))['Leads']).toEqual(['6', '+50%']);
    expect(await figuresOf(page)).toMatchObject({
      Paid: ['0', '-100%'],
      Trashed: ['1', '0%'],
      'Approve rate': ['0%', '-75 points'],
    });
    const meaningOf = (text: string) =>
      page
        .getByRole('region', { name: 'Totals' })
        .getByText(text, { exact: true })
        .first()
        .getAttribute('data-meaning');
    expect([await meaningOf('+50%'), await meaningOf('-100%'), await meaningOf('0%')]).toEqual([
      'better',
      'worse',
      'neutral',
    ]);
    await page.getByText('The changes compare this range with 10 Mar 2026.', { exact: true }).waitFor();
    await expectGoodEverywhere(page, 'overview-compare');
    await choose(page, 'Compare with', 'The days before');
    await page.waitForURL((url) => !url.search.includes('compareFrom'));
    await page.getByText('The changes compare this range with the day before.').waitFor();
  });

  test('lists first what needs attention, each with a link to where it is mended', async () => {
    const signedIn = await website.openSignedIn();
    const { page, workspace, member } = signedIn;
    await page.goto('/overview');
    await page.getByText('No leads in this range').waitFor();
    const attention = page.getByRole('region', { name: 'Needs attention' });
    expect(await attention.count()).toBe(0);

    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000 - 60_000);
    await website.fixture.leads.insert([
      workspace.lead(member, { createdAt: daysAgo(3) }),
      workspace.lead(member, { createdAt: daysAgo(1) }),
    ]);
    for (const [name, dueDays, assigneeId] of [
      ['Ada', 2, member.userId],
      ['Grace', 1, null],
      ['Later', -1, member.userId],
    ] as const) {
      const lead = workspace.lead(member, { name, status: 'Approved' });
      await website.fixture.leads.insert([lead]);
      await website.fixture.sql(`UPDATE lead SET callback_at = $2, assignee_id = $3 WHERE id = $1`, [
        lead.id,
        daysAgo(dueDays),
        assigneeId,
      ]);
    }
    await workspace.mapLandingPage('quiz', null);
    await website.fixture.sql(
      `UPDATE api_key SET created_at = '2026-01-01', expires_at = $2, last_used_at = now() WHERE id = $1`,
      [member.apiKeyId, daysAgo(-2)],
    );
    await website.fixture.sql(
      `INSERT INTO delivery_endpoint (id, workspace_id, url, event_types, statuses, campaign_ids, secret, disabled_at, disabled_reason)
       VALUES (gen_random_uuid(), $1, 'https://crm.example.com/hook', '{lead.created}', '{}', '{}', 'x', $2, 'failing')`,
      [workspace.id, daysAgo(1)],
    );
    const otherKey = async (expiresAt: Date, status: number) => {
      const { apiKeyId, userId } = await workspace.addMember('manager');
      await website.fixture.sql(`UPDATE "user" SET name = $2 WHERE id = $1`, [userId, `User ${status}`]);
      await website.fixture.sql(
        `UPDATE api_key SET name = 'Shop', created_at = '2026-01-01', expires_at = $2, last_used_at = now() WHERE id = $1`,
        [apiKeyId, expiresAt],
      );
      await website.fixture.sql(
        `INSERT INTO api_request (api_key_id, at, id, workspace_id, service, method, route, status, duration_ms)
         SELECT $1, now() - each * interval '1 minute', gen_random_uuid(), $2, 'intake', 'POST', '/api/v1/leads', $3, 1
         FROM generate_series(5, 6) AS each`,
        [apiKeyId, workspace.id, status],
      );
    };
    await otherKey(daysAgo(-60), 429);
    await otherKey(daysAgo(60), 401);
    await otherKey(daysAgo(1), 200);
    await page.reload();
    const texts = () => attention.getByRole('listitem').allInnerTexts();
    await expect
      .poll(async () => (await texts()).map((text) => text.replaceAll(/\s+/g, ' ')))
      .toEqual([
        '2 leads are on hold. The oldest arrived 3 days ago. Review them',
        '2 call-backs are due, 1 of leads assigned to you. The earliest was due 2 days ago. Call yours See all of them',
        '1 landing page has no campaign. Choose the campaign',
        'Webhook crm.example.com was disabled 1 day ago. See its deliveries',
        'API key Shop of User 200 expired 1 day ago. Replace it',
        expect.stringMatching(/^Your API key .* expires in 2 days\. Replace it$/),
        'API key Shop of User 401 has expired and is still used: 2 requests were rejected, the last 5 minutes ago. Create a new key for its client. See its requests',
        'API key Shop of User 429 sends too fast: a rate limit rejected 2 requests, the last 5 minutes ago. See its requests',
      ]);
    await expectGoodEverywhere(page, 'overview-attention');
    const mended = async (link: string, address: RegExp, of = attention) => {
      await of.getByRole('link', { name: link }).click();
      await page.waitForURL(address);
      await page.goto('/overview');
    };
    await mended('Choose the campaign', /\/campaigns#landing-pages$/);
    await mended('See its deliveries', /\/webhooks\//);
    const item = (text: string) => attention.getByRole('listitem').filter({ hasText: text });
    await mended('Replace it', /\/developers$/, item('expires in 2 days'));
    await mended('See its requests', /\/developers\?tab=requests&key=/, item('User 401'));
    await mended('See its requests', /\/developers\?tab=requests&key=/, item('User 429'));
    await mended('Review them', /\/leads\?.*status=OnHold/);

    // The link opens the view of the due call-backs, which is also in the menu of the views.
    const names = () => page.getByRole('grid').getByRole('link').allInnerTexts();
    await attention.getByRole('link', { name: 'Call yours' }).click();
    await page.getByRole('button', { name: 'Views: My call-backs due' }).click();
    await expect.poll(names).toEqual(['Ada']);
    const group = page.getByRole('group', { name: 'Built-in views' });
    await group
      .getByRole('menuitem', { name: 'My call-backs due' })
      .and(page.locator('[aria-current]'))
      .waitFor();
    expect(await page.getByRole('menuitem', { name: /^Rename/ }).count()).toBe(0);
    await group.getByRole('menuitem', { name: 'Call-backs due', exact: true }).click();
    await expect.poll(names).toEqual(['Ada', 'Grace']);
    expect(await page.getByRole('columnheader', { name: 'Call-back' }).getAttribute('aria-sort')).toBe(
      'ascending',
    );
    expect(await page.title()).toMatch(/^Call-backs due - Leads/);
    await expectGoodEverywhere(page, 'leads-callbacks-due');
    await page.goto('/overview');
    await attention.getByRole('link', { name: 'See all of them' }).click();
    await page.getByRole('button', { name: 'Views: Call-backs due' }).waitFor();
    await expect.poll(names).toEqual(['Ada', 'Grace']);
  });

  test('groups the digits of the number of landing pages that need attention', async () => {
    const { page, workspace } = await website.openSignedIn();
    await website.fixture.sql(
      `INSERT INTO landing_page (id, workspace_id, name, updated_at)
       SELECT gen_random_uuid(), $1, 'page-' || n, now() FROM generate_series(1, 1000) n`,
      [workspace.id],
    );
    await page.goto('/overview');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await expect
      .poll(() => attention.getByRole('listitem').allInnerTexts())
      .toEqual([expect.stringContaining('1,000 landing pages have no campaign.')]);
  });

  test('compares a range that ends today with the same span before', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    // A zone where it is between 11:30 and 12:30, so that it is not 13:00 before the end of the test. The signs of these
    // zones are reversed.
    const hours = new Date(Date.now() + 1_800_000).getUTCHours() - 12;
    const zone = `Etc/GMT${hours < 0 ? '' : '+'}${hours}`;
    const hourMs = 3_600_000;
    const created = [0, 23, 25, 7 * 24 - 1, 7 * 24 + 1].map((hoursAgo) =>
      workspace.lead(member, { createdAt: new Date(Date.now() - hoursAgo * hourMs - 1_000) }),
    );
    await website.fixture.leads.insert(created);
    await page.goto(`/overview?range=today&zone=${encodeURIComponent(zone)}`);
    await page.getByRole('region', { name: 'Totals' }).waitFor();
    expect((await figuresOf(page))['Leads']).toEqual(['1', '0%']);
    await page.getByText(/^The changes compare this range with the day before until 1[12]:\d\d\.$/).waitFor();
    await page.goto(`/overview?range=7d&zone=${encodeURIComponent(zone)}`);
    await page.getByRole('region', { name: 'Totals' }).waitFor();
    expect((await figuresOf(page))['Leads']).toEqual(['3', '+200%']);
    await page.getByText(/ with \d+ \w+, 00:00 to \d+ \w+, 1[12]:\d\d\.$/).waitFor();
    await screenshot(page, 'overview-today');
  });

  test('keeps range and time zone in the address, and counts days in the time zone', async () => {
    const signedIn = await website.openSignedIn();
    const { page } = signedIn;
    await addLeads(signedIn);
    await page.goto('/overview');
    await page.getByRole('combobox', { name: 'Range' }).click();
    await page.getByRole('option', { name: 'Last 12 months' }).click();
    await page.waitForURL('**/overview?range=12m');
    await page.getByRole('heading', { name: 'Leads by week' }).waitFor();
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Kolkata');
    await page.getByRole('option', { name: 'Asia/Kolkata' }).click();
    await page.waitForURL(/zone=Asia/);

    // 23:30 in UTC is the next day in Berlin.
    await page.goto('/overview?from=2026-03-11&to=2026-03-11&zone=Europe%2FBerlin');
    await page.getByRole('region', { name: 'By landing page' }).getByText('quiz').waitFor();
    expect((await figuresOf(page))['Leads']?.[0]).toBe('7');
    await tabTo(page, 'From');
    await page.keyboard.type('03092026');
    await page.waitForURL(/from=2026-03-09/);
    await page.getByText('Leads by day').waitFor();
    await expectFocusOn(page, 'From');
    await tabTo(page, 'To');
    await page.keyboard.type('03122026');
    await page.waitForURL(/to=2026-03-12/);
    await expectFocusOn(page, 'To');
    // A year of 5 digits is no day of the address, which would then lose the range.
    await page.keyboard.type('5');
    await waitForFrames(page);
    await expectFocusOn(page, 'To');
    await page.reload();
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-03-09');
    await page.getByText('Leads by day').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2026-03-01');
    await page.getByText('Must not be before the first day').waitFor();
    await toTheTop(page);
    await choose(page, 'Range', 'This month');
    await page.waitForURL(/range=this-month/);
    await toTheTop(page);
    await choose(page, 'Range', 'From … to');
    await page.waitForURL(/from=/);
    await tabTo(page, 'From');
    // An unknown time zone is dropped. The page shows the days of the browser's time zone.
    await page.goto('/overview?range=7d&zone=Nowhere%2FLand');
    await page.waitForURL((url) => url.search === '?range=7d');
    await page.getByText('No leads in this range').waitFor();
    expect(await page.getByRole('combobox', { name: 'Range' }).inputValue()).toBe('Last 7 days');
  });

  test('saves no figures of the former days while those of other days load', async () => {
    const signedIn = await website.openSignedIn();
    const { page } = signedIn;
    await addLeads(signedIn);
    const saved: string[] = [];
    page.on('download', (file) => saved.push(file.suggestedFilename()));
    await page.goto(twoDays);
    const save = page.getByRole('button', { name: 'Download as CSV' });
    await save.waitFor();
    const otherDays = await hold(page, /console\/overview\?.*to=2026-03-12/);
    await page.getByLabel('To', { exact: true }).fill('2026-03-12');
    await page.getByRole('main').locator('[aria-busy="true"]').waitFor();
    await save.press('Enter');
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    otherDays.release();
    await page.getByRole('main').locator('[aria-busy="true"]').waitFor({ state: 'detached' });
    await expectFocusOn(page, 'Download as CSV');
    const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect(saved).toEqual([file.suggestedFilename()]);
    expect(saved).toEqual(['overview-2026-03-10-2026-03-12.csv']);
  });

  test('shows the approve rates of the breakdowns on tablets and phones without scrolling', async () => {
    const signedIn = await website.openSignedIn({ width: 768 });
    const { page } = signedIn;
    await addLeads(signedIn);
    await page.goto(twoDays);
    for (const width of [768, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const name of ['By campaign', 'By landing page', 'By sub-id (s1)']) {
        const region = page.getByRole('region', { name });
        const column = await region.getByRole('columnheader', { name: 'Approve rate' }).boundingBox();
        const visible = await region.getByRole('group', { name }).boundingBox();
        const hiddenBy = (column?.x ?? 0) + (column?.width ?? 0) - (visible?.x ?? 0) - (visible?.width ?? 0);
        expect([width, name, hiddenBy <= 0]).toEqual([width, name, true]);
      }
    }
  });

  test('shows payouts by currency after the counts, in the tables, the chart and the file, and first to a publisher', async () => {
    const { page, workspace } = await website.openSignedIn({ role: 'manager' });
    const { page: publisherPage, member } = await website.openSignedIn({ workspace, role: 'publisher' });
    const extra = await workspace.addCampaign('EXTRA');
    await website.fixture.sql(
      `UPDATE campaign SET payout_amount = CASE WHEN id = $1 THEN 0.1 ELSE 12345678.0001 END,
         payout_currency = CASE WHEN id = $1 THEN 'EUR' ELSE 'USD' END
       WHERE id IN ($1, $2)`,
      [extra, workspace.demoCampaignId],
    );
    const lead = (status: 'OnHold' | 'Approved', changes: Parameters<typeof workspace.lead>[1] = {}) =>
      workspace.lead(member, { status, createdAt: new Date('2026-03-10T09:00:00Z'), ...changes });
    await website.fixture.leads.insert([
      lead('Approved', { campaignId: extra, s1: 'click/1' }),
      lead('OnHold', { campaignId: extra, s1: 'click/1' }),
      lead('OnHold', { campaignId: extra, createdAt: new Date('2026-03-12T09:00:00Z') }),
      lead('Approved', { s1: 'click/2' }),
      lead('Approved', { userId: workspace.owner.userId }),
      lead('Approved', { campaignId: extra, createdAt: new Date('2026-03-08T09:00:00Z') }),
    ]);
    const days = '/overview?from=2026-03-10&to=2026-03-12&zone=UTC';
    await page.goto(days);
    await page.getByRole('region', { name: 'Payouts', exact: true }).waitFor();
    expect(await figuresOf(page, 'Payouts')).toEqual({
      'Expected (EUR)': ['€0.20', 'none before'],
      'Payable (EUR)': ['€0.10', '0%'],
      'Paid (EUR)': ['€0.00', 'none before'],
      'Expected (USD)': ['$0.00', 'none before'],
      'Payable (USD)': ['$24,691,356.0002', 'none before'],
      'Paid (USD)': ['$0.00', 'none before'],
    });
    const sections = (of: Page) =>
      of
        .locator('main')
        .getByRole('region')
        .evaluateAll((regions) => regions.map((region) => region.getAttribute('aria-label')))
        .then((names) => names.filter((name) => name !== 'Welcome. Your first steps').slice(0, 3));
    expect(await sections(page)).toEqual(['Needs attention', 'Totals', 'Payouts']);
    const amounts = (rows: (string | null)[][]) => rows.map((row) => [row[0], ...row.slice(7)]);
    const heads = [
      'Expected (EUR)',
      'Payable (EUR)',
      'Paid (EUR)',
      'Expected (USD)',
      'Payable (USD)',
      'Paid (USD)',
    ];
    const none = '$0.00';
    expect(amounts(await rowsOf(page, 'By campaign'))).toEqual([
      ['Campaign', ...heads],
      ['EXTRA', '€0.20', '€0.10', '€0.00', none, none, none],
      ['DEMO', '€0.00', '€0.00', '€0.00', none, '$24,691,356.0002', none],
    ]);
    await expect
      .poll(async () => amounts(await rowsOf(page, 'By publisher')).map((row) => row.slice(1)))
      .toEqual([
        heads,
        ['€0.20', '€0.10', '€0.00', none, '$12,345,678.0001', none],
        ['€0.00', '€0.00', '€0.00', none, '$12,345,678.0001', none],
      ]);
    const subIds = async () => amounts((await rowsOf(page, 'By sub-id (s1)')).slice(1));
    await expect.poll(subIds).toEqual([
      ['click/1', '€0.10', '€0.10', '€0.00', none, none, none],
      ['click/2', '€0.00', '€0.00', '€0.00', none, '$12,345,678.0001', none],
    ]);
    const byDollars = page
      .getByRole('region', { name: 'By sub-id (s1)' })
      .getByRole('button', { name: 'Payable (USD)' });
    await byDollars.press('Enter');
    expect((await subIds()).map(([name]) => name)).toEqual(['click/2', 'click/1']);
    await toTheTop(page);
    await choose(page, 'Figures by time', 'Payouts in EUR');
    const chart = page.getByRole('figure', { name: /^Payouts by day/ });
    await expect.poll(() => chart.locator('svg text').allTextContents()).toContain('€0.20');
    await expectGoodEverywhere(page, 'overview-payouts');
    expect(await lookOf(page)).toEqual(oneLook);
    await tabTo(page, 'Chart');
    await page.keyboard.press('ArrowRight');
    await chart.waitFor({ state: 'detached' });
    expect(await rowsOf(page, 'Payouts by day')).toEqual([
      ['Day', 'Expected', 'Payable', 'Paid'],
      ['10 Mar', '€0.10', '€0.10', '€0.00'],
      ['11 Mar', '€0.00', '€0.00', '€0.00'],
      ['12 Mar', '€0.10', '€0.00', '€0.00'],
    ]);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ]);
    const lines = (await readFile(await file.path(), 'utf8')).split('\r\n');
    expect(lines[0]).toBe(`Table,Row,Leads,On hold,Approved,Paid,Trashed,${heads.join()}`);
    expect(lines[1]).toMatch(/,0.2,0.1,0,0,24691356.0002,0$/);
    expect(lines[2]).toMatch(/,0,0.1,0,0,0,0$/);
    expect(lines).toContain('By campaign,DEMO,2,0,2,0,0,0,0,0,0,24691356.0002,0');
    expect(lines).toContain('By sub-id (s1),click/1,2,1,1,0,0,0.1,0.1,0,0,0,0');
    expect(lines).toContain('Leads by day,12 Mar,1,1,0,0,0,0.1,0,0,0,0,0');
    expect(lines.find((line) => line.startsWith('By hour'))).toMatch(/,,,,,,$/);

    await publisherPage.goto(days);
    await publisherPage.getByRole('region', { name: 'Payouts', exact: true }).waitFor();
    expect((await figuresOf(publisherPage, 'Payouts'))['Payable (USD)']?.[0]).toBe('$12,345,678.0001');
    expect(await sections(publisherPage)).toEqual(['Payouts', 'Totals', 'Payouts by day']);
    expect((await rowsOf(publisherPage, 'By campaign'))[0]?.slice(0, 8)).toEqual([
      'Campaign',
      ...heads,
      'Leads',
    ]);
    await publisherPage.getByRole('figure').locator('svg').first().waitFor();
    await expectGoodEverywhere(publisherPage, 'overview-earnings');

    // The counts do not depend on the payouts.
    await page.route('**/api/console/overview/payouts?*', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'The payouts could not be added up' }).waitFor();
    expect((await figuresOf(page))['Leads']?.[0]).toBe('5');
  });

  test('counts leads that arrive while the page is open', async () => {
    const signedIn = await website.openSignedIn();
    const { page, workspace, member } = signedIn;
    await addLeads(signedIn);
    await page.clock.install();
    await page.goto(twoDays);
    const leads = async () => (await figuresOf(page))['Leads']?.[0];
    await expect.poll(leads).toBe('10');
    const createdAt = new Date('2026-03-11T09:00:00Z');
    await website.fixture.leads.insert([workspace.lead(member, { createdAt })]);
    await page.clock.fastForward(31_000);
    await expect.poll(leads).toBe('11');
  });

  test('shows an empty state if there are no leads', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/overview');
    await page.getByText('No leads in this range').waitFor();
    expect((await figuresOf(page))['Approve rate']).toEqual(['–']);
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'overview-empty');
    await page.getByRole('link', { name: 'Get an API key' }).click();
    await page.getByRole('button', { name: 'Create an API key' }).waitFor();
  });

  test('shows a publisher only its own leads, on a phone in dark mode', async () => {
    const signedIn = await website.openSignedIn({ role: 'publisher', width: 390, colorScheme: 'dark' });
    const { page } = signedIn;
    await addLeads(signedIn);
    await page.goto(twoDays);
    await page.getByRole('region', { name: 'By campaign' }).waitFor();
    expect((await figuresOf(page))['Leads']?.[0]).toBe('7');
    expect((await rowsOf(page, 'By campaign')).slice(1).map((row) => row[1])).toEqual(['6', '1']);
    await page.getByRole('figure').locator('svg').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
    await screenshot(page, 'overview-390-dark');
  });

  test.each(['light', 'dark'] as const)('has no accessibility violations in %s mode', async (colorScheme) => {
    const signedIn = await website.openSignedIn({ colorScheme });
    await addLeads(signedIn);
    await signedIn.page.goto('/overview?from=2026-02-20&to=2026-03-20&zone=UTC');
    await signedIn.page.getByRole('figure').locator('svg').first().waitFor();
    expect(await findViolations(signedIn.page)).toEqual([]);
    await screenshot(signedIn.page, `overview-1440-${colorScheme}`);
  });
});

test('statements show exact amounts by campaign, status and currency, and a publisher sees its own', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  const { page: publisherPage, member } = await website.openSignedIn({ workspace, role: 'publisher' });
  const extra = await workspace.addCampaign('EXTRA');
  await website.fixture.sql(
    `UPDATE campaign SET payout_amount = CASE WHEN id = $1 THEN 0.1 ELSE 12345678.0001 END,
       payout_currency = CASE WHEN id = $1 THEN 'EUR' ELSE 'USD' END
     WHERE id IN ($1, $2)`,
    [extra, workspace.demoCampaignId],
  );
  const lead = (
    status: 'OnHold' | 'Approved' | 'Trashed',
    changes: Parameters<typeof workspace.lead>[1] = {},
  ) => workspace.lead(member, { status, createdAt: new Date('2026-03-10T09:00:00Z'), ...changes });
  const paid = lead('Approved', { campaignId: extra });
  await website.fixture.leads.insert([
    paid,
    lead('OnHold', { campaignId: extra }),
    lead('Approved'),
    lead('Approved'),
    lead('Trashed'),
    lead('OnHold', { userId: workspace.owner.userId }),
    lead('Approved', { createdAt: new Date('2026-03-12T00:00:00Z') }),
  ]);
  await website.fixture.sql(`UPDATE lead SET status = 'Paid' WHERE id = $1`, [paid.id]);
  const [{ email } = { email: '' }] = await website.fixture.sql<{ email: string }>(
    'SELECT email FROM "user" WHERE id = $1',
    [member.userId],
  );
  const totals = (...ofUsd: string[]) => [
    ['Currency', 'Expected', 'Payable', 'Paid'],
    ['EUR', '€0.10', '–', '€0.10'],
    ['USD', ...ofUsd],
  ];
  const own = totals('–', '$24,691,356.0002', '–');
  const items = [
    ['Campaign', 'Status', 'Currency', 'Leads', 'Amount'],
    ['DEMO', 'Approved', 'USD', '2', '$24,691,356.0002'],
    ['DEMO', 'Trashed', 'No payout', '1', '–'],
    ['EXTRA', 'On hold', 'EUR', '1', '€0.10'],
    ['EXTRA', 'Paid', 'EUR', '1', '€0.10'],
  ];
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Statements' }).click();
  await page.getByText('No leads in these days').waitFor();
  const days = '/statements?from=2026-03-10&to=2026-03-11&zone=UTC';
  await page.goto(days);
  await page.getByRole('region', { name: 'Test Person' }).waitFor();
  expect(await rowsOf(page, 'Totals')).toEqual(totals('$12,345,678.0001', '$24,691,356.0002', '–'));
  await page.getByRole('combobox', { name: 'Publisher' }).click();
  await page.getByRole('option', { name: `Test Person (${email})` }).click();
  await expect.poll(() => rowsOf(page, 'Totals')).toEqual(own);
  expect(await rowsOf(page, 'Test Person')).toEqual(items);
  await expectGoodEverywhere(page, 'statements');
  // A phone shows every amount without scrolling.
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [name, count] of [
    ['Totals', 3],
    ['Test Person', 1],
  ] as const) {
    const amounts = page.getByRole('list', { name, exact: true }).getByText(/^[€$][\d,.]+$/);
    await expect.poll(() => amounts.count()).toBeGreaterThanOrEqual(count);
    for (const amount of await amounts.all()) {
      const box = await amount.boundingBox();
      expect([await amount.innerText(), box !== null && box.x >= 0 && box.x + box.width <= 390]).toEqual([
        await amount.innerText(),
        true,
      ]);
    }
  }
  if (size !== null) await page.setViewportSize(size);
  await page.getByRole('table').first().waitFor();
  expect(await lookOf(page)).toEqual(oneLook);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('statement-2026-03-10-2026-03-11.csv');
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
  expect(lines).toHaveLength(items.length);
  expect(lines.join()).toContain('DEMO,Approved,USD,2,24691356.0002');

  await publisherPage.goto(`${days}&user=${workspace.owner.userId}`);
  await expect.poll(() => rowsOf(publisherPage, 'Totals')).toEqual(own);
  expect(await rowsOf(publisherPage, 'Test Person')).toEqual(items);
  expect(await publisherPage.getByRole('combobox', { name: 'Publisher' }).count()).toBe(0);
});

test('while the statement of another campaign loads, no button pays the amount of the former one, and a file has the name of its days', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  const publisher = await workspace.addMember('publisher');
  const extra = await workspace.addCampaign('EXTRA');
  await website.fixture.sql(
    `UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR' WHERE id IN ($1, $2)`,
    [extra, workspace.demoCampaignId],
  );
  const lead = (changes: Parameters<typeof workspace.lead>[1] = {}) =>
    workspace.lead(publisher, {
      status: 'Approved',
      createdAt: new Date('2026-03-10T09:00:00Z'),
      ...changes,
    });
  await website.fixture.leads.insert([lead(), lead({ campaignId: extra })]);
  await page.goto('/statements?from=2026-03-10&to=2026-03-11&zone=UTC');
  const pay = (amount: string) => page.getByRole('button', { name: `Mark ${amount} as paid` });
  const dialog = page.getByRole('dialog');
  // From now on, the code of the dialog is loaded.
  await pay('€25.00').click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });

  const ofDemo = await hold(page, /console\/statements\?.*campaignCode=DEMO/);
  await page.getByRole('combobox', { name: 'Campaign' }).click();
  await page.getByRole('option', { name: 'DEMO' }).click();
  await page.waitForURL(/campaignCode=DEMO/);
  await pay('€25.00').press('Enter');
  expect(await dialog.count()).toBe(0);
  expect(await pay('€25.00').getAttribute('aria-disabled')).toBe('true');
  ofDemo.release();
  await pay('€12.50').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Mark €12.50 as paid?' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  const file = await hold(page, /console\/statements\?.*to=2026-03-11/);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as CSV' }).click();
  await page.getByLabel('To', { exact: true }).fill('2026-03-12');
  await page.waitForURL(/to=2026-03-12/);
  await pay('€12.50').and(page.locator(':not([aria-disabled="true"])')).waitFor();
  file.release();
  expect((await download).suggestedFilename()).toBe('statement-2026-03-10-2026-03-11.csv');
});

test('a payment that is created after the user has left its dialog is not opened', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  await website.fixture.sql(
    `UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR' WHERE id = $1`,
    [workspace.demoCampaignId],
  );
  await website.fixture.leads.insert([
    workspace.lead(workspace.owner, { status: 'Approved', createdAt: new Date('2026-03-10T09:00:00Z') }),
  ]);
  await page.goto('/statements?from=2026-03-10&to=2026-03-11&zone=UTC');
  await page.getByRole('button', { name: 'Mark €12.50 as paid' }).click();
  const dialog = page.getByRole('dialog', { name: 'Mark €12.50 as paid?' });
  const created = await hold(page, /console\/payments$/, 'POST');
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await dialog.getByRole('button', { name: 'Mark as paid' }).click();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  created.release();
  await (await answered).finished();
  await waitForFrames(page);
  expect(page.url()).toMatch(/\/statements\?/);
});

test('a payment is not canceled with a reason that is too long, and nothing of the reason is cut off', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const id = await storePayment(website, { workspace, member });
  await page.goto(`/payments/${id}`);
  await page.getByRole('button', { name: 'Cancel payment' }).click();
  const reason = page.getByRole('dialog').getByLabel('Reason');
  await reason.focus();
  await page.keyboard.insertText('x'.repeat(901));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Must have at most 900 characters').waitFor();
  expect(await reason.inputValue()).toHaveLength(901);
});

test('the file of a payment with many leads is saved, however long it takes', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const id = await storePayment(website, { workspace, member });
  await page.clock.install();
  await page.goto(`/payments/${id}`);
  const download = page.getByRole('button', { name: 'Download as CSV' });
  await download.waitFor();
  const file = await hold(page, /\/console\/payments\//);
  const asked = page.waitForRequest(
    (request) => request.headers()['accept']?.startsWith('text/csv') === true,
  );
  await download.click();
  await asked;
  await page.clock.fastForward(60_000);
  const saved = page.waitForEvent('download');
  file.release();
  expect((await saved).suggestedFilename()).toBe('payment-1.csv');
});

test('a manager marks payable leads of a campaign as paid, the payment shows its progress and result, an owner cancels it, and only its publisher reads it', async () => {
  const { page, workspace, member: manager } = await website.openSignedIn({ role: 'manager' });
  const { page: publisherPage, member } = await website.openSignedIn({ workspace, role: 'publisher' });
  const { fixture } = website;
  const extra = await workspace.addCampaign('EXTRA');
  await fixture.sql(
    `UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR' WHERE id IN ($1, $2)`,
    [extra, workspace.demoCampaignId],
  );
  const lead = (changes: Parameters<typeof workspace.lead>[1] = {}) =>
    workspace.lead(member, { status: 'Approved', createdAt: new Date('2026-03-10T09:00:00Z'), ...changes });
  const ofDemo = [lead(), lead(), lead()];
  const ofExtra = [lead({ campaignId: extra }), lead({ campaignId: extra })] as const;
  await fixture.leads.insert([...ofDemo, ...ofExtra]);
  const setStatus = (status: string, ids: readonly string[]) =>
    fixture.sql('UPDATE lead SET status = $1::lead_status WHERE id = ANY($2)', [status, ids]);
  const demoIds = ofDemo.map(({ id }) => id);

  const days = '/statements?from=2026-03-10&to=2026-03-11&zone=UTC';
  await page.goto(days);
  await page.getByRole('button', { name: 'Mark €62.50 as paid: Test Person' }).waitFor();
  await page.getByRole('combobox', { name: 'Campaign' }).click();
  await page.getByRole('option', { name: 'DEMO' }).click();
  await page.waitForURL(/campaignCode=DEMO/);
  await press(page, 'Mark €37.50 as paid: Test Person');
  const dialog = page.getByRole('dialog', { name: 'Mark €37.50 as paid?' });
  await dialog
    .getByText(
      '3 leads of Test Person, created from 10 Mar 2026 to 11 Mar 2026 (UTC), will be marked as paid.',
    )
    .waitFor();
  await dialog.getByText('Only leads of the campaign DEMO.').waitFor();
  await expectGoodEverywhere(page, 'pay-dialog');
  await write(page, 'Note', 'Invoice 4711');
  await setStatus('OnHold', demoIds);
  await press(page, 'Mark as paid');
  await dialog
    .getByText('There is no approved lead with a payout in this currency to pay: choose other')
    .waitFor();
  // One of the leads that the dialog has counted stays on hold.
  const paidIds = demoIds.slice(1);
  await setStatus('Approved', paidIds);
  await press(page, 'Mark as paid');
  await page.getByText('The payment has 2 leads instead of 3, because leads have changed').waitFor();
  await page.waitForURL(/\/payments\/[-0-9a-f]{36}$/);
  const paymentUrl = page.url();
  await expectFocusOn(page, 'Payment 1');
  const status = page.getByRole('status').filter({ hasText: 'marked as paid' });
  await expect.poll(() => status.allInnerTexts()).toEqual(['2 leads are marked as paid.']);
  const facts = page.getByRole('list', { name: 'Payment 1' });
  expect(await facts.innerText()).toMatch(
    /Publisher\s+Test Person\s+Amount\s+€25.00\s+Leads\s+2[^]*Invoice 4711/,
  );
  await expect
    .poll(() => rowsOf(page, 'Leads'))
    .toEqual([
      ['Lead', 'Result', 'Amount'],
      ...paidIds.toSorted().map((id) => [id, 'Marked as paid', '€12.50']),
    ]);
  expect(await page.getByRole('button', { name: 'Cancel payment' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Show these leads in the lead list' }).click();
  await page.getByRole('button', { name: 'Remove the filter Payment: 1' }).waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(1 + paidIds.length);
  await page.goBack();
  await facts.waitFor();
  expect(await lookOf(page)).toEqual(oneLook);

  // A payment in progress whose step has failed, and one of whose leads has changed since.
  const [stalled = { id: '' }] = await fixture.sql<{ id: string }>(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, total,
       failures, last_error, retry_at)
     VALUES (gen_random_uuid(), $1, 2, $2, $3, '2026-03-10', '2026-03-12', 'EUR', '2026-03-13', 2, 1, 'unavailable', '2100-01-01')
     RETURNING id`,
    [workspace.id, member.userId, manager.userId],
  );
  await fixture.sql(
    `INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount)
     SELECT $1, id, workspace_id, 12.5 FROM lead WHERE id = ANY($2)`,
    [stalled.id, ofExtra.map(({ id }) => id)],
  );
  await setStatus('OnHold', [ofExtra[0].id]);
  await page.goto(days);
  await page
    .getByRole('list', { name: 'Payments in progress' })
    .getByRole('link', { name: 'Payment 2' })
    .click();
  const progress = page.getByText('0 of 2 leads are marked as paid. It continues if you leave this page.');
  await progress.waitFor();
  await page.reload();
  await progress.waitFor();
  await page.getByRole('alert').getByText('The database did not answer in time.').waitFor();
  await expectGoodEverywhere(page, 'payment-stalled');
  // The overview follows the end of the payment, also after the user has left its page.
  const overviewRead = () =>
    page.waitForResponse((response) => new URL(response.url()).pathname === '/api/console/overview');
  const first = overviewRead();
  await page.getByRole('link', { name: 'Overview' }).click();
  await first;
  const afterPayment = overviewRead();
  await fixture.sql('UPDATE payment SET retry_at = now() WHERE id = $1', [stalled.id]);
  await afterPayment;
  await page.goBack();
  await expect
    .poll(() => status.getByRole('listitem').allInnerTexts())
    .toEqual([
      '1 lead is marked as paid.',
      '1 lead is left out, because the status or the payout changed before the payment reached them.',
    ]);

  const { page: ownerPage } = await website.openSignedIn({ workspace, role: 'owner' });
  await ownerPage.goto(paymentUrl);
  await press(ownerPage, 'Cancel payment');
  const cancelling = ownerPage.getByRole('dialog', { name: 'Cancel payment 1?' });
  await cancelling.getByText('2 leads will be approved again').waitFor();
  await expectGoodEverywhere(ownerPage, 'cancel-payment-dialog');
  const submit = cancelling.getByRole('button', { name: 'Cancel payment' });
  await submit.click();
  await write(ownerPage, 'Reason', ' ');
  await submit.click();
  await write(ownerPage, 'Reason', 'The bank returned the transfer');
  await submit.click();
  await cancelling.waitFor({ state: 'hidden' });
  await ownerPage.getByText('2 leads are approved again.').waitFor();
  const ownerFacts = await ownerPage.getByRole('list', { name: 'Payment 1' }).innerText();
  expect(ownerFacts).toMatch(/Canceled by\s+Test Person\s+Reason\s+The bank returned the transfer/);
  expect(await ownerPage.getByRole('button', { name: 'Cancel payment' }).count()).toBe(0);

  await page.goto(`/payments?user=${manager.userId}`);
  await page.getByText('No payments to this publisher.').waitFor();
  await page.getByRole('button', { name: 'Show all payments' }).click();
  const rows = (of: Page) => of.getByRole('list', { name: 'Payments' }).getByRole('listitem');
  await expect
    .poll(() => rows(page).allInnerTexts())
    .toMatchObject([/Payment 2\s+Done/, /Payment 1\s+Canceled/]);
  await expectGoodEverywhere(page, 'payments');
  await publisherPage.goto('/overview');
  await publisherPage.getByRole('link', { name: 'Payments' }).click();
  await expect.poll(() => rows(publisherPage).count()).toBe(2);
  expect(await publisherPage.getByRole('combobox', { name: 'Publisher' }).count()).toBe(0);
  await publisherPage.getByRole('link', { name: 'Payment 1' }).click();
  await publisherPage.getByText('The bank returned the transfer').waitFor();
  const [file] = await Promise.all([
    publisherPage.waitForEvent('download'),
    publisherPage.getByRole('button', { name: 'Download as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('payment-1.csv');
  expect((await readFile(await file.path(), 'utf8')).trim().split('\r\n')).toHaveLength(3);
  await publisherPage.goto(days);
  await publisherPage.getByRole('region', { name: 'Test Person' }).waitFor();
  expect(await publisherPage.getByRole('button', { name: /^Mark/ }).count()).toBe(0);
  const { page: otherPage } = await website.openSignedIn({ workspace, role: 'publisher' });
  await otherPage.goto('/payments');
  await otherPage.getByText('No payments to you yet.').waitFor();
});
