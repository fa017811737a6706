import type { TestMember } from '@leads/test-kit/fixture';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { press as pressOn } from './by-keyboard.ts';
import { addLeads, grid, notice, openEdit, rowOf, statusOf } from './leads-page.ts';
import { expectGoodEverywhere, expectGoodPage, overflowOf } from './page-checks.ts';
import { type Website, hold, screenshot, openWebsite, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

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

/** Returns the texts of the cells of a card that overlap another cell or leave the card. Evaluated in the page. */
function misplacedCells(card: Element): string[] {
  const boxOf = (element: Element) => element.getBoundingClientRect();
  const outer = boxOf(card);
  const cells = [...card.querySelectorAll('[role="gridcell"]')];
  // Boxes that touch each other can overlap by a fraction of a pixel.
  const overlap = (a: DOMRect, b: DOMRect) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const isMisplaced = (cell: Element) =>
    boxOf(cell).bottom > outer.bottom ||
    cells.some((other) => other !== cell && overlap(boxOf(cell), boxOf(other)));
  return cells.filter(isMisplaced).map((cell) => cell.textContent);
}

describe('the lead list', () => {
  test('shows the width that a column got, and keeps the focus on it after Enter', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/leads');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Columns' }).click();
    const width = page.getByRole('spinbutton', { name: 'Width of Name' });
    const enter = async (text: string) => {
      await width.fill(text);
      await page.keyboard.press('Enter');
      await waitForFrames(page);
      expect(await width.evaluate((field) => field === document.activeElement)).toBe(true);
      return width.inputValue();
    };
    expect(await enter('200')).toBe('200');
    expect(await enter('5000')).toBe('960');
    expect(await enter('7000')).toBe('960');
    // A width below the minimum means an automatic one.
    expect(await enter('30')).toBe('');
    expect(await enter('30')).toBe('');
  });

  test('wraps long names without spaces in its lists of campaigns and views', async () => {
    const { page, workspace, member } = await website.openSignedIn({ width: 1024, height: 800 });
    const name = 'fb_solar_leads_germany_2026_q4_lookalike_1pct_v2_';
    await workspace.addCampaign('LONG');
    await website.fixture.sql('UPDATE campaign SET name = $2 WHERE workspace_id = $1', [workspace.id, name]);
    await viewsOf(member, 'POST', { name, filters: { status: 'OnHold' } });
    await page.goto('/leads');
    const hiddenWidthOf = (item: string, scroller: string) =>
      page
        .locator(scroller, { has: page.locator(item, { hasText: name }) })
        .last()
        .evaluate((element) => element.scrollWidth - element.clientWidth);
    await page.getByRole('combobox', { name: 'Campaign' }).click();
    await page.getByRole('option', { name: 'LONG' }).waitFor();
    expect(await hiddenWidthOf('[role="option"]', '.mantine-ScrollArea-viewport')).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await page.getByRole('menuitem', { name }).waitFor();
    expect(await hiddenWidthOf('[role="menuitem"]', '[role="menu"]')).toBe(0);
  });

  test('has the columns, the order and the widths that a saved view keeps, also for another manager', async () => {
    const { page, workspace, member } = await website.openSignedIn({ width: 1440, height: 900 });
    await addLeads(website, workspace, member, 3, () => ({ address: '1 Arlington Ridge', country: 'GB' }));
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
    await addLeads(website, workspace, member, 1);
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

  test('keeps the name that another user has given to a view while this user shares it', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await viewsOf(member, 'POST', { name: 'Queue', filters: { status: 'OnHold' } });
    await page.goto('/leads');
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Queue' }).click();
    const edit = async (name: string) => {
      await page.getByRole('button', { name: `Views: ${name}` }).click();
      await page.getByRole('menuitem', { name: `Rename, share or delete ${name}` }).click();
    };
    const dialog = page.getByRole('dialog');
    const save = async () => {
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await edit('Queue');
    await website.fixture.sql(`UPDATE saved_view SET name = 'Calls' WHERE workspace_id = $1`, [workspace.id]);
    await dialog.getByLabel('Share with owners and managers').check();
    await save();
    expect(await viewsOf(member, 'GET')).toMatchObject([{ name: 'Calls', shared: true }]);

    await edit('Calls');
    await website.fixture.sql(`UPDATE saved_view SET name = 'Morning' WHERE workspace_id = $1`, [
      workspace.id,
    ]);
    await save();
    expect(await viewsOf(member, 'GET')).toMatchObject([{ name: 'Morning', shared: true }]);
  });

  test('does not store a view again that another tab deletes while its name is edited', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1);
    await viewsOf(member, 'POST', { name: 'Queue', filters: {} });
    await page.goto('/leads');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: /^Views/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    await choose('Queue');
    await choose('Rename, share or delete Queue');
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('Evening queue');
    await website.fixture.sql('DELETE FROM saved_view WHERE workspace_id = $1', [workspace.id]);
    // The views are loaded again when the user returns to the page.
    await page.clock.install();
    await page.clock.fastForward(60_000);
    const listed = page.waitForResponse(/\/views$/);
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await (await listed).finished();
    await waitForFrames(page);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Not found', { exact: true }).waitFor();
    expect(await form.getByLabel('Name').inputValue()).toBe('Evening queue');
    expect(await viewsOf(member, 'GET')).toEqual([]);
  });

  test('saves that the order, the columns and the filter of a view are removed', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1, () => ({ country: 'GB' }));
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
    const [id] = await addLeads(website, workspace, member, 1, () => ({
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
    await addLeads(website, workspace, member, 60);
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
    const campaignId = await workspace.addCampaign('HOME-INS-NORTH');
    await website.fixture.sql(`UPDATE campaign SET name = 'Home insurance Northern Germany' WHERE id = $1`, [
      campaignId,
    ]);
    const ids = await addLeads(website, workspace, member, 60, (i) => ({
      status: statusOf(i),
      country: 'GB',
      campaignId,
      ...(i === 2 && { name: 'A very long name with many words '.repeat(4), phone: '1'.repeat(200) }),
    }));
    await page.goto('/leads');
    const card = rowOf(page, 'Person 0001');
    await card.getByText('HOME-INS-NORTH').waitFor();
    expect(await card.evaluate(misplacedCells)).toEqual([]);
    expect(await overflowOf(page)).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-390');
    await rowOf(page, 'Person 0000').getByLabel('Select Person 0000').click();
    await rowOf(page, 'Person 0004').getByLabel('Select Person 0004').click();
    await page.getByText('2 selected').waitFor();
    expect(await overflowOf(page)).toBe(0);
    await screenshot(page, 'leads-bulk-390');
    await page.getByRole('button', { name: 'Clear the selection' }).click();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByLabel('Landing page').waitFor();
    expect(await overflowOf(page)).toBe(0);
    await screenshot(page, 'leads-filters-390');
    await page.goto(`/leads?lead=${ids[2]}`);
    await page.getByRole('heading', { name: /^A very long name/ }).waitFor();
    await page.getByText('Created by').waitFor();
    expect(await overflowOf(page)).toBe(0);
    await screenshot(page, 'leads-detail-390');
  });

  test.each([
    [390, '150%'],
    [390, '200%'],
    [1280, '200%'],
    [1920, '200%'],
  ])('shows all lines of a lead in a window of %d px with text of %s', async (width, size) => {
    const { page, workspace, member } = await website.openSignedIn({ width });
    await addLeads(website, workspace, member, 3, () => ({ country: 'GB' }));
    // Like the font size in the settings of a browser.
    await page.addInitScript((fontSize) => {
      new MutationObserver((_changes, observer) => {
        document.documentElement.style.fontSize = fontSize;
        observer.disconnect();
      }).observe(document, { childList: true, subtree: true });
    }, size);
    await page.goto('/leads');
    const lead = rowOf(page, 'Person 0001');
    await lead.getByText('DEMO').waitFor();
    expect(await lead.evaluate(misplacedCells)).toEqual([]);
    const head = page.locator('[role="row"]').first();
    expect(await head.evaluate((row) => row.scrollHeight - row.clientHeight)).toBe(0);
  });

  test('shows a lead whose name is spaces without a name, and opens it', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1, () => ({ name: '   ' }));
    await page.goto('/leads');
    await page.getByRole('button', { name: 'No name: On hold. Change the status' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select No name' }).waitFor();
    await page.getByRole('link', { name: 'No name' }).click();
    await page.getByRole('heading', { name: 'No name' }).waitFor();
    await expectGoodPage(page);
  });

  test('shows the beginning of a long filter value that is written from right to left', async () => {
    const { page } = await website.openSignedIn();
    const value = 'ראשון שני שלישי רביעי חמישי שישי שביעי שמיני תשיעי עשירי';
    await page.goto(`/leads?lpName=${encodeURIComponent(value)}`);
    const chip = page.getByRole('button', { name: 'Remove the filter Landing page' });
    const hiddenWidth = await chip.locator('b').evaluate((text) => {
      const { left, right } = text.closest('button')?.getBoundingClientRect() ?? new DOMRect();
      const first = document.createRange();
      first.setStart(text.firstChild ?? text, 0);
      first.setEnd(text.firstChild ?? text, 'ראשון'.length);
      const box = first.getBoundingClientRect();
      return Math.max(left - box.left, box.right - right, 0);
    });
    expect(hiddenWidth).toBe(0);
  });

  test('shows the beginning of a long name that is written from right to left, and the users who have its lead open', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(website, workspace, member, 1, () => ({
      name: 'ראשון שני שלישי רביעי חמישי שישי שביעי שמיני תשיעי עשירי',
    }));
    const other = await workspace.addMember('manager');
    await website.fixture.sql(`UPDATE "user" SET name = 'Ada Lovelace' WHERE id = $1`, [other.userId]);
    await website.fixture.sql(`INSERT INTO lead_viewer VALUES ($1, $2, $3, now() + interval '1 minute')`, [
      id,
      other.userId,
      workspace.id,
    ]);
    await page.goto('/leads');
    const cell = rowOf(page, 'ראשון').locator('[role="gridcell"]').filter({ hasText: 'ראשון' });
    await cell.getByText('Ada Lovelace').waitFor();
    const isVisible = await cell.evaluate((frame) => {
      const { left, right } = frame.getBoundingClientRect();
      const isInside = (box: DOMRect) => box.width > 0 && box.left >= left - 1 && box.right <= right + 1;
      const first = document.createRange();
      const text = frame.querySelector('a')?.firstChild;
      if (!text) return undefined;
      first.setStart(text, 0);
      first.setEnd(text, 'ראשון'.length);
      const eye = frame.querySelector('svg');
      return [isInside(first.getBoundingClientRect()), eye !== null && isInside(eye.getBoundingClientRect())];
    });
    expect(isVisible).toEqual([true, true]);
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
      expect(await overflowOf(page)).toBe(0);
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
      await addLeads(website, workspace, member, 60, (i) => ({
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
