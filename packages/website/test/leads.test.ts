import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { LeadStatus } from '@leads/core/lead';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { expectFocusOn, expectFocusWithin, press as pressOn } from './by-keyboard.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, hold, screenshot, openWebsite, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

const statusCycle = ['OnHold', 'Approved', 'Paid', 'Trashed'] as const;
const statusOf = (i: number): LeadStatus => statusCycle[i % statusCycle.length] ?? 'OnHold';

type Changes = Parameters<TestWorkspace['lead']>[1];

/** Stores leads. Each lead is 1 s older than the previous one. */
async function addLeads(
  workspace: TestWorkspace,
  member: TestMember,
  count: number,
  changes: (i: number) => NonNullable<Changes> = () => ({}),
): Promise<string[]> {
  const newestMs = Date.now() - 60_000;
  const leads = Array.from({ length: count }, (_, i) =>
    workspace.lead(member, {
      id: randomUUID(),
      name: `Person ${String(i).padStart(4, '0')}`,
      phone: `+4420794${String(i).padStart(5, '0')}`,
      createdAt: new Date(newestMs - i * 1000),
      ...changes(i),
    }),
  );
  for (let at = 0; at < count; at += 500) await website.fixture.leads.insert(leads.slice(at, at + 500));
  return leads.map(({ id }) => id);
}

const grid = (page: Page): Locator => page.getByRole('grid', { name: 'Leads' });
const rowOf = (page: Page, name: string): Locator => grid(page).getByRole('row').filter({ hasText: name });
const notice = (page: Page, text: string): Locator => page.getByRole('alert').filter({ hasText: text });
/** Returns the jobs of a list, without the reasons that are listed below a job. */
const jobsOf = (list: Locator): Locator =>
  list.getByRole('list', { name: 'Changes in the background' }).locator('> li');
/** Shows the form of the panel, which has also the empty fields. */
const openEdit = (panel: Locator): Promise<void> =>
  panel.getByRole('button', { name: 'Edit', exact: true }).click();
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Returns the stored status of a lead and its previous status changes. */
async function storedOf(id: string): Promise<{ status: LeadStatus; changes: string[] }> {
  const [lead] = await website.fixture.sql<{ status: LeadStatus }>(
    'SELECT status::text FROM lead WHERE id = $1',
    [id],
  );
  const history = await website.fixture.sql<{ to: string; reason: string | null }>(
    'SELECT to_status::text AS to, reason FROM lead_change WHERE lead_id = $1 AND to_status IS NOT NULL ORDER BY version',
    [id],
  );
  if (lead === undefined) throw new Error(`No lead ${id}`);
  return {
    status: lead.status,
    changes: history.map(({ to, reason }) => (reason === null ? to : `${to} (${reason})`)),
  };
}

/** Changes a lead through the API, like another user. */
async function changeAs(member: TestMember, id: string, body: object): Promise<void> {
  const answer = await fetch(`${website.crm}/api/v1/order/leads/${id}`, {
    method: 'PATCH',
    headers: { ...member.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

/** Lists or creates saved views through the API. */
async function viewsOf({ headers }: TestMember, method: 'GET' | 'POST', body?: object): Promise<unknown> {
  const answer = await fetch(`${website.crm}/api/v1/views`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

describe('the lead list', () => {
  test('loads 1,700 leads page by page and keeps less than 80 rows in the document', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 1_700);
    const requests: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.pathname === '/api/console/order/leads' && url.searchParams.get('limit') === '200') {
        requests.push(url.searchParams.get('updatedSince') === null ? 'page' : 'changes');
      }
    });
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await page.getByText('1,700 leads').waitFor();
    expect(requests.filter((kind) => kind === 'page')).toHaveLength(1);
    await grid(page).focus();
    const last = rowOf(page, 'Person 1699');
    await expect
      .poll(async () => {
        await page.keyboard.press('End');
        return last.count();
      })
      .toBe(1);
    expect(requests.filter((kind) => kind === 'page')).toHaveLength(9);
    expect(await grid(page).getByRole('row').count()).toBeLessThan(80);
    expect(await grid(page).getAttribute('aria-rowcount')).toBe('1701');
    expect(await last.getAttribute('aria-rowindex')).toBe('1701');
    expect(await grid(page).getAttribute('aria-activedescendant')).toBe(await last.getAttribute('id'));
    // The active row stays in the document while the list is scrolled away from it.
    await page.evaluate(() => document.querySelector('[role="grid"]')?.scrollTo(0, 0));
    await rowOf(page, 'Person 0000').waitFor();
    expect(await last.count()).toBe(1);
  });

  test('keeps the changes of loaded leads while the next page loads', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 250);
    const further = await hold(page, /order\/leads\?.*cursor=/);
    await page.goto('/leads');
    await page.getByText('250 leads').waitFor();
    await grid(page).focus();
    const requested = page.waitForRequest(/order\/leads\?.*cursor=/);
    await page.keyboard.press('End');
    await requested;
    await page.keyboard.press('a');
    await notice(page, '1 lead marked as Approved').waitFor();
    await rowOf(page, 'Person 0199').getByText('Approved').waitFor();
    further.release();
    await rowOf(page, 'Person 0200').waitFor({ state: 'attached' });
    expect(await rowOf(page, 'Person 0199').getByText('Approved').count()).toBe(1);
  });

  test('does not render rows again while it is scrolled', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 150);
    // All rows are rendered again when their relative times change.
    await page.clock.setFixedTime(new Date());
    // A row formats its time once for each rendering, so the calls count the rendered rows.
    await page.addInitScript(() => {
      const { prototype } = Intl.RelativeTimeFormat;
      const { format } = prototype;
      const rendered = { rows: 0 };
      Object.assign(globalThis, { rendered });
      prototype.format = function count(this: Intl.RelativeTimeFormat, ...args: Parameters<typeof format>) {
        rendered.rows += 1;
        return format.apply(this, args);
      };
    });
    const renderedRows = () =>
      page.evaluate(() => (globalThis as unknown as { rendered: { rows: number } }).rendered.rows);
    await page.goto('/leads');
    // All rows are rendered again when the names of campaigns arrive.
    await rowOf(page, 'Person 0015').filter({ hasText: 'DEMO' }).waitFor();
    await page.getByText('150 leads').waitFor();
    const before = await renderedRows();
    const shown = await grid(page).getByRole('row').count();
    await grid(page).hover();
    for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 42);
    await rowOf(page, 'Person 0035').waitFor();
    await expect.poll(() => grid(page).evaluate((element) => element.scrollTop)).toBe(420);
    const more = (await renderedRows()) - before;
    expect(more).toBeGreaterThan(0);
    expect(more).toBeLessThan(shown);
  });

  test('keeps filters and search in the address, and supports the back button', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await workspace.addCampaign('OTHER');
    await addLeads(workspace, member, 30, (i) => ({
      status: i % 3 === 0 ? 'Approved' : 'OnHold',
      ...(i === 4 && { name: 'Zoë Fischer', s1: 'click-4' }),
    }));
    await page.goto('/leads');
    await page.getByText('30 leads').waitFor();
    expect(await findViolations(page)).toEqual([]);

    const statusFilter = page.getByRole('group', { name: 'Status' });
    await statusFilter.getByRole('button', { name: 'Approved' }).click();
    await page.waitForURL('**/leads?status=Approved');
    await page.getByText('10 leads').waitFor();
    await statusFilter.getByRole('button', { name: 'All' }).click();
    await page.waitForURL('**/leads');
    await page.keyboard.press('/');
    await page.keyboard.type('zoe');
    await page.waitForURL('**/leads?q=zoe');
    await page.keyboard.type(' fi');
    await page.waitForURL('**/leads?q=zoe+fi');
    await page.getByText('1 lead', { exact: true }).waitFor();
    await rowOf(page, 'Zoë Fischer').waitFor();
    await page.reload();
    await rowOf(page, 'Zoë Fischer').waitFor();
    expect(await page.getByRole('searchbox', { name: 'Search leads' }).inputValue()).toBe('zoe fi');

    await page.goBack();
    await page.waitForURL('**/leads?q=zoe');
    await page.goBack();
    await page.getByText('30 leads').waitFor();
    expect(await page.getByRole('searchbox', { name: 'Search leads' }).inputValue()).toBe('');
    await page.goBack();
    await page.getByText('10 leads').waitFor();

    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Sub-id (s1)').fill('click-4');
    await page.waitForURL('**s1=click-4*');
    // The browser reports a day of the year 2, 20 and 202 before that of the year 2020.
    const createdFrom = page.getByLabel('Created from', { exact: true });
    await createdFrom.pressSequentially('01312020');
    await page.waitForURL('**createdFrom=2020-01-3*');
    expect(await createdFrom.inputValue()).toBe('2020-01-31');
    // A navigation replaces the day.
    await page.goBack();
    await page.waitForURL(/s1=click-4$/);
    await expect.poll(() => createdFrom.inputValue()).toBe('');
    await page.goForward();
    await page.waitForURL('**createdFrom=2020-01-3*');
    await expect.poll(() => createdFrom.inputValue()).toBe('2020-01-31');
    await createdFrom.focus();
    await page.keyboard.press('Escape');
    await page.getByText('No lead matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear all' }).click();
    await page.waitForURL('**/leads');
    await page.getByText('30 leads').waitFor();

    await page.goto('/leads?phone=442079400004&sort=createdAt');
    await rowOf(page, 'Zoë Fischer').waitFor();
    await page.getByText('1 lead', { exact: true }).waitFor();
    await page.goto('/leads?phone=none');
    await page.getByRole('alert').getByText('phone must contain a digit').waitFor();
  });

  test('finds a lead by the part of its id that it shows, by its sub-id and by its campaign', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const campaignId = await workspace.addCampaign('SPRING');
    await addLeads(workspace, member, 4, (i) => ({
      id: `0190a3e${i}-5d2b-7c4e-9f10-2a6b8c0d1e2f`,
      s1: `Click/${i}`,
      ...(i === 2 && { campaignId }),
    }));
    await page.goto('/leads');
    await page.getByText('4 leads').waitFor();
    const shownId = (await rowOf(page, 'Person 0001').getByTitle('0190a3e1-').textContent()) ?? '';
    expect(shownId).toMatch(/^0190a3e1/);
    for (const [text, name] of [
      [shownId, 'Person 0001'],
      ['Click/3', 'Person 0003'],
      ['spring', 'Person 0002'],
    ] as const) {
      await page.getByRole('searchbox', { name: 'Search leads' }).fill(text);
      await page.getByText('1 lead', { exact: true }).waitFor();
      await rowOf(page, name).waitFor();
    }
    await screenshot(page, 'leads-search');
  });

  test('clears the selection when the filters change, and keeps leads selected meanwhile', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 4);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    const selection = (count: number) => page.getByRole('toolbar', { name: `${count} selected` });
    const box = (name: string) => rowOf(page, name).getByRole('checkbox');
    await box('Person 0003').check();
    await selection(1).waitFor();

    const searched = await hold(page, /order\/leads\?.*q=/);
    await page.keyboard.press('/');
    await page.keyboard.type('person');
    await page.keyboard.press('Enter');
    await page.waitForURL('**q=person');
    await selection(1).waitFor({ state: 'detached' });
    await box('Person 0000').check();
    await box('Person 0001').check();
    await selection(2).waitFor();
    const answered = page.waitForResponse((answer) => /q=person/.test(answer.url()) && answer.ok());
    searched.release();
    await answered;
    await page.locator('[aria-busy="false"]').getByRole('grid').waitFor();
    await selection(2).waitFor();
    for (const name of ['Person 0000', 'Person 0001']) expect(await box(name).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Clear all' }).click();
    await selection(2).waitFor({ state: 'detached' });
  });

  test('closes the dialogs of a change of all leads when the filters change', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(workspace, member, 203, (i) => (i === 0 ? { status: 'Approved' } : {}));
    await page.goto('/leads');
    await page.getByText('203 leads', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'On hold' }).click();
    for (const [action, title] of [
      ['Mark as Approved', 'Mark all 202 leads that match as Approved?'],
      ['Assign', 'Assign all 202 leads that match?'],
    ] as const) {
      await page.getByText('202 leads', { exact: true }).waitFor();
      await page.getByRole('checkbox', { name: 'Select all loaded leads' }).check();
      await page.getByRole('button', { name: 'Select all 202 leads that match' }).click();
      await page.getByRole('toolbar').getByRole('button', { name: action }).click();
      await page.getByRole('dialog', { name: title }).waitFor();
      await page.goBack();
      await page.getByText('203 leads', { exact: true }).waitFor();
      await page.locator('[aria-busy="false"]').getByRole('grid').waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
      await page.goForward();
    }
  });

  test('sorts by time in both directions', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 3);
    await page.goto('/leads');
    const first = () => grid(page).getByRole('row').nth(1).textContent();
    await expect.poll(first).toContain('Person 0000');
    const head = page.getByRole('columnheader', { name: 'Created' });
    await pressOn(page, 'Created');
    await page.waitForURL('**/leads?sort=createdAt');
    await expect.poll(first).toContain('Person 0002');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await expectFocusOn(page, 'Created');
    await head.getByRole('button').click();
    await expect.poll(first).toContain('Person 0000');
    expect(await head.getAttribute('aria-sort')).toBe('descending');
  });

  test('sorts by every column with an index, in the address and by the keyboard, and shows changes of the order', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [manager, publisher] = [
      await workspace.addMember('manager'),
      await workspace.addMember('publisher'),
    ];
    const otherCampaignId = await workspace.addCampaign('LATER');
    const fields = [
      { country: 'NL', s1: 'b', lpName: 'quiz' },
      { lpName: 'offer' },
      { country: 'FR', s1: 'c', campaignId: otherCampaignId },
      { country: 'GB', s1: 'a', userId: publisher.userId },
      { lpName: 'offer' },
    ];
    const ids = await addLeads(workspace, member, 5, (i) => ({ status: statusOf(i), ...fields[i] }));
    for (const [i, { userId }] of [
      [1, manager],
      [3, member],
      [4, member],
    ] as const)
      await website.fixture.sql('UPDATE lead SET assignee_id = $2 WHERE id = $1', [ids[i], userId]);
    /** Returns the leads of each value together, in the order of the ids. */
    const byId = (groups: Readonly<Record<string, readonly number[]>>) =>
      Object.keys(groups)
        .toSorted()
        .flatMap((id) => groups[id] ?? []);
    const call = (i: number, at: string | null) =>
      website.fixture.sql('UPDATE lead SET callback_at = $2, updated_at = now() WHERE id = $1', [ids[i], at]);
    await call(3, '2026-02-01');
    await call(1, '2026-03-01');
    const names = () => grid(page).locator('a[data-action="open"]').allTextContents();
    const shows = async (...at: readonly number[]) => {
      await expect.poll(names).toEqual(at.map((i) => `Person 000${i}`));
    };
    const sortOf = (name: string) => grid(page).getByRole('columnheader', { name }).getAttribute('aria-sort');
    await page.goto('/leads');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Columns' }).click();
    const shown = ['Call-back', 'Publisher', 'Assignee', 'Sub-id (s1)', 'Landing page'];
    for (const column of shown) await page.getByLabel(`Show ${column}`, { exact: true }).check();
    await page.keyboard.press('Escape');
    expect([await sortOf('Name'), await sortOf('Phone')]).toEqual([null, null]);

    // The statuses are OnHold, Approved, Paid, Trashed, OnHold. Each lead is older than the one before.
    await pressOn(page, 'Status');
    await page.waitForURL('**/leads?sort=status');
    await shows(4, 0, 3, 2, 1);
    await pressOn(page, 'Status');
    await page.waitForURL('**/leads?sort=-status');
    await shows(1, 2, 3, 0, 4);
    expect([await sortOf('Status'), await sortOf('Created')]).toEqual(['descending', 'none']);

    // Leads without a country have no place in the order. A filter leaves them out, as its chip shows.
    await pressOn(page, 'Country');
    await page.waitForURL('**has=country**');
    await shows(2, 3, 0);
    await page.getByText('3 leads').waitFor();
    await pressOn(page, 'Call-back');
    await page.waitForURL('**has=callbackAt**');
    await shows(3, 1);
    await page.getByText('2 leads').waitFor();
    expect(await findViolations(page, { within: 'main' })).toEqual([]);
    // Another operator moves a call-back, and plans one.
    await call(3, '2026-04-01');
    await call(0, '2026-01-01');
    await shows(0, 1, 3);
    await page.getByRole('button', { name: 'Remove the filter Only with: Call-back' }).click();
    await page.waitForURL((url) => url.search === '');
    await shows(0, 1, 2, 3, 4);

    const byAssignee = byId({ [manager.userId]: [1], [member.userId]: [4, 3] });
    // The leads of one sub-id or landing page are newest first, and those of one member oldest first.
    for (const [head, field, order, reversed] of [
      ['Sub-id (s1)', 's1', [3, 0, 2], [2, 0, 3]],
      ['Landing page', 'lpName', [1, 4, 0], [0, 4, 1]],
      ['Assignee', 'assignee', byAssignee, byAssignee.toReversed()],
    ] as const) {
      await pressOn(page, head);
      await page.waitForURL(`**has=${field}**`);
      await shows(...order);
      await pressOn(page, head);
      await page.waitForURL(`**sort=-${field}**`);
      await shows(...reversed);
      expect(await sortOf(head)).toBe('descending');
    }
    await pressOn(page, 'Publisher');
    await page.waitForURL((url) => url.search === '?sort=user');
    await shows(...byId({ [member.userId]: [4, 2, 1, 0], [publisher.userId]: [3] }));
    await grid(page).getByRole('button', { name: 'Campaign', exact: true }).click();
    await page.waitForURL((url) => url.search === '?sort=campaign');
    const byCampaign = byId({ [workspace.demoCampaignId]: [4, 3, 1, 0], [otherCampaignId]: [2] });
    await shows(...byCampaign);
    // A lead keeps its place if another operator changes its status, so the list is not read again.
    const pages: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('sort=campaign')) pages.push(request.url());
    });
    await changeAs(workspace.owner, ids[4] ?? '', { status: 'Approved' });
    await rowOf(page, 'Person 0004').getByText('Approved').waitFor();
    await shows(...byCampaign);
    expect(pages).toEqual([]);
  });

  test('shows several statuses and one publisher, and each filter is removed by its own chip', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const publisher = await workspace.addMember('publisher');
    await addLeads(workspace, member, 8, (i) => ({ status: statusOf(i) }));
    await addLeads(workspace, publisher, 3, (i) => ({ name: `Of publisher ${i}`, status: statusOf(i) }));
    await page.goto('/leads');
    await page.getByText('11 leads').waitFor();
    const statusFilter = page.getByRole('group', { name: 'Status' });
    await statusFilter.getByRole('button', { name: 'Paid' }).click();
    await statusFilter.getByRole('button', { name: 'On hold' }).click();
    await page.waitForURL(/status=OnHold(%2C|,)Paid$/);
    await page.getByText('6 leads').waitFor();
    // A lead that gets a status of the filter stays, and another one leaves.
    await rowOf(page, 'Person 0000')
      .getByRole('button', { name: /^Person 0000/ })
      .click();
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).click();
    await page.getByText('5 leads').waitFor();
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    const members = await hold(page, /console\/members/);
    await page.goto(`/leads?status=OnHold,Paid&user=${publisher.userId}&sort=createdAt`);
    await page.getByText('2 leads').waitFor();
    const chips = page.getByRole('list', { name: 'Applied filters' });
    await expect.poll(() => chips.getByRole('button').count()).toBe(3);
    // A chip keeps the focus when the name of its publisher arrives.
    const ofPublisher = chips.getByRole('button', { name: /^Remove the filter Publisher: / });
    await ofPublisher.focus();
    members.release();
    await ofPublisher.filter({ hasNotText: publisher.userId }).waitFor();
    await expectFocusOn(page, /^Remove the filter Publisher: /);
    expect(await findViolations(page)).toEqual([]);
    const size = page.viewportSize();
    const address = page.url();
    await page.goto(`${address}&q=${'o'.repeat(80)}&lpName=spring&country=NL&source=crm&s1=click-7`);
    await expect.poll(() => chips.getByRole('button').count()).toBe(8);
    for (const width of [390, 768]) {
      await page.setViewportSize({ width, height: 844 });
      // Every chip is visible with its whole cross.
      expect(await chips.evaluate((list) => list.scrollHeight - list.clientHeight)).toBe(0);
      const widths = chips
        .locator('svg')
        .evaluateAll((icons) => icons.map((icon) => icon.getBoundingClientRect().width));
      expect(Math.min(...(await widths))).toBe(14);
      await screenshot(page, `leads-chips-${width}`);
    }
    if (size !== null) await page.setViewportSize(size);
    await page.goto(address);
    await chips.getByRole('button', { name: 'Remove the filter Status: On hold' }).click();
    await page.waitForURL((url) => url.searchParams.get('status') === 'Paid');
    await page.getByText('1 lead', { exact: true }).waitFor();
    await ofPublisher.click();
    await page.getByText('3 leads').waitFor();
    expect(new URL(page.url()).search).toBe('?status=Paid&sort=createdAt');
  });

  test('has the columns, the order and the widths that a saved view keeps, also for another manager', async () => {
    const { page, workspace, member } = await website.openSignedIn({ width: 1440, height: 900 });
    await addLeads(workspace, member, 3, () => ({ address: '1 Arlington Ridge', country: 'GB' }));
    await page.goto('/leads?status=OnHold');
    await page.getByText('3 leads').waitFor();
    const heads = (of: Page) => grid(of).getByRole('columnheader').allInnerTexts();
    expect(await heads(page)).toEqual([
      '',
      'Created',
      'Name',
      'Phone',
      'Status',
      'Campaign',
      'Country',
      'ID',
    ]);

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns of the list' });
    await dialog.getByRole('checkbox', { name: 'Show ID' }).uncheck();
    await dialog.getByRole('checkbox', { name: 'Show Changed' }).check();
    await dialog.getByRole('checkbox', { name: 'Show Publisher' }).check();
    const up = dialog.getByRole('button', { name: 'Move Publisher up' });
    await up.focus();
    for (let i = 0; i < 7; i++) await page.keyboard.press('Enter');
    expect(await up.getAttribute('aria-disabled')).toBe('true');
    await dialog.getByRole('spinbutton', { name: 'Width of Phone in pixels' }).fill('300');
    await page.keyboard.press('Enter');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    const changed = ['', 'Publisher', 'Created', 'Name', 'Phone', 'Status', 'Campaign', 'Country', 'Changed'];
    expect(await heads(page)).toEqual(changed);
    const widthOf = async (of: Page, name: string) =>
      (await grid(of).getByRole('columnheader', { name }).boundingBox())?.width ?? 0;
    expect(await widthOf(page, 'Phone')).toBeCloseTo(300, -1);
    await rowOf(page, 'Person 0000').getByText('Test Person').waitFor();
    // The columns depend on the width of the list, not on that of the window. A card shows further columns in a line.
    const campaignHead = grid(page).getByRole('columnheader', { name: 'Campaign' });
    for (const [width, hasColumns] of [
      [390, false],
      [1000, true],
      [768, false],
      [1440, true],
      [1100, false],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      // From here on, the panel is beside the list.
      if (width === 1440) await rowOf(page, 'Person 0000').getByRole('link').click();
      await expect.poll(() => campaignHead.isVisible()).toBe(hasColumns);
      const further = rowOf(page, 'Person 0001').getByText('Publisher Test Person Campaign DEMO');
      await expect.poll(() => further.isVisible()).toBe(!hasColumns);
      expect(await findViolations(page, { within: 'main' })).toEqual([]);
      await screenshot(page, `leads-width-${width}`);
    }
    await page.goBack();
    await page.setViewportSize({ width: 1440, height: 900 });
    // The browser keeps the columns.
    await page.reload();
    await rowOf(page, 'Person 0000').waitFor();
    expect(await heads(page)).toEqual(changed);

    // A head sorts, and its edge changes the width.
    const sortOf = (name: string) => grid(page).getByRole('columnheader', { name }).getAttribute('aria-sort');
    expect([await sortOf('Created'), await sortOf('Changed')]).toEqual(['descending', 'none']);
    await pressOn(page, 'Changed');
    await page.waitForURL('**sort=-updatedAt');
    expect([await sortOf('Created'), await sortOf('Changed')]).toEqual(['none', 'descending']);
    const box = await grid(page).getByRole('columnheader', { name: 'Name' }).boundingBox();
    if (box === null) throw new Error('The head is not visible');
    await page.mouse.move(box.x + box.width + 4, box.y + 4);
    await page.mouse.down();
    await page.mouse.move(box.x + 204, box.y + 4, { steps: 4 });
    await page.mouse.up();
    expect(Math.abs((await widthOf(page, 'Name')) - 200)).toBeLessThan(3);

    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save as a new view' }).click();
    await page.getByLabel('Name').fill('Queue');
    await page.getByLabel('Share with owners and managers').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Views: Queue' }).waitFor();
    await page.waitForURL('**view=*');
    await page.getByRole('button', { name: /^Remove the filter Status/ }).click();
    await page.getByRole('button', { name: 'Views: Queue (changed)' }).click();
    // Two views with one name could not be distinguished.
    await page.getByRole('menuitem', { name: 'Save as a new view' }).click();
    await page.getByLabel('Name').fill(' queue');
    await page.getByLabel('Share with owners and managers').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A shared view has this name.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    const { page: other } = await website.openSignedIn({ workspace, role: 'manager' });
    // An address with nothing but the view has the filters of the view.
    await other.goto(`/leads?view=${new URL(page.url()).searchParams.get('view')}`);
    await other.waitForURL((url) => url.searchParams.get('status') === 'OnHold');
    await expect.poll(() => heads(other)).toEqual(changed);
    expect(Math.abs((await widthOf(other, 'Name')) - 200)).toBeLessThan(3);
    expect(new URL(other.url()).searchParams.get('sort')).toBe('-updatedAt');
    // Leaving the view restores the columns of the user.
    await other.getByRole('button', { name: 'Clear all' }).click();
    await expect.poll(() => heads(other)).toContain('ID');

    await other.getByRole('button', { name: 'Views' }).click();
    await other.getByRole('menuitem', { name: 'Queue' }).click();
    await other.getByRole('button', { name: 'Views: Queue' }).click();
    await other.getByRole('menuitem', { name: 'Rename, share or delete Queue' }).click();
    await other.getByRole('button', { name: 'Delete the view' }).click();
    await notice(other, 'Deleted the view Queue').waitFor();
    await other.getByRole('button', { name: 'Views', exact: true }).waitFor();
  });

  test('opens no view that is stored after the user has gone elsewhere', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(workspace, member, 1);
    await page.goto('/leads');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: /^Views/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const created = await hold(page, /\/views$/, 'POST');
    await choose('Save as a new view');
    await page.getByLabel('Name').fill('Queue');
    await page.keyboard.press('Enter');
    await page.locator('button[data-loading]').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    created.release();
    await notice(page, 'Saved the view Queue').waitFor();
    await waitForFrames(page);
    expect(page.url()).toMatch(/\/leads$/);

    await choose('Queue');
    await page.waitForURL('**view=*');
    const status = (name: string) =>
      page.getByRole('group', { name: 'Status' }).getByRole('button', { name }).click();
    await status('Approved');
    await page.getByRole('button', { name: 'Views: Queue (changed)' }).waitFor();
    const changed = await hold(page, /\/views\//, 'PATCH');
    await choose('Save the changes of Queue');
    await status('Trashed');
    await page.waitForURL('**Trashed*');
    const listed = page.waitForResponse(/\/views$/);
    changed.release();
    await (await listed).finished();
    await waitForFrames(page);
    expect(page.url()).toMatch(/Trashed/);
    await status('Trashed');
    await page.getByRole('button', { name: 'Views: Queue', exact: true }).waitFor();
  });

  test('saves that the order, the columns and the filter of a view are removed', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 1, () => ({ country: 'GB' }));
    const columns = { columns: ['name', 'country'], widths: { name: 240 } };
    await viewsOf(member, 'POST', {
      name: 'Queue',
      filters: { has: 'country' },
      sort: 'country',
      ...columns,
    });
    await page.goto('/leads');
    const choose = async (button: RegExp, item: string) => {
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose(/^Views/, 'Queue');
    await page.getByRole('button', { name: 'Remove the filter Only with: Country' }).click();
    await choose(/^More actions/, 'Columns');
    const dialog = page.getByRole('dialog', { name: 'Columns of the list' });
    await dialog.getByRole('button', { name: 'Restore the usual columns' }).click();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await choose(/^Views/, 'Save the changes of Queue');
    await notice(page, 'Saved the view Queue').waitFor();
    await page.getByRole('button', { name: 'Views: Queue', exact: true }).waitFor();
    const times = { createdAt: expect.any(String), updatedAt: expect.any(String) };
    const kept = { id: expect.any(String), name: 'Queue', shared: false, filters: {} };
    expect(await viewsOf(member, 'GET')).toEqual([{ ...kept, ...times }]);
  });

  test('applies and keeps the time of the last change that a view of the API selects, in the order of the API', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const times = { Old: ['09', '09'], Early: ['10', '12'], Late: ['11', '11'] } as const;
    const leads = Object.entries(times).map(([name, [created, updated]]) =>
      workspace.lead(member, {
        name,
        createdAt: new Date(`2026-03-${created}T09:00:00Z`),
        updatedAt: new Date(`2026-03-${updated}T09:00:00Z`),
      }),
    );
    await website.fixture.leads.insert(leads);
    const updatedSince = '2026-03-11T08:00:00Z';
    await viewsOf(member, 'POST', { name: 'Changed', filters: { updatedSince } });
    await page.goto('/leads');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: /^Views/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const shown = async () => {
      const rows = await grid(page).getByRole('row').allInnerTexts();
      return rows.flatMap((row) => Object.keys(times).filter((name) => row.includes(name)));
    };
    await expect.poll(shown).toEqual(['Late', 'Early', 'Old']);
    await choose('Changed');
    await expect.poll(shown).toEqual(['Early', 'Late']);
    await page.getByText('2 leads', { exact: true }).waitFor();
    await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'On hold' }).click();
    await choose('Save the changes of Changed');
    await notice(page, 'Saved the view Changed').waitFor();
    expect(await viewsOf(member, 'GET')).toMatchObject([{ filters: { status: 'OnHold', updatedSince } }]);
    const changed = { name: 'Remove the filter Changed since: 11 Mar 2026, 08:00:00' };
    await page.getByRole('button', changed).click();
    await expect.poll(shown).toEqual(['Late', 'Early', 'Old']);
  });

  test('shows stored HTML as text, like all other pages', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const hostile = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
    // The IP address is not hostile, because the database accepts only addresses.
    const [id] = await addLeads(workspace, member, 1, () => ({
      ...Object.fromEntries(
        ['name', 'phone', 'address', 'country', 'region', 'city', 'street', 'zipcode', 'website']
          .concat(['description', 's1', 'lpName', 'state'])
          .map((field) => [field, hostile]),
      ),
      email: `${hostile}.io`,
      ip: '2001:db8::1',
      extra: JSON.stringify({ [hostile]: hostile }),
    }));
    const changed = await fetch(`${website.crm}/api/v1/order/leads/${id}`, {
      method: 'PATCH',
      headers: { ...member.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'Trashed', reason: hostile, street: `${hostile} 2` }),
    });
    expect(changed.status).toBe(200);
    await workspace.mapLandingPage(hostile, workspace.demoCampaignId);
    await website.fixture.sql('UPDATE campaign SET name = $1 WHERE id = $2', [
      hostile,
      workspace.demoCampaignId,
    ]);
    const expectHarmless = async (title: string) => {
      expect(
        await page.locator('img:not([src="/icon.svg"]), main script, [role="dialog"] script').count(),
      ).toBe(0);
      expect(await page.title()).toBe(`${title} · ${workspace.slug} · Leads`);
    };
    await page.goto(`/leads?lead=${id}`);
    await page.getByRole('heading', { level: 2, name: hostile }).waitFor();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Created by').waitFor();
    await openEdit(drawer);
    expect(await drawer.getByLabel('Address', { exact: true }).inputValue()).toBe(hostile);
    expect(await drawer.getByLabel('Email address').inputValue()).toBe(`${hostile}.io`);
    await drawer.getByText('2001:db8::1', { exact: true }).waitFor();
    await drawer.getByText(`“${hostile}”`, { exact: true }).waitFor();
    await drawer.getByText(`Street: ${hostile} to ${hostile} 2`, { exact: true }).waitFor();
    await expectHarmless('Leads');
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await rowOf(page, hostile).waitFor();
    await expectHarmless('Leads');

    await page.goto('/overview');
    for (const table of ['By campaign', 'By landing page', 'By sub-id (s1)']) {
      await page.getByRole('region', { name: table }).getByRole('link', { name: hostile }).waitFor();
    }
    await expectHarmless('Overview');
    await page.goto('/campaigns');
    await page.locator('[data-landing-page]').getByText(hostile, { exact: true }).waitFor();
    await page.getByRole('combobox', { name: `Campaign of ${hostile}` }).click();
    await page.getByRole('option', { name: hostile }).waitFor();
    await expectHarmless('Campaigns');
  });

  test('has lower rows in the compact density, which the browser keeps for all lists and tables', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(workspace, member, 60);
    await page.goto('/leads');
    const heightOf = async (name: string) => (await rowOf(page, name).boundingBox())?.height;
    await expect.poll(() => heightOf('Person 0000')).toBe(42);
    await page.getByRole('button', { name: /^Your account/ }).click();
    await page.getByRole('menuitemradio', { name: 'Compact' }).click();
    await expect.poll(() => heightOf('Person 0000')).toBe(32);
    await page.reload();
    await expect.poll(() => heightOf('Person 0001')).toBe(32);
    // Rows do not overlap.
    const tops = await Promise.all(
      ['Person 0000', 'Person 0001'].map(async (name) => (await rowOf(page, name).boundingBox())?.y ?? 0),
    );
    expect((tops[1] ?? 0) - (tops[0] ?? 0)).toBe(32);
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-compact');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => heightOf('Person 0000')).toBe(70);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/campaigns');
    const cell = page.getByRole('cell').first();
    expect(await cell.evaluate((element) => getComputedStyle(element).paddingTop)).toBe('2px');
  });

  test('fits on a phone', async () => {
    const { page, workspace, member } = await website.openSignedIn({ width: 390, height: 844 });
    const ids = await addLeads(workspace, member, 60, (i) => ({
      status: statusOf(i),
      country: 'GB',
      ...(i === 2 && { name: 'A very long name with many words '.repeat(4), phone: '1'.repeat(200) }),
    }));
    await page.goto('/leads');
    await rowOf(page, 'Person 0001').waitFor();
    expect(await overflow(page)).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-390');
    await rowOf(page, 'Person 0000').getByLabel('Select Person 0000').click();
    await rowOf(page, 'Person 0004').getByLabel('Select Person 0004').click();
    await page.getByText('2 selected').waitFor();
    expect(await overflow(page)).toBe(0);
    await screenshot(page, 'leads-bulk-390');
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Landing page').waitFor();
    expect(await overflow(page)).toBe(0);
    await screenshot(page, 'leads-filters-390');
    await page.goto(`/leads?lead=${ids[2]}`);
    await page.getByRole('heading', { name: /^A very long name/ }).waitFor();
    await page.getByText('Created by').waitFor();
    expect(await overflow(page)).toBe(0);
    await screenshot(page, 'leads-detail-390');
  });

  test.each([
    ['at 200 % zoom', 720, 450],
    ['on a phone in landscape', 844, 390],
  ])(
    'has filters that can all be reached %s, by scrolling and with the keyboard',
    async (_where, width, height) => {
      const { page } = await website.openSignedIn({ width, height });
      await page.goto('/leads');
      await page.getByRole('button', { name: 'Filters' }).click();
      const filters = page.getByRole('dialog');
      const sort = filters.getByLabel('Sort').first();
      await sort.waitFor();
      await sort.scrollIntoViewIfNeeded();
      const box = await sort.boundingBox();
      expect([(box?.y ?? -1) >= 0, (box?.y ?? height) + (box?.height ?? 0) <= height]).toEqual([true, true]);
      const seen = new Set<unknown>();
      for (let i = 0; i < 14; i++) {
        await page.keyboard.press('Tab');
        const focus = await page.evaluate(() => {
          const active = document.activeElement;
          const { top = -1, bottom = -1 } = active?.getBoundingClientRect() ?? {};
          const isVisible = top >= 0 && bottom <= innerHeight;
          return {
            isInside: active?.closest('[role="dialog"]') !== null,
            isVisible,
            id: active?.id || active?.textContent,
          };
        });
        expect(focus).toMatchObject({ isInside: true, isVisible: true });
        seen.add(focus.id);
      }
      expect(seen.size).toBeGreaterThan(6);
      expect(await overflow(page)).toBe(0);
    },
  );

  test('counts at the filter button only filters that are behind it', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/leads?status=Paid&campaignCode=DEMO&source=crm');
    await page.getByText('No lead matches these filters.').waitFor();
    const badge = page.locator('.mantine-Indicator-indicator');
    expect(await badge.allInnerTexts()).toEqual(['1']);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => badge.allInnerTexts()).toEqual(['3']);
    // An empty list has the button of the next step.
    await pressOn(page, 'Show all leads');
    await page.getByText('There are no leads yet').waitFor();
    await expectGoodEverywhere(page, 'leads-empty');
    await page.getByRole('link', { name: 'Send the first lead' }).click();
    await page.waitForURL('**/developers?tab=examples');
  });

  test('has no accessibility violations in light and in dark mode', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, workspace, member } = await website.openSignedIn({ colorScheme });
      await addLeads(workspace, member, 60, (i) => ({
        status: statusOf(i),
        country: 'GB',
        region: 'Greater London',
        createdAt: new Date(Date.now() - i * i * 40_000),
      }));
      await page.goto('/leads');
      await page.getByText('60 leads').waitFor();
      await rowOf(page, 'Person 0000').getByLabel('Select Person 0000').click();
      await rowOf(page, 'Person 0008')
        .getByLabel('Select Person 0008')
        .click({ modifiers: ['Shift'] });
      await page.getByText('9 selected').waitFor();
      expect(await findViolations(page)).toEqual([]);
      await screenshot(page, `leads-${colorScheme}`);
    }
  });
});

describe('a status change', () => {
  test('of one lead can be made in its row and undone', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(workspace, member, 2);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).click();
    await notice(page, '1 lead marked as Approved').waitFor();
    expect((await storedOf(id)).status).toBe('Approved');
    await rowOf(page, 'Person 0000').getByText('Approved').waitFor();

    // A change to Trashed requires a reason. The undo goes back to Approved through OnHold.
    await rowOf(page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Trashed' }).click();
    const dialog = page.getByRole('dialog', { name: /^Why mark/ });
    await dialog.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-reason');
    await dialog.getByRole('button', { name: 'Mark as Trashed' }).click();
    await dialog.getByText('Choose a reason or write one').waitFor();
    await dialog.getByLabel('Or write your own reason').fill('Called twice, no answer');
    await page.keyboard.press('Enter');
    const notification = notice(page, '1 lead marked as Trashed');
    await notification.waitFor();
    expect((await storedOf(id)).status).toBe('Trashed');
    await notification.getByRole('button', { name: 'Undo' }).click();
    await notice(page, 'Undone for 1 lead').waitFor();
    expect(await storedOf(id)).toEqual({
      status: 'Approved',
      changes: ['Approved', 'Trashed (Called twice, no answer)', 'OnHold', 'Approved'],
    });
    await rowOf(page, 'Person 0000').getByText('Approved').waitFor();
  });

  test('of several leads is offered only if all of them allow it, and its undo restores each status', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(workspace, member, 6, (i) => ({ status: i < 3 ? 'OnHold' : 'Approved' }));
    await page.goto('/leads');
    const box = (i: number) => page.getByLabel(`Select Person 000${i}`);
    await box(0).click();
    await box(4).click({ modifiers: ['Shift'] });
    await page.getByText('5 selected').waitFor();
    const bar = page.getByRole('toolbar', { name: '5 selected' });
    expect(await bar.getByRole('button', { name: /Mark as/ }).allTextContents()).toEqual(['Mark as Trashed']);
    await bar.getByRole('button', { name: 'Mark as Trashed' }).click();
    await page.getByRole('radio', { name: 'Spam or test' }).check();
    await page.keyboard.press('Enter');
    const notification = notice(page, '5 leads marked as Trashed');
    await notification.waitFor();
    expect(await Promise.all(ids.map(async (id) => (await storedOf(id)).status))).toEqual([
      ...Array.from({ length: 5 }, () => 'Trashed'),
      'Approved',
    ]);
    await notification.getByRole('button', { name: 'Undo' }).click();
    await notice(page, 'Undone for 5 leads').waitFor();
    expect(await Promise.all(ids.map(async (id) => (await storedOf(id)).status))).toEqual([
      ...Array.from({ length: 3 }, () => 'OnHold'),
      ...Array.from({ length: 3 }, () => 'Approved'),
    ]);
    await page.getByLabel('Select all loaded leads').check();
    await page.getByText('6 selected').waitFor();
  });

  test('that the service rejects is reported with the reason', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [first = '', second = ''] = await addLeads(workspace, member, 2);
    await page.goto('/leads');
    await rowOf(page, 'Person 0001').waitFor();
    // The lead is deleted, and the page cannot poll for the change.
    await page.route('**/api/console/order/leads?*', (route) => route.abort());
    await website.fixture.sql('DELETE FROM lead WHERE id = $1', [second]);
    await page.getByLabel('Select all loaded leads').check();
    await page.getByRole('button', { name: 'Mark as Approved' }).click();
    const dialog = page.getByRole('dialog', { name: '1 lead could not be changed' });
    await dialog.getByText('Person 0001').waitFor();
    await notice(page, '1 lead marked as Approved').waitFor();
    expect((await storedOf(first)).status).toBe('Approved');
  });

  test('of all leads that match runs as a job with its progress and its result, and can be cancelled', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(workspace, member, 700, (i) => (i % 100 === 50 ? { status: 'Paid' } : {}));
    await addLeads(workspace, member, 5, () => ({ status: 'Trashed', name: 'Left' }));
    await page.goto('/leads?status=OnHold,Paid');
    await page.getByText('700 leads').waitFor();
    await page.getByRole('checkbox', { name: 'Select all loaded leads' }).check();
    await page.getByRole('button', { name: 'Select all 700 leads that match' }).click();
    const toolbar = page.getByRole('toolbar', { name: 'All 700 leads that match' });
    await toolbar.getByRole('button', { name: 'Export', exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await toolbar.getByRole('button', { name: 'Mark as Approved' }).click();
    const dialog = page.getByRole('dialog', { name: 'Mark all 700 leads that match as Approved?' });
    // The job ends before the page sees it running.
    const jobs = await hold(page, /console\/jobs$/, 'GET');
    await dialog.getByRole('button', { name: 'Mark as Approved' }).click();
    await expect
      .poll(() =>
        website.fixture.sql('SELECT state::text FROM lead_job WHERE workspace_id = $1', [workspace.id]),
      )
      .toEqual([{ state: 'done' }]);
    jobs.release();
    await dialog.waitFor({ state: 'detached' });
    await notice(page, '693 leads marked as Approved').waitFor();
    await notice(page, '7 leads could not be changed').getByText('Only an owner may').waitFor();
    await page.getByText('7 leads', { exact: true }).waitFor();
    await screenshot(page, 'leads-job');
    const statuses = () =>
      website.fixture.sql<{ status: string; count: number }>(
        'SELECT status::text, count(*)::int AS count FROM lead WHERE workspace_id = $1 GROUP BY status ORDER BY status::text',
        [workspace.id],
      );
    expect(await statuses()).toEqual([
      { status: 'Approved', count: 693 },
      { status: 'Paid', count: 7 },
      { status: 'Trashed', count: 5 },
    ]);

    // A job whose next step is far away runs until it is cancelled.
    await website.fixture.sql(
      `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, total, changed, next_step_at)
       VALUES (gen_random_uuid(), $1, $2, 'status', '{}', 'Paid', 700, 200, now() + interval '1 day')`,
      [workspace.id, member.userId],
    );
    await page.reload();
    await page.getByRole('progressbar', { name: 'Marking leads as Paid: 200 of 700' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await notice(page, 'Cancelled after 200 leads marked as Paid').waitFor();

    await page.goto('/leads?status=Approved');
    await page.getByText('693 leads').waitFor();
    await page.getByRole('checkbox', { name: 'Select all loaded leads' }).check();
    await page.getByRole('button', { name: 'Select all 693 leads that match' }).click();
    await page.getByRole('button', { name: 'Assign' }).click();
    const assigning = page.getByRole('dialog', { name: 'Assign all 693 leads that match?' });
    await assigning.getByLabel('Assignee').selectOption(member.userId);
    expect(await findViolations(page)).toEqual([]);
    await assigning.getByRole('button', { name: 'Assign' }).click();
    await notice(page, '693 leads assigned').waitFor();
    const assigned = await website.fixture.sql(
      'SELECT status::text, count(*)::int AS count FROM lead WHERE assignee_id = $1 GROUP BY 1',
      [member.userId],
    );
    expect(assigned).toEqual([{ status: 'Approved', count: 693 }]);

    // By the keyboard, the message undoes the assignment. After a reload, the list of jobs undoes an earlier change.
    await notice(page, '693 leads assigned').getByRole('button', { name: 'Undo' }).press('Enter');
    const undone = notice(page, '693 leads changed back from the assignment');
    await undone.waitFor();
    expect(await undone.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    expect(await website.fixture.sql('SELECT FROM lead WHERE assignee_id = $1', [member.userId])).toEqual([]);
    const started = notice(page, '693 leads assigned').getByRole('button', { name: 'Undo started' });
    await expect.poll(() => started.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    // The undo of the assignment is the newest change of all leads.
    await page.reload();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Changes in the background' }).click();
    const list = page.getByRole('dialog', { name: 'Changes in the background' });
    await expect.poll(() => jobsOf(list).count()).toBe(4);
    await expectGoodEverywhere(page, 'leads-jobs');
    await list.getByRole('button', { name: 'Undo: 693 leads marked as Approved' }).click();
    await list.getByText('0 leads changed back from the change to Approved').waitFor();
    await jobsOf(list).first().getByText('693 leads could not be changed').waitFor();
    await jobsOf(list).first().getByText('The lead was changed since').waitFor();
  });

  test('of all leads shows its progress and its result in every state, also if the page is reloaded meanwhile', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(workspace, member, 2);
    const add = async (values: Record<string, unknown>) => {
      const [job] = await website.fixture.sql<{ id: string }>(
        `INSERT INTO lead_job
           (id, workspace_id, user_id, action, filters, status, state, undoes, total, changed, refused, refusals, next_step_at)
         SELECT gen_random_uuid(), $1, $2, action, '{}', status, state, undoes, total, changed, refused, refusals,
           now() + interval '1 day'
         FROM jsonb_populate_record(NULL::lead_job, $3::jsonb) RETURNING id`,
        [
          workspace.id,
          member.userId,
          JSON.stringify({
            action: 'status',
            status: 'Approved',
            state: 'running',
            changed: 0,
            refused: 0,
            refusals: [],
            ...values,
          }),
        ],
      );
      return job?.id ?? '';
    };
    const counting = await add({ action: 'assign', status: null });
    const done = await add({ total: 900, changed: 300 });
    const refusing = await add({ status: 'Paid', total: 500, changed: 100, refused: 7 });
    const failing = await add({ status: 'Trashed', total: 400, changed: 200 });
    const cancelled = await add({ status: 'OnHold', total: 50, changed: 20 });
    const undo = await add({ state: 'undoing', undoes: done, total: 800, changed: 60 });
    const end = (id: string, state: string, changes: object = {}) =>
      website.fixture.sql(
        `UPDATE lead_job SET state = $2, finished_at = now(), changed = coalesce(($3::jsonb->>'changed')::int, changed),
           refusals = coalesce($3::jsonb->'refusals', refusals) WHERE id = $1`,
        [id, state, JSON.stringify(changes)],
      );
    const progress = (name: string) => page.getByRole('progressbar', { name, exact: true });
    const running = [
      'Assigning leads',
      'Marking leads as Approved: 300 of 900',
      'Marking leads as Paid: 100 of 500',
      'Marking leads as Trashed: 200 of 400',
      'Marking leads as On hold: 20 of 50',
      'Undoing the change to Approved: 60 of 800',
    ];
    await page.goto('/leads');
    for (const name of running) await progress(name).waitFor({ state: 'attached' });
    await page.getByText('7 leads could not be changed').waitFor();
    await page.reload();
    for (const name of running) await progress(name).waitFor({ state: 'attached' });

    // Three end while the page is open, and three while it is not.
    await end(counting, 'done', { changed: 40 });
    await end(undo, 'done', { changed: 800 });
    await end(failing, 'failed');
    await notice(page, '40 leads assigned').waitFor();
    await notice(page, '800 leads changed back from the change to Approved').waitFor();
    await notice(page, 'Stopped after 200 leads').getByText('no longer owner or manager').waitFor();
    await page.goto('about:blank');
    await end(done, 'done', { changed: 900 });
    await end(refusing, 'done', {
      changed: 493,
      refusals: [{ id: randomUUID(), message: 'A lead cannot go from OnHold to Paid' }],
    });
    await end(cancelled, 'cancelled');
    await page.goto('/leads');
    await notice(page, '900 leads marked as Approved').waitFor();
    await notice(page, '7 leads could not be changed')
      .getByText('A lead cannot go from OnHold to Paid')
      .waitFor();
    await notice(page, 'Cancelled after 20 leads marked as On hold').waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(0);
    await expectGoodEverywhere(page, 'leads-jobs-ended');

    await page.reload();
    await rowOf(page, 'Person 0000').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Changes in the background' }).click();
    const list = page.getByRole('dialog', { name: 'Changes in the background' });
    const item = (text: string) => jobsOf(list).filter({ hasText: text });
    for (const text of [
      '40 leads assigned',
      '900 leads marked as Approved',
      'Stopped after 200 leads',
      'Cancelled after 20 leads marked as On hold',
      '800 leads changed back from the change to Approved',
    ]) {
      await item(text).first().waitFor();
    }
    await item('493 leads marked as Paid')
      .getByText('A lead cannot go from OnHold to Paid')
      .first()
      .waitFor();
    // What an undo has undone cannot be undone again, and neither can the undo.
    await item('900 leads marked as Approved').getByText('Undo started').waitFor();
    expect(await item('changed back').getByRole('button').count()).toBe(0);
  });

  test('to Paid requires a confirmation, and only an owner can undo it', async () => {
    const manager = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(manager.workspace, manager.member, 1, () => ({ status: 'Approved' }));
    await manager.page.goto('/leads');
    await rowOf(manager.page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await manager.page.getByRole('menuitem', { name: 'Mark as Paid' }).click();
    await manager.page.getByRole('dialog', { name: 'Mark as Paid?' }).waitFor();
    expect((await storedOf(id)).status).toBe('Approved');
    await manager.page.getByRole('button', { name: 'Mark as paid' }).click();
    const notification = notice(manager.page, '1 lead marked as Paid');
    await notification.waitFor();
    expect(await notification.getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await rowOf(manager.page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await manager.page.getByText('This lead cannot change to that status').waitFor();

    const owner = await website.openSignedIn({ workspace: manager.workspace });
    await owner.page.goto(`/leads?lead=${id}`);
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Mark as Approved' }).click();
    await owner.page.getByRole('radio', { name: 'Marked by mistake' }).waitFor();
    await owner.page.keyboard.press('Escape');
    await owner.page.getByRole('dialog', { name: /^Why mark/ }).waitFor({ state: 'detached' });
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Mark as Approved' }).click();
    await owner.page.getByRole('radio', { name: 'Marked by mistake' }).check();
    await owner.page.keyboard.press('Enter');
    const back = notice(owner.page, '1 lead marked as Approved');
    await back.getByRole('button', { name: 'Undo' }).click();
    await notice(owner.page, 'Undone for 1 lead').waitFor();
    expect((await storedOf(id)).changes).toEqual(['Paid', 'Approved (Marked by mistake)', 'Paid']);
  });

  test('is not offered to publishers, who see only their own leads', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'publisher' });
    const [id] = await addLeads(workspace, member, 1, () => ({ name: 'Mine' }));
    await addLeads(workspace, workspace.owner, 1, () => ({ name: 'Theirs' }));
    await page.goto('/leads');
    await rowOf(page, 'Mine').waitFor();
    await page.getByText('1 lead', { exact: true }).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Change the status' }).count()).toBe(0);
    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.getByText('Move to another lead').waitFor();
    for (const action of ['Select', 'Approve', 'Trash', 'Undo the last change of status']) {
      expect(await shortcuts.getByText(action, { exact: true }).count()).toBe(0);
    }
    await page.keyboard.press('Escape');
    await shortcuts.waitFor({ state: 'detached' });
    await grid(page).focus();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**lead=${id}`);
    await page.getByText('Created by you').waitFor();
    expect(await page.getByRole('button', { name: /Mark as/ }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
  });
});

describe('the lead detail', () => {
  test('keeps what the user enters while a note and an edit are stored', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(workspace, member, 1);
    await page.goto(`/leads?lead=${id}`);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    await openEdit(panel);
    const [note, city, region] = ['New note', 'City', 'Region'].map((label) => panel.getByLabel(label));
    if (!note || !city || !region) throw new Error('A field is missing');

    const storedNote = await hold(page, /\/notes$/, 'POST');
    await note.fill('Call after six');
    await note.press('Control+Enter');
    await note.fill('Speaks French');
    await city.fill('London');
    storedNote.release();
    await panel.getByRole('list', { name: 'Notes' }).getByText('Call after six').waitFor();
    expect(await note.inputValue()).toBe('Speaks French');
    expect(await city.evaluate((field) => document.activeElement === field)).toBe(true);

    const storedEdit = await hold(page, new RegExp(`/order/leads/${id}$`), 'PATCH');
    await city.press('Enter');
    await region.fill('Kent');
    storedEdit.release();
    await notice(page, 'Saved').waitFor();
    expect([await city.inputValue(), await region.inputValue()]).toEqual(['London', 'Kent']);
    await region.press('Enter');
    await expect
      .poll(() => website.fixture.sql('SELECT city, region FROM lead WHERE id = $1', [id]))
      .toEqual([{ city: 'London', region: 'Kent' }]);

    const callback = panel.getByLabel('Call-back');
    const storedTime = await hold(page, new RegExp(`/order/leads/${id}$`), 'PATCH');
    await callback.fill('2027-01-05T10:00');
    await callback.press('Enter');
    await callback.fill('2027-01-06T11:00');
    await panel.locator('button[data-loading]').waitFor();
    storedTime.release();
    await panel.locator('button[data-loading]').waitFor({ state: 'detached' });
    expect(await callback.inputValue()).toBe('2027-01-06T11:00');
  });

  test('stores an assignee that is chosen while a call-back is stored, and reports one that is rejected meanwhile', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(workspace, member, 1);
    const former = await workspace.addMember('manager');
    await page.goto(`/leads?lead=${id}`);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const callback = panel.getByLabel('Call-back');
    const assignee = panel.getByLabel('Assignee');
    const stored = () =>
      website.fixture.sql('SELECT assignee_id, callback_at IS NOT NULL AS planned FROM lead WHERE id = $1', [
        id,
      ]);

    const first = await hold(page, new RegExp(`/order/leads/${id}$`), 'PATCH');
    await callback.fill('2027-01-05T10:00');
    await callback.press('Enter');
    await panel.locator('button[data-loading]').waitFor();
    await assignee.selectOption(member.userId);
    expect(await assignee.inputValue()).toBe(member.userId);
    first.release();
    await expect.poll(stored).toEqual([{ assignee_id: member.userId, planned: true }]);
    await panel.getByLabel('Assignee').and(page.locator('[aria-busy="false"]')).waitFor();

    const second = await hold(page, new RegExp(`/order/leads/${id}$`), 'PATCH');
    await assignee.selectOption(former.userId);
    await website.fixture.sql('DELETE FROM member WHERE user_id = $1', [former.userId]);
    await callback.fill('');
    await callback.press('Enter');
    second.release();
    await notice(page, 'A change of Person 0000 was not saved').waitFor();
    await expect.poll(stored).toEqual([{ assignee_id: member.userId, planned: false }]);
  });

  test('asks before it discards edits', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 2);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await rowOf(page, 'Person 0000').getByRole('link').click();
    const drawer = page.getByRole('dialog', { name: 'Lead', exact: true });
    const city = drawer.getByLabel('City');
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    await openEdit(drawer);
    await city.fill('London');
    const leave = [
      () => page.keyboard.press('Escape'),
      () => drawer.getByRole('button', { name: 'Close' }).click(),
      () => page.goBack(),
    ];
    for (const each of leave) {
      await each();
      await question.waitFor();
      expect(await findViolations(page)).toEqual([]);
      await screenshot(page, 'leads-discard');
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await city.inputValue()).toBe('London');
    }
    await page.keyboard.press('Escape');
    // Escape closes only the question.
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await city.inputValue()).toBe('London');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await drawer.waitFor({ state: 'detached' });

    // A saved edit is closed without a question.
    await rowOf(page, 'Person 0000').getByRole('link').click();
    await openEdit(drawer);
    expect(await city.inputValue()).toBe('');
    await city.fill('Paris');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await notice(page, 'Saved').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(await question.count()).toBe(0);
  });

  test('shows errors beside the fields and does not overwrite a concurrent change', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [first = ''] = await addLeads(workspace, member, 1, () => ({ name: 'First of all' }));
    const [id = ''] = await addLeads(workspace, member, 1, () => ({
      duplicateOf: first,
      status: 'Trashed',
      s1: 'click-1',
      lpName: 'spring',
      extra: JSON.stringify({ utm: { source: 'newsletter' } }),
    }));
    await page.goto(`/leads?lead=${id}`);
    const drawer = page.getByRole('dialog', { name: 'Lead', exact: true });
    await drawer.getByText('"source": "newsletter"').waitFor();
    await drawer.getByText('click-1').waitFor();
    await drawer.getByText('Created by').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-detail');

    await openEdit(drawer);
    expect(await findViolations(page)).toEqual([]);
    await drawer.getByLabel('Email address').fill('ada@example.com');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Must end in .io', { exact: true }).waitFor();
    await drawer.getByLabel('Email address').fill('ada@example.io');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await notice(page, 'Saved').waitFor();
    await drawer.getByText('Email address: empty to ada@example.io').waitFor();

    // A change by another user shows, and one that arrives during an edit is not overwritten.
    await changeAs(workspace.owner, id, { address: '1 Elsewhere Road' });
    await expect
      .poll(() => drawer.getByLabel('Address', { exact: true }).inputValue())
      .toBe('1 Elsewhere Road');
    await drawer.getByLabel('Name', { exact: false }).first().fill('Grace Hopper');
    await changeAs(workspace.owner, id, { city: 'London' });
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Someone else changed this lead meanwhile').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await pressOn(page, 'Load the current version');
    await expect.poll(() => drawer.getByLabel('City').inputValue()).toBe('London');
    // The focused button is gone, and the focus is still in the drawer.
    await expectFocusWithin(drawer);
    await pressOn(page, 'Save');
    await drawer.getByRole('heading', { level: 2, name: 'Grace Hopper' }).waitFor();
    const [stored] = await website.fixture.leads.find({ workspaceId: workspace.id }, [id]);
    expect(stored).toMatchObject({ name: 'Grace Hopper', city: 'London', email: 'ada@example.io' });

    await drawer.getByRole('button', { name: 'Open the original' }).click();
    await page.waitForURL(`**lead=${first}`);
    await drawer.getByRole('heading', { level: 2, name: 'First of all' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL('**/leads');
    await page.goto(`/leads?lead=${randomUUID()}`);
    await page.getByText('This lead does not exist').waitFor();
  });
});

test('payouts, hold times and the other chosen columns are shown in the list, the panel and the history, and managers change them', async () => {
  const { page, workspace, member } = await website.openSignedIn({
    role: 'manager',
    width: 1440,
    height: 900,
  });
  const [id = ''] = await addLeads(workspace, member, 2);
  await website.fixture.sql(
    `UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR', approve_after_seconds = 10800 WHERE id = $1`,
    [workspace.demoCampaignId],
  );
  await website.fixture.sql(
    `UPDATE lead SET approve_at = now() + interval '3 hours', assignee_id = $2, s1 = 'click-7', lp_name = 'spring',
       source = 'intake', email = 'ada@example.io', city = 'Oslo' WHERE id = $1`,
    [id, member.userId],
  );
  // The list requests them for chosen columns only.
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto('/leads');
  await rowOf(page, 'Person 0000').waitFor();
  expect(requests.filter((url) => url.includes('/lead-columns'))).toEqual([]);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Columns' }).click();
  const dialog = page.getByRole('dialog', { name: 'Columns of the list' });
  await dialog.getByRole('checkbox', { name: 'Show Payout' }).check();
  await dialog.getByRole('checkbox', { name: 'Show Approval due' }).check();
  const others = ['Assignee', 'Sub-id (s1)', 'Landing page', 'Source', 'Email address', 'City'];
  for (const name of others) await dialog.getByRole('checkbox', { name: `Show ${name}` }).check();
  await expectGoodEverywhere(page, 'leads-columns');
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  const row = rowOf(page, 'Person 0000');
  const amount = row.getByRole('gridcell', { name: '€12.50' });
  expect(await amount.evaluate((cell) => getComputedStyle(cell).textAlign)).toBe('end');
  await row.getByRole('gridcell', { name: 'in 3 hours' }).waitFor();
  const shown = ['Test Person', 'click-7', 'spring', 'Intake', 'ada@example.io', 'Oslo'];
  await expect.poll(async () => (await row.getByRole('gridcell').allInnerTexts()).slice(-6)).toEqual(shown);
  await expectGoodEverywhere(page, 'leads-all-columns');

  await row.getByRole('link').click();
  const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
  await panel.getByText('€12.50 expected').waitFor();
  await panel.getByText('payout of the campaign').waitFor();
  await panel.getByText('Approved automatically in 3 hours').waitFor();
  await panel.getByRole('button', { name: 'Set the payout' }).click();
  await panel.getByLabel('Amount').fill('1e3');
  await panel.getByLabel('Reason').fill('Agreed by phone');
  await panel.getByRole('button', { name: 'Set the payout' }).click();
  await panel.getByText('Must be a decimal number such as "12.5"').waitFor();
  await expectGoodEverywhere(page, 'leads-payout');
  await panel.getByLabel('Amount').fill('20.25');
  await panel.getByLabel('Currency').selectOption('USD: US Dollar');
  await panel.getByRole('button', { name: 'Set the payout' }).click();
  await panel.getByText('$20.25 expected').waitFor();
  await panel.getByText('Payout set to $20.25 (set for this lead)').waitFor();
  await row.getByRole('gridcell', { name: '$20.25' }).waitFor();

  await panel.getByRole('button', { name: 'Keep from automatic approval' }).click();
  await panel.getByLabel('Reason').fill('Waiting for the proof of address');
  await panel.getByRole('button', { name: 'Keep from automatic approval' }).click();
  await panel.getByText('Kept from automatic approval by you: “Waiting for the proof of address”').waitFor();
  await expectGoodEverywhere(page, 'leads-kept');
  expect(await panel.getByText('Approved automatically').count()).toBe(0);
  await panel.getByRole('button', { name: 'Allow automatic approval' }).click();
  await panel.getByText('Automatic approval allowed by you').waitFor();
  await website.fixture.sql(`UPDATE campaign SET approve_after_seconds = 60 WHERE id = $1`, [
    workspace.demoCampaignId,
  ]);
  await website.fixture.sql('UPDATE lead SET approve_at = now() WHERE id = $1', [id]);
  await panel.getByRole('listitem').getByText('Approved at the end of the hold time').waitFor();
  await panel.getByText('$20.25 payable').waitFor();
  expect(await panel.innerText()).not.toContain('hold_ended');
  // Without a hold time, there is no automatic approval to keep the lead from.
  await rowOf(page, 'Person 0001').getByRole('link').click();
  await panel.getByRole('heading', { level: 2, name: 'Person 0001' }).waitFor();
  await panel.getByRole('button', { name: 'Set the payout' }).waitFor();
  expect(await panel.getByRole('button', { name: /automatic approval/ }).count()).toBe(0);

  const publisher = await website.openSignedIn({ workspace, role: 'publisher' });
  const [theirs = ''] = await addLeads(workspace, publisher.member, 1);
  await publisher.page.goto(`/leads?lead=${theirs}`);
  await publisher.page.getByText('€12.50 expected').waitFor();
  // The columns of a manager stay hidden after the member has become a publisher, and so do those of another release.
  await publisher.page.evaluate((key) => {
    const columns = { names: ['name', 'assignee', 'callbackAt', 'user', 'gone', 'source'], widths: {} };
    localStorage.setItem(key, JSON.stringify(columns));
  }, `leads.columns.${publisher.member.userId}`);
  await publisher.page.goto('/leads');
  await expect
    .poll(() => grid(publisher.page).getByRole('columnheader').allInnerTexts())
    .toEqual(['', 'Name', 'Source']);
  await publisher.page.getByRole('button', { name: 'More actions' }).click();
  await publisher.page.getByRole('menuitem', { name: 'Columns' }).click();
  await publisher.page.getByLabel('Show City').waitFor();
  for (const name of ['Assignee', 'Call-back', 'Publisher']) {
    expect(await publisher.page.getByLabel(`Show ${name}`).count()).toBe(0);
  }
  await publisher.page.goto(`/leads?lead=${theirs}`);
  await publisher.page.getByText('€12.50 expected').waitFor();
  const buttons = publisher.page.getByRole('dialog', { name: 'Lead', exact: true }).getByRole('button');
  expect((await buttons.allInnerTexts()).join()).not.toMatch(/payout|automatic/i);
});

describe('a queue', () => {
  test('is worked through in the panel with one key a lead, and shows the other users who have a lead open', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(workspace, member, 6, (i) => (i === 1 ? { phone: '+442079400000' } : {}));
    const [first = '', second = '', third = ''] = ids;
    await page.goto('/leads?status=OnHold');
    await rowOf(page, 'Person 0000').getByRole('link').click();
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const opened = (name: string) => panel.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    await opened('Person 0000');
    // The list beside the panel can be used.
    await rowOf(page, 'Person 0003').getByLabel('Select Person 0003').click();
    await page.getByRole('toolbar', { name: '1 selected' }).waitFor();
    await rowOf(page, 'Person 0000').getByRole('link').click();
    await panel.getByRole('heading', { level: 2 }).focus();
    expect(await panel.getByRole('link', { name: '+442079400000' }).getAttribute('href')).toBe(
      'tel:+442079400000',
    );
    await panel.getByRole('link', { name: /^Person 0001, On hold/ }).waitFor();

    await panel.getByLabel('Assignee').selectOption(member.userId);
    await panel.getByLabel('Call-back').fill('2026-01-31T09:30');
    await panel.getByRole('button', { name: 'Save the call-back' }).click();
    await panel.getByRole('button', { name: 'Remove the call-back' }).waitFor();
    await panel.getByLabel('New note').fill('Call after six');
    await page.keyboard.press('Control+Enter');
    await panel.getByRole('list', { name: 'Notes' }).getByText('Call after six').waitFor();
    await panel.getByRole('button', { name: /^Reply to/ }).click();
    await page.keyboard.type('He asked twice');
    await page.keyboard.press('Control+Enter');
    await panel.getByRole('list', { name: 'Notes' }).getByText('He asked twice').waitFor();
    await panel.getByText('Note added by you').first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-panel');
    const [stored] = await website.fixture.leads.find({ workspaceId: workspace.id }, [first]);
    expect(stored).toMatchObject({ version: 5, assigneeId: member.userId });

    // Another user opens the next lead of the queue, and changes the one after it.
    await website.fixture.sql(`INSERT INTO lead_viewer VALUES ($1, $2, $3, now() + interval '1 minute')`, [
      second,
      workspace.owner.userId,
      workspace.id,
    ]);
    await panel.getByRole('heading', { level: 2 }).focus();
    await page.keyboard.press('a');
    await opened('Person 0001');
    await panel.getByText('Also open by').waitFor();
    // Two quick keys move by two leads.
    for (const key of ['j', 'j', 'k', 'k']) await page.keyboard.press(key);
    await opened('Person 0001');
    await changeAs(workspace.owner, third, { status: 'Approved' });
    await rowOf(page, 'Person 0002').waitFor({ state: 'detached', timeout: 6_000 });
    await page.keyboard.press('t');
    await page.getByRole('radio', { name: 'Wrong number' }).check();
    await page.keyboard.press('Enter');
    await opened('Person 0003');
    for (const next of ['Person 0004', 'Person 0005']) {
      await page.keyboard.press('a');
      await opened(next);
    }
    // After the last lead, the panel says so, and the empty list offers all leads.
    expect(await panel.getByText('last lead').count()).toBe(0);
    await page.keyboard.press('a');
    await panel.getByRole('status').filter({ hasText: 'This was the last lead of the list' }).waitFor();
    await page.getByText('No lead matches these filters.').waitFor();
    await expectGoodEverywhere(page, 'leads-queue-end');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    // The next lead opens before the service has answered.
    await expect
      .poll(() => Promise.all(ids.map(async (id) => (await storedOf(id)).status)))
      .toEqual(['Approved', 'Trashed', 'Approved', 'Approved', 'Approved', 'Approved']);
    await pressOn(page, 'Show all leads');
    await page.getByText('6 leads').waitFor();
    await expectFocusWithin(grid(page));

    await page.goto('/leads?callbackDue=true&assignee=me');
    await page.getByText('1 lead', { exact: true }).waitFor();
    await rowOf(page, 'Person 0000').waitFor();
    await page.getByRole('button', { name: 'Remove the filter Call-back: due' }).waitFor();
  });

  test('of 50 leads is approved with 50 keys, each pressed after the name and the phone of its lead are shown', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(workspace, member, 52);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const shows = async (i: number) => {
      const digits = String(i).padStart(4, '0');
      await panel.getByRole('heading', { level: 2, name: `Person ${digits}`, exact: true }).waitFor();
      await panel.getByRole('link', { name: `+44207940${digits}`, exact: true }).waitFor();
    };
    await page.goto('/leads?status=OnHold');
    await rowOf(page, 'Person 0000').getByRole('link').click();
    await shows(0);
    await page.evaluate(() => {
      document.body.dataset['keys'] = '0';
      document.addEventListener(
        'keydown',
        () => (document.body.dataset['keys'] = String(Number(document.body.dataset['keys']) + 1)),
        true,
      );
    });
    for (let i = 0; i < 50; i++) {
      await shows(i);
      await page.keyboard.press('a');
    }
    await shows(50);
    expect(await page.evaluate(() => document.body.dataset['keys'])).toBe('50');
    const approved = async () => {
      const stored = await website.fixture.sql<{ id: string }>(
        `SELECT id FROM lead WHERE workspace_id = $1 AND status = 'Approved' ORDER BY created_at DESC`,
        [workspace.id],
      );
      return stored.map(({ id }) => id);
    };
    await expect.poll(approved).toEqual(ids.slice(0, 50));
    await page.getByText('2 leads', { exact: true }).waitFor();
  });

  test('takes fast keys: each acts on the requested status of the chosen lead, and a key before an unread lead is shown is reported', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(workspace, member, 6);
    const changes = () => Promise.all(ids.map(async (id) => (await storedOf(id)).changes));
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const opened = (name: string) => panel.getByRole('heading', { level: 2, name }).waitFor();
    const tooEarly = notice(page, 'The lead is not shown yet');
    const holdPanel = () => hold(page, /\/lead-panel-.*\.js/);
    const panelScript = await holdPanel();
    const status = await hold(page, /\/order\/leads\/status$/);
    await hold(page, new RegExp(`/order/leads/${ids[0]}$`));
    const third = await hold(page, new RegExp(`/order/leads/${ids[2]}$`));
    await page.goto('/leads');
    await rowOf(page, 'Person 0005').waitFor();
    await grid(page).focus();
    await page.keyboard.press('End');
    // The answer to the first key has not arrived when the second one follows.
    for (const key of ['a', 'p']) await page.keyboard.press(key);
    status.release();
    await notice(page, '1 lead marked as Paid').waitFor();
    expect((await storedOf(ids[5] ?? '')).changes).toEqual(['Approved', 'Paid']);
    await page.keyboard.press('u');
    await notice(page, 'Undone for 1 lead').waitFor();
    expect((await storedOf(ids[5] ?? '')).status).toBe('Approved');

    // The script of the panel and the lead are late. The key acts on the chosen lead, not on the selection.
    await page.keyboard.press('Space');
    await page.getByRole('toolbar', { name: '1 selected' }).waitFor();
    for (const key of ['Home', 'Enter', 'a']) await page.keyboard.press(key);
    panelScript.release();
    await opened('Person 0001');
    await expect
      .poll(changes)
      .toEqual([['Approved'], [], [], [], [], ['Approved', 'Paid', 'Approved (Undone)']]);

    // The user has not read the next lead.
    for (const key of ['j', 'a']) await page.keyboard.press(key);
    await tooEarly.waitFor();
    third.release();
    await opened('Person 0002');
    await page.keyboard.press('a');
    await opened('Person 0003');
    // The next lead opens before the change is stored, and a new page would cancel its request.
    const approved = async (id = '') => {
      await expect.poll(async () => (await storedOf(id)).status).toBe('Approved');
    };
    await approved(ids[2]);

    // On a narrow screen, the list takes no keys while the panel opens.
    await page.setViewportSize({ width: 390, height: 700 });
    const narrowScript = await holdPanel();
    await page.goto('/leads');
    await rowOf(page, 'Person 0003').getByRole('link').click();
    await page.waitForURL(`**lead=${ids[3]}`);
    await page.keyboard.press('a');
    await page.locator('[data-active]').filter({ hasText: 'Person 0003' }).waitFor();
    narrowScript.release();
    await opened('Person 0004');
    await approved(ids[3]);

    // The user has read no row of a lead that an address opens.
    const addressedScript = await holdPanel();
    await page.goto(`/leads?lead=${ids[4]}`);
    await page.getByText('Person 0004').waitFor();
    await page.keyboard.press('a');
    addressedScript.release();
    await tooEarly.waitFor();
    await opened('Person 0004');
    await expect
      .poll(changes)
      .toEqual([['Approved'], [], ['Approved'], ['Approved'], [], ['Approved', 'Paid', 'Approved (Undone)']]);
  });

  test('shows the lead or the page that the user has gone to, although a change that they have left is stored later', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(workspace, member, 5);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const shows = (name: string) => panel.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    const trash = async () => {
      await page.keyboard.press('t');
      await page.getByRole('radio', { name: 'Wrong number' }).check();
      const status = await hold(page, /\/order\/leads\/status$/);
      const requested = page.waitForRequest(/\/order\/leads\/status$/);
      await page.keyboard.press('Enter');
      await requested;
      return status;
    };
    await page.goto('/campaigns');
    await page.getByRole('link', { name: 'Leads', exact: true }).click();
    await rowOf(page, 'Person 0000').getByRole('link').click();
    await shows('Person 0000');
    const first = await trash();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: /^Why mark/ }).waitFor({ state: 'detached' });
    await panel.focus();
    for (const name of ['Person 0001', 'Person 0002']) {
      await page.keyboard.press('j');
      await shows(name);
    }
    first.release();
    await notice(page, '1 lead marked as Trashed').waitFor();
    await waitForFrames(page);
    await shows('Person 0002');

    const second = await trash();
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
    const answered = page.waitForResponse(/\/order\/leads\/status$/);
    second.release();
    await (await answered).finished();
    await waitForFrames(page);
    expect(page.url()).toMatch(/\/campaigns$/);
  });

  test('asks before a page with an unstored change is left', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(workspace, member, 1);
    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.type());
      void dialog.dismiss();
    });
    const status = await hold(page, /\/order\/leads\/status$/);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await grid(page).focus();
    for (const key of ['Home', 'a']) await page.keyboard.press(key);
    await grid(page).locator('[aria-busy="true"]').waitFor();
    await page.evaluate(() => location.reload());
    await expect.poll(() => questions).toEqual(['beforeunload']);
    status.release();
    await notice(page, '1 lead marked as Approved').waitFor();
    expect((await storedOf(id)).status).toBe('Approved');
    await page.reload();
    await rowOf(page, 'Person 0000').waitFor();
    expect(questions).toHaveLength(1);
  });

  test('shows the changes of another operator, and refreshes a row whose change is rejected', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [first = '', second = ''] = await addLeads(workspace, member, 4);
    const count = (text: string) => page.getByText(text, { exact: true }).waitFor({ timeout: 6_000 });
    await page.goto('/leads?status=OnHold');
    await rowOf(page, 'Person 0003').waitFor();
    await count('4 leads');
    await rowOf(page, 'Person 0000').getByLabel('Select Person 0000').click();

    await changeAs(workspace.owner, first, { status: 'Approved' });
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached', timeout: 6_000 });
    await count('3 leads');
    // A lead that has left the queue is not selected any more, also after it returns.
    await changeAs(workspace.owner, first, { status: 'OnHold' });
    await rowOf(page, 'Person 0000').waitFor({ timeout: 6_000 });
    await count('4 leads');
    expect(await page.getByRole('toolbar').count()).toBe(0);

    // The page cannot poll for the change.
    await page.route('**/api/console/order/leads?*updatedSince*', (route) => route.abort());
    await changeAs(workspace.owner, second, { status: 'Trashed', reason: 'Wrong number' });
    await changeAs(workspace.owner, second, { status: 'OnHold' });
    await changeAs(workspace.owner, second, { status: 'Approved' });
    await changeAs(workspace.owner, second, { status: 'Paid' });
    await rowOf(page, 'Person 0001').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).click();
    await page.getByRole('dialog', { name: '1 lead could not be changed' }).waitFor();
    await rowOf(page, 'Person 0001').waitFor({ state: 'detached', timeout: 6_000 });
    await count('3 leads');
    await page.unroute('**/api/console/order/leads?*updatedSince*');
  });

  test('keeps the focus in a dialog while the next lead loads, so that Escape closes the dialog only', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [first = '', second = ''] = await addLeads(workspace, member, 3);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const next = await hold(page, new RegExp(`/order/leads/${second}$`));
    await page.goto('/leads?status=OnHold');
    await rowOf(page, 'Person 0000').getByRole('link').click();
    await panel.getByRole('heading', { level: 2, name: 'Person 0000' }).waitFor();
    await page.route('**/api/console/order/leads?*updatedSince*', (route) => route.abort());
    await website.fixture.sql(`UPDATE lead SET status = 'Approved' WHERE id = $1`, [first]);

    await page.keyboard.press('a');
    const refusal = page.getByRole('dialog', { name: '1 lead could not be changed' });
    await refusal.getByRole('button').and(page.locator(':focus')).waitFor();
    next.release();
    await panel.getByRole('heading', { level: 2, name: 'Person 0001' }).waitFor();
    await refusal.getByRole('button').and(page.locator(':focus')).waitFor();
    // Escape can be earlier than the focus in the dialog.
    await panel.focus();
    await page.keyboard.press('Escape');
    await refusal.waitFor({ state: 'detached' });
    await panel.and(page.locator(':focus')).waitFor();
    expect(await panel.getByRole('heading', { level: 2 }).textContent()).toBe('Person 0001');
  });

  test('sends no change from a status that an earlier request for changes has returned late', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(workspace, member, 2);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    let isRead = false;
    let release: () => void = () => undefined;
    const released = new Promise<void>((done) => {
      release = done;
    });
    await page.route('**/api/console/order/leads?*updatedSince*', async (route) => {
      // The page gets no later version.
      if (isRead) return route.abort();
      const response = await route.fetch();
      const leads = (await response.json()) as readonly { id: string; status?: string }[];
      if (leads.some((lead) => lead.id === id && lead.status === 'Approved')) {
        isRead = true;
        await released;
      }
      return route.fulfill({ response });
    });
    await grid(page).focus();
    await page.keyboard.press('a');
    await notice(page, '1 lead marked as Approved').waitFor();
    await expect.poll(() => isRead).toBe(true);
    await page.keyboard.press('u');
    await notice(page, 'Undone for 1 lead').waitFor();
    const answered = page.waitForResponse(/updatedSince/);
    release();
    await (await answered).finished();
    await waitForFrames(page);
    await page.keyboard.press('a');
    await notice(page, '1 lead marked as Approved').waitFor();
    expect(await storedOf(id)).toEqual({ status: 'Approved', changes: ['Approved', 'OnHold', 'Approved'] });
  });

  test('of two operators shows each the open lead of the other, and refuses a key on a lead that the other has changed meanwhile', async () => {
    const ann = await website.openSignedIn({ role: 'manager' });
    const bob = await website.openSignedIn({ role: 'manager', workspace: ann.workspace });
    for (const [{ member }, name] of [
      [ann, 'Ann Archer'],
      [bob, 'Bob Baker'],
    ] as const) {
      await website.fixture.sql('UPDATE "user" SET name = $2 WHERE id = $1', [member.userId, name]);
    }
    const [first = '', second = '', third = ''] = await addLeads(ann.workspace, ann.member, 5);
    const panelOf = ({ page }: { page: Page }) => page.getByRole('dialog', { name: 'Lead', exact: true });
    const shows = (operator: { page: Page }, name: string) =>
      panelOf(operator).getByRole('heading', { level: 2, name, exact: true }).waitFor();
    for (const { page } of [ann, bob]) {
      await page.goto('/leads?status=OnHold');
      await rowOf(page, 'Person 0004').waitFor();
    }

    await rowOf(ann.page, 'Person 0000').getByRole('link').click();
    await shows(ann, 'Person 0000');
    const openByAnn = rowOf(bob.page, 'Person 0000').getByText('Open by Ann Archer');
    await openByAnn.waitFor();
    expect(await findViolations(bob.page)).toEqual([]);
    await screenshot(bob.page, 'leads-open-by');
    expect(await ann.page.getByText('Open by Ann Archer').count()).toBe(0);
    await rowOf(bob.page, 'Person 0000').getByRole('link').click();
    await panelOf(bob).getByText('Also open by Ann Archer').waitFor();
    await panelOf(ann).getByText('Also open by Bob Baker').waitFor();
    await rowOf(ann.page, 'Person 0000').getByText('Open by Bob Baker').waitFor();

    // Bob skips the lead. Ann approves it, and it leaves his queue.
    await bob.page.keyboard.press('j');
    await shows(bob, 'Person 0001');
    await panelOf(ann).getByText('Also open by').waitFor({ state: 'detached' });
    await ann.page.keyboard.press('a');
    await shows(ann, 'Person 0001');
    await rowOf(bob.page, 'Person 0000').waitFor({ state: 'detached' });
    await bob.page.getByText('4 leads', { exact: true }).waitFor();
    await panelOf(bob).getByText('Also open by Ann Archer').waitFor();

    // Bob's page does not know yet that Ann has changed the next two leads.
    await bob.page.route('**/api/console/order/leads?*updatedSince*', (route) => route.abort());
    await ann.page.keyboard.press('a');
    await shows(ann, 'Person 0002');
    await ann.page.keyboard.press('a');
    await shows(ann, 'Person 0003');
    await expect.poll(async () => (await storedOf(third)).status).toBe('Approved');
    const refusal = bob.page.getByRole('dialog', { name: '1 lead could not be changed' });
    const reason = 'The lead was changed meanwhile: it is Approved now, not OnHold';
    const current = await hold(bob.page, new RegExp(`/order/leads/${third}$`));
    // The service would allow this change of an approved lead.
    await bob.page.keyboard.press('t');
    await bob.page.getByRole('radio', { name: 'Wrong number' }).check();
    await bob.page.keyboard.press('Enter');
    await refusal.getByText(`Person 0001: ${reason}`).waitFor();
    await rowOf(bob.page, 'Person 0001').waitFor({ state: 'detached' });
    await bob.page.keyboard.press('Escape');
    await refusal.waitFor({ state: 'detached' });
    await shows(bob, 'Person 0002');
    await bob.page.keyboard.press('a');
    await refusal.getByText(`Person 0002: ${reason}`).waitFor();
    current.release();
    await rowOf(bob.page, 'Person 0002').waitFor({ state: 'detached' });
    await bob.page.keyboard.press('Escape');
    await refusal.waitFor({ state: 'detached' });
    for (const id of [first, second, third]) {
      expect(await storedOf(id)).toEqual({ status: 'Approved', changes: ['Approved'] });
    }
    const changedBy = await website.fixture.sql(
      'SELECT DISTINCT user_id AS "userId" FROM lead_change WHERE lead_id = ANY($1)',
      [[first, second, third]],
    );
    expect(changedBy).toEqual([{ userId: ann.member.userId }]);

    await bob.page.unroute('**/api/console/order/leads?*updatedSince*');
    await shows(bob, 'Person 0003');
    await bob.page.keyboard.press('Escape');
    await panelOf(bob).waitFor({ state: 'detached' });
    await rowOf(bob.page, 'Person 0003').getByText('Open by Ann Archer').waitFor();
    await ann.page.keyboard.press('Escape');
    await bob.page.getByText('Open by').waitFor({ state: 'detached' });
  });

  test('loses the leads that its operator changes, gets them back by an undo, and announces none as new', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(workspace, member, 60);
    await page.goto('/leads?status=OnHold');
    await page.getByText('60 leads').waitFor();
    const announced: string[] = [];
    await page.exposeFunction('announce', (text: string) => announced.push(text));
    await page.evaluate(() => {
      const report = (globalThis as unknown as { announce: (text: string) => void }).announce;
      const texts = () => document.body.innerText.match(/\d+ new leads?|Many changes/g) ?? [];
      const observer = new MutationObserver(() => {
        for (const text of texts()) report(text);
      });
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await rowOf(page, 'Person 0000').getByLabel('Select Person 0000').click();
    await grid(page).focus();
    for (let i = 0; i < 35; i++) await page.keyboard.press('Shift+ArrowDown');
    await page.getByRole('toolbar', { name: '36 selected' }).waitFor();
    await page.keyboard.press('a');
    await notice(page, '36 leads marked as Approved').waitFor();
    await page.getByText('24 leads', { exact: true }).waitFor();
    expect(await rowOf(page, 'Person 0035').count()).toBe(0);
    expect(await page.getByRole('toolbar').count()).toBe(0);
    // The next lead is the active one. A key changes no lead that has left.
    await page.locator('[data-active]').filter({ hasText: 'Person 0036' }).waitFor();
    await page.keyboard.press('h');
    await notice(page, 'This lead cannot change to that status').waitFor();
    expect((await storedOf(ids[0] ?? '')).changes).toEqual(['Approved']);

    // The leads that return do not move the visible rows.
    await grid(page).hover();
    await page.mouse.wheel(0, 210);
    await expect.poll(() => grid(page).evaluate((element) => element.scrollTop)).toBe(210);
    const before = await rowOf(page, 'Person 0045').boundingBox();
    await page.keyboard.press('u');
    await notice(page, 'Undone for 36 leads').waitFor();
    await page.getByText('60 leads', { exact: true }).waitFor();
    await expect.poll(() => grid(page).evaluate((element) => element.scrollTop)).toBe(210 + 36 * 42);
    expect(await rowOf(page, 'Person 0045').boundingBox()).toEqual(before);
    expect((await storedOf(ids[35] ?? '')).changes).toEqual(['Approved', 'OnHold']);
    const polled = () => page.waitForResponse((answer) => answer.url().includes('updatedSince'));
    await polled();
    await polled();
    expect(announced).toEqual([]);
  });

  test('marks unsaved changes, reports a lost connection, and sends no change late', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [first = '', second = ''] = await addLeads(workspace, member, 3);
    await page.goto('/leads');
    await rowOf(page, 'Person 0002').waitFor();
    const banner = page.getByRole('alert').filter({ hasText: 'There is no connection to the server' });
    const visit = (name: string) => page.getByRole('link', { name, exact: true }).click();
    await visit('Campaigns');
    await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
    await visit('Leads');
    await rowOf(page, 'Person 0002').waitFor();

    await page.context().setOffline(true);
    await banner.waitFor();
    await grid(page).focus();
    await page.keyboard.press('a');
    const failed = notice(page, 'The server cannot be reached');
    await failed.getByRole('button', { name: 'Try again' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-offline');
    await visit('Campaigns');
    await page.getByRole('heading', { name: 'Campaigns', exact: true }).waitFor();
    await banner.waitFor();
    await page.context().setOffline(false);
    await banner.waitFor({ state: 'detached' });
    await visit('Leads');
    await page.waitForResponse((answer) => answer.url().includes('updatedSince') && answer.ok());
    expect((await storedOf(first)).changes).toEqual([]);

    // The server does not answer the first change. The second one waits for it.
    await page.clock.install();
    await page.goto('/leads');
    await rowOf(page, 'Person 0002').waitFor();
    const sent: string[] = [];
    const route = '**/api/console/order/leads/status';
    await page.route(route, (held) => void sent.push(held.request().postData() ?? ''));
    await grid(page).focus();
    await page.keyboard.press('a');
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const pending = grid(page).locator('[aria-busy="true"]');
    await expect.poll(() => pending.count()).toBe(2);
    await expect.poll(() => sent).toHaveLength(1);
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-pending');
    await page.clock.fastForward(21_000);
    await notice(page, 'The server did not answer within 20 seconds').waitFor();
    await notice(page, 'This change was not sent').waitFor();
    await expect.poll(() => pending.count()).toBe(0);
    expect(sent).toHaveLength(1);
    expect((await storedOf(second)).changes).toEqual([]);
    await page.unroute(route);
    await notice(page, 'This change was not sent').getByRole('button', { name: 'Try again' }).click();
    await notice(page, '1 lead marked as Approved').waitFor();
    expect((await storedOf(second)).changes).toEqual(['Approved']);
    expect((await storedOf(first)).changes).toEqual([]);

    // An undo that waits for an unanswered change is not sent late either.
    await notice(page, 'did not answer').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(async () => (await storedOf(first)).changes).toEqual(['Approved']);
    await page.route(route, (held) => void sent.push(held.request().postData() ?? ''));
    await grid(page).focus();
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await expect.poll(() => sent).toHaveLength(2);
    await page.keyboard.press('u');
    await page.clock.fastForward(21_000);
    await notice(page, 'This change was not sent').waitFor();
    await page.unroute(route);
    await page.evaluate(() => fetch('/icon.svg').then(() => undefined));
    expect((await storedOf(first)).changes).toEqual(['Approved']);
    await notice(page, 'This change was not sent').getByRole('button', { name: 'Try again' }).click();
    await notice(page, 'Undone for 1 lead').waitFor();
    expect((await storedOf(first)).changes).toEqual(['Approved', 'OnHold']);

    // A change in the panel fails after the panel shows the next lead.
    const edit = `**/api/console/order/leads/${first}`;
    await page.route(edit, (held) => (held.request().method() === 'PATCH' ? undefined : held.fallback()));
    await rowOf(page, 'Person 0000').getByRole('link').click();
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    await panel.getByLabel('Assignee').selectOption(member.userId);
    await panel.getByRole('heading', { level: 2, name: 'Person 0000' }).focus();
    await page.keyboard.press('j');
    await panel.getByRole('heading', { level: 2, name: 'Person 0001' }).waitFor();
    await page.clock.fastForward(21_000);
    const lost = notice(page, 'A change of Person 0000 was not saved');
    await lost.waitFor();
    await page.unroute(edit);
    await lost.getByRole('button', { name: 'Try again' }).click();
    const assignees = () =>
      website.fixture.sql('SELECT id FROM lead WHERE assignee_id = $1', [member.userId]);
    await expect.poll(assignees).toEqual([{ id: first }]);
  });
});

describe('the list of due call-backs', () => {
  test('shows a call-back when its time comes, and loses one whose time is moved', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [due = '', later = ''] = await addLeads(workspace, member, 2);
    // As when its time comes, the lead does not change.
    const setCallback = (id: string, hours: number) =>
      website.fixture.sql('UPDATE lead SET callback_at = now() + make_interval(hours => $2) WHERE id = $1', [
        id,
        hours,
      ]);
    await setCallback(due, -1);
    await setCallback(later, 1);
    await page.clock.install();
    await page.goto('/leads?callbackDue=true');
    await rowOf(page, 'Person 0000').waitFor();
    await page.getByText('1 lead', { exact: true }).waitFor();
    await setCallback(later, -2);
    // One step of the clock only, because the next one would also end the time limit of a request in progress.
    const reloaded = page.waitForResponse(/\/order\/leads\?.*callbackDue=true/);
    await page.clock.fastForward(30_000);
    await (await reloaded).finished();
    await expect.poll(() => rowOf(page, 'Person 0001').count()).toBe(1);
    await page.getByText('2 leads', { exact: true }).waitFor();

    await rowOf(page, 'Person 0000').getByRole('link').click();
    const callback = page.getByRole('dialog', { name: 'Lead', exact: true }).getByLabel('Call-back');
    await callback.fill('2999-01-05T10:00');
    await callback.press('Enter');
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    await page.getByText('1 lead', { exact: true }).waitFor();
  });
});

describe('new leads', () => {
  test('of both services appear at once, but wait for a click if the list is scrolled', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(workspace, member, 300);
    await page.goto('/leads');
    await page.getByText('300 leads').waitFor();
    const create = async (name: string) => {
      const answer = await fetch(`${website.crm}/api/v1/order/leads`, {
        method: 'POST',
        headers: { ...member.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ campaignCode: 'DEMO', name, phone: '+442079460958' }),
      });
      expect(answer.status).toBe(200);
    };
    const submit = async (name: string) => {
      const answer = await fetch(`${website.intake}/api/v1/leads`, {
        method: 'POST',
        headers: { API_KEY: member.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ name, phone: '+442079460958' }),
      });
      expect(answer.status).toBe(200);
    };
    await create('From the CRM');
    await submit('From a landing page');
    await rowOf(page, 'From the CRM').waitFor({ timeout: 6_000 });
    await rowOf(page, 'From a landing page').waitFor({ timeout: 6_000 });
    await page.getByText('302 leads').waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /2 leads arrived/ })
      .waitFor({ state: 'attached' });

    const heads = await page.getByRole('columnheader', { name: 'Phone' }).boundingBox();
    await grid(page).hover();
    await page.mouse.wheel(0, 900);
    const seen = rowOf(page, 'Person 0030');
    await seen.waitFor();
    expect(await page.getByRole('columnheader', { name: 'Phone' }).boundingBox()).toEqual(heads);
    const before = await seen.boundingBox();
    await submit('While scrolled');
    await page.getByRole('button', { name: '1 new lead' }).waitFor({ timeout: 6_000 });
    expect(await seen.boundingBox()).toEqual(before);
    await screenshot(page, 'leads-pill');
    await grid(page).focus();
    await page.keyboard.press('Shift+Tab');
    await expectFocusOn(page, '1 new lead');
    await page.keyboard.press('Enter');
    await rowOf(page, 'While scrolled').waitFor();
    expect(await grid(page).evaluate((element) => element.scrollTop)).toBe(0);
    await expectFocusOn(page, 'Leads');

    // A change by another user updates the row in place.
    await changeAs(workspace.owner, id, { status: 'Approved', name: 'Changed elsewhere' });
    await rowOf(page, 'Changed elsewhere').getByText('Approved').waitFor({ timeout: 6_000 });
    expect(await rowOf(page, 'Person 0000').count()).toBe(0);
  });

  test('are requested less and less often while the service is unavailable', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 1);
    await page.clock.install();
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    /** The times of the requests by the page's clock, which also advances by itself. */
    const requestedAt: number[] = [];
    await page.route('**/api/console/order/leads?*updatedSince*', async (route) => {
      requestedAt.push(await page.evaluate(() => Date.now()));
      await route.abort();
    });
    const advance = async (ms: number) => {
      await page.clock.fastForward(ms);
      // Requests that are due are sent before the response to this request.
      await page.evaluate(() => fetch('/icon.svg').then(() => undefined));
    };
    for (let times = 0; requestedAt.length < 4; times++) {
      expect(times).toBeLessThan(200);
      await advance(250);
    }
    const gaps = requestedAt.slice(1).map((at, index) => at - (requestedAt[index] ?? 0));
    expect(gaps[0]).toBeGreaterThan(2_500);
    expect(gaps[1]).toBeGreaterThan(5_500);
    expect(gaps[2]).toBeGreaterThan(11_500);
    await page.getByText('New leads cannot be fetched').waitFor();

    // A hidden page sends no requests. It sends one as soon as it is visible again.
    const setHidden = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await setHidden(true);
    await advance(120_000);
    expect(requestedAt).toHaveLength(4);
    await setHidden(false);
    await expect.poll(() => requestedAt).toHaveLength(5);
    await page.unroute('**/api/console/order/leads?*updatedSince*');
  });
});

describe('the command palette', () => {
  const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Search leads, pages and actions' });
  const box = (page: Page) => paletteOf(page).getByRole('combobox');

  test('finds a lead by the digits of its phone, and only a key after the lead is shown approves it', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(workspace, member, 30);
    const palette = paletteOf(page);
    /** The name of the lead that Enter would open, and that a screen reader announces. */
    const chosen = async () => {
      const id = await box(page).getAttribute('aria-activedescendant');
      return page.locator(`[id="${id}"] span`).first().textContent();
    };
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const opened = (name: string) => panel.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    // The script of the palette and the search arrive late. The list must take none of the keys as its own.
    const script = await hold(page, /command-palette-.*\.js/);
    const answer = await hold(page, /\/order\/leads\?q=/);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await grid(page).focus();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('7940001a');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('7');
    script.release();
    await expect.poll(() => box(page).inputValue()).toBe('79400017');
    await page.keyboard.press('Enter');
    await page.keyboard.press('a');
    answer.release();
    await page.keyboard.press('a');
    await opened('Person 0017');
    await page.keyboard.press('a');
    await opened('Person 0018');
    await expect.poll(async () => (await storedOf(ids[17] ?? '')).changes).toEqual(['Approved']);
    const changed = await website.fixture.sql('SELECT FROM lead WHERE workspace_id = $1 AND version > 1', [
      workspace.id,
    ]);
    expect(changed).toHaveLength(1);

    // Another lead, while the panel of this one is open. Enter chooses none of several leads that the user has not seen.
    await page.keyboard.press('Control+k');
    // Enter after a text does not change the open lead.
    await box(page).fill('approved');
    await palette.getByRole('option', { name: 'Mark as Approved' }).waitFor();
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(null);
    await box(page).fill('person');
    await page.keyboard.press('Enter');
    await palette.getByRole('option', { name: 'Person 0007' }).waitFor();
    expect(await chosen()).toBe('Person 0000');
    await page.keyboard.press('ArrowDown');
    await expect.poll(chosen).toBe('Person 0001');
    await page.keyboard.press('Enter');
    await opened('Person 0001');
    await expectFocusWithin(panel);
  });

  test('goes to pages, campaigns, views and workspaces, and starts the actions of the page', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const other = await website.fixture.createWorkspace();
    await other.addMember('publisher', { email: member.email });
    await addLeads(workspace, member, 3);
    await website.fixture.sql(
      `INSERT INTO saved_view (id, workspace_id, user_id, name, filters)
       VALUES (gen_random_uuid(), $1, $2, 'To call', '{"status":"OnHold"}')`,
      [workspace.id, member.userId],
    );
    await page.goto('/overview');
    const find = async (text: string, option: string) => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Control+k');
      await box(page).fill(text);
      await page.getByRole('option', { name: option, exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await box(page).waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Search or go to' }).click();
    await box(page).waitFor();
    expect(await page.getByRole('option', { name: 'Audit log' }).count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // The page behind the palette changes its colors by transitions.
      expect(await findViolations(page, { within: '[role="dialog"]' })).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 700 });
    await expect.poll(() => overflow(page)).toBe(0);
    await screenshot(page, 'palette-phone');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Escape');
    await expectFocusOn(page, 'Search or go to');

    await find('to ca', 'To call');
    await page.waitForURL(/\/leads\?.*status=OnHold/);
    await page.getByRole('button', { name: 'Views: To call' }).waitFor();
    await find('new le', 'New lead');
    const dialog = page.getByRole('dialog', { name: 'New lead' });
    await dialog.getByLabel('Name').fill('Ada');
    await page.keyboard.press('Control+k');
    expect(await box(page).count()).toBe(0);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await find('demo', 'DEMO');
    await page.waitForURL(/\/campaigns\//);
    await find('integr', 'Integrations');
    await page.getByRole('button', { name: 'New webhook' }).waitFor();
    await find('new webh', 'New webhook');
    await page.getByRole('dialog', { name: 'New webhook' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // A key is made, replaced and revoked. Enter after a text does not choose the action of one key.
    await find('profile', 'Profile');
    await page.getByRole('button', { name: 'Create an API key' }).waitFor();
    await find('create api', 'Create an API key');
    await page.getByRole('dialog', { name: 'Create an API key' }).getByLabel('Name').fill('Shop');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await find('developers', 'Developers');
    // The profile has the same button.
    await page.getByRole('heading', { name: 'Developers', level: 1 }).waitFor();
    await page.getByRole('button', { name: /^Rotate Shop/ }).waitFor();
    await page.keyboard.press('Control+k');
    await box(page).fill('rotate shop');
    await page.getByRole('option', { name: /^Rotate Shop/ }).waitFor();
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(null);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create a replacement for this key?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await find('create access', 'Create an access token');
    await page.getByRole('dialog', { name: 'Create an access token' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await find('usage', 'Usage');
    await page.waitForURL('**tab=usage');
    // A workspace opens only if the user has moved to it.
    await page.keyboard.press('Control+k');
    await box(page).fill(other.slug);
    await page.getByRole('option', { name: other.slug }).waitFor();
    expect(await box(page).getAttribute('aria-activedescendant')).toBe(null);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/w/${other.slug}/leads`));
  });
});

describe('an exported file', () => {
  test('contains exactly the filtered leads', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(workspace, member, 1_200, (i) => ({ status: i % 2 === 0 ? 'Approved' : 'OnHold' }));
    await page.goto('/leads?status=Approved&q=person');
    await page.getByText('600 leads').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Export as CSV' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^leads-.*\.csv$/);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(601);
    expect(lines.slice(1).every((line) => line.includes('Approved'))).toBe(true);
  });

  test('of a selection contains the selected leads in the order of the list, and the selection can be assigned', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(workspace, member, 5);
    await page.goto('/leads?sort=createdAt');
    for (const name of ['Person 0003', 'Person 0001']) await rowOf(page, name).getByRole('checkbox').check();
    const toolbar = page.getByRole('toolbar', { name: '2 selected' });
    await toolbar.getByRole('button', { name: 'Export', exact: true }).click();
    expect(await findViolations(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Export as JSON lines' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^leads-.*\.ndjson$/);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([ids[3], ids[1]]);

    await toolbar.getByRole('button', { name: 'Assign' }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign 2 leads?' });
    await dialog.getByLabel('Assignee').selectOption(member.userId);
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await notice(page, '2 leads assigned').waitFor();
    await dialog.waitFor({ state: 'detached' });
    const assigned = await website.fixture.sql<{ id: string }>('SELECT id FROM lead WHERE assignee_id = $1', [
      member.userId,
    ]);
    expect(new Set(assigned.map(({ id }) => id))).toEqual(new Set([ids[1], ids[3]]));
    await screenshot(page, 'leads-bulk');

    // Another user changes one of the leads before the undo.
    await website.fixture.sql('UPDATE lead SET version = version + 1 WHERE id = $1', [ids[3]]);
    await notice(page, '2 leads assigned').getByRole('button', { name: 'Undo' }).click();
    await notice(page, 'Undone for 1 lead').waitFor();
    await page
      .getByRole('dialog', { name: '1 lead could not be changed' })
      .getByText('Person 0003')
      .waitFor();
    const left = await website.fixture.sql('SELECT id FROM lead WHERE assignee_id = $1', [member.userId]);
    expect(left).toEqual([{ id: ids[3] }]);
  });
});

describe('with the keyboard only', () => {
  test('a lead is approved with only `/` or Ctrl K, its digits, Enter and a, and no other lead while the search is late', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(workspace, member, 250, (i) => (i < 240 ? {} : { phone: `+33123456${i}` }));
    const approved = async () => {
      const stored = await website.fixture.sql<{ id: string }>(
        `SELECT id FROM lead WHERE workspace_id = $1 AND status = 'Approved'`,
        [workspace.id],
      );
      return stored.map(({ id }) => ids.indexOf(id)).toSorted((a, b) => a - b);
    };
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const script = await hold(page, /command-palette-.*\.js/);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    await page.evaluate(() => {
      document.addEventListener('keydown', ({ key }) => (document.body.dataset['keys'] += ` ${key}`), true);
      document.body.dataset['keys'] = '';
    });
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const search = async (open: '/' | 'Control+k', digits: string) => {
      await press(open);
      await page.keyboard.type(digits);
      await press('Enter');
    };
    const pressed = () => page.evaluate(() => document.body.dataset['keys']?.trim());

    await search('/', '79400017');
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    await page.locator('[data-active]').filter({ hasText: '+442079400017' }).waitFor();
    await press('a');
    await notice(page, '1 lead marked as Approved').waitFor();
    expect(await approved()).toEqual([17]);
    expect(await pressed()).toBe('/ 7 9 4 0 0 0 1 7 Enter a');

    // The script of the palette arrives after the last key.
    await search('Control+k', '79400018');
    script.release();
    await panel.getByRole('heading', { level: 2, name: 'Person 0018' }).waitFor();
    await panel.getByText('+442079400018').waitFor();
    await press('a');
    await expect.poll(approved).toEqual([17, 18]);
    expect(await pressed()).toBe('/ 7 9 4 0 0 0 1 7 Enter a Control k 7 9 4 0 0 0 1 8 Enter a');

    // The user has not read the row that the list still shows.
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    const answer = await hold(page, /\/order\/leads\?.*q=33123456/);
    await search('/', '33123456');
    await press('a', 'Enter');
    await notice(page, 'The lead is not shown yet').waitFor();
    answer.release();
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    expect(await panel.count()).toBe(0);
    // Of several results that the list has not shown before, the first one is the active row.
    await page.locator('[data-active]').filter({ hasText: 'Person 0240' }).waitFor();
    await press('a');
    await expect.poll(approved).toEqual([17, 18, 240]);
  });

  test('leads can be found, selected, changed, opened and created', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(workspace, member, 5);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-shortcuts');
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The focus returns to the list a moment after the dialog has closed.
    const isOnList = () => grid(page).evaluate((element) => document.activeElement === element);
    await expect.poll(isOnList).toBe(true);
    const answered = page.waitForResponse((answer) => /leads\?.*q=person(&|$)/.test(answer.url()));
    await press('/');
    await page.keyboard.type('person');
    await press('Enter');
    await page.waitForURL('**q=person');
    await expect.poll(isOnList).toBe(true);
    // Keys change no lead before the answer is shown.
    await answered;
    await page.locator('[aria-busy="false"]').getByRole('grid').waitFor();
    const active = async () =>
      page.locator(`[id="${await grid(page).getAttribute('aria-activedescendant')}"]`).textContent();
    await press('j');
    await expect.poll(active).toContain('Person 0001');
    await press('k', 'ArrowDown');
    await expect.poll(active).toContain('Person 0001');

    await press(' ', 'Shift+ArrowDown', 'a');
    await notice(page, '2 leads marked as Approved').waitFor();
    expect((await storedOf(ids[2] ?? '')).status).toBe('Approved');
    await press('u');
    await notice(page, 'Undone for 2 leads').waitFor();
    await press('t');
    await page.getByRole('dialog', { name: /^Why mark/ }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('radio');
    await press('ArrowDown');
    await expect.poll(() => page.getByRole('radio', { name: 'Wrong number' }).isChecked()).toBe(true);
    await press('Enter');
    await notice(page, '2 leads marked as Trashed').waitFor();
    await expect.poll(isOnList).toBe(true);
    expect((await storedOf(ids[1] ?? '')).changes.at(-1)).toBe('Trashed (Wrong number)');
    await press('h');
    await notice(page, '2 leads marked as On hold').waitFor();
    await notice(page, '2 leads marked as Trashed').waitFor({ state: 'detached' });
    await press('Escape');
    await page.getByText('2 selected').waitFor({ state: 'detached' });

    await press('Enter');
    await page.getByRole('dialog', { name: 'Lead', exact: true }).waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(isOnList).toBe(true);

    await page.getByRole('button', { name: 'New lead' }).focus();
    await press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New lead' });
    await dialog.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.type('Person Typed');
    await press('Enter');
    await dialog.getByText('Must not be empty').or(dialog.getByText('Is required')).first().waitFor();
    await dialog.getByLabel('Phone', { exact: false }).fill('+442079460958');
    await screenshot(page, 'leads-new');
    await press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await rowOf(page, 'Person Typed').waitFor();
  });
});
