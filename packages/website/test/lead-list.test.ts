import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { expectFocusOn, press as pressOn } from './by-keyboard.ts';
import { addLeads, changeAs, grid, notice, rowOf, statusOf } from './leads-page.ts';
import { overflowOf } from './page-checks.ts';
import { type Website, hold, screenshot, openWebsite, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('the lead list', () => {
  test('loads 1,700 leads page by page and keeps less than 80 rows in the document', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1_700);
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

  test('keeps the leads where they are when they become cards or rows, as beside the panel that a click opens', async () => {
    const { page, workspace, member } = await website.openSignedIn({ width: 1280 });
    await addLeads(website, workspace, member, 200);
    await page.goto('/leads');
    await page.getByText('200 leads').waitFor();
    const cards = page.locator('[data-cards]');
    const yOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN;
    /** Expects a distance of a lead from the top of the list. The heads of cards are 4 px lower than those of rows. */
    const expectAt = async (name: string, y: number) => {
      await expect
        .poll(async () => Math.abs((await yOf(rowOf(page, name))) - (await yOf(grid(page))) - y))
        .toBeLessThanOrEqual(4);
    };
    const scrollTo = (row: number) => grid(page).evaluate((list, top) => list.scrollTo(0, top), row * 42);
    await scrollTo(100);
    await expectAt('Person 0110', 40 + 10 * 42);
    await rowOf(page, 'Person 0110').getByText('Person 0110').click();
    await cards.waitFor();
    await expectAt('Person 0110', 40 + 10 * 42);
    await page.locator('#lead-panel').getByRole('button', { name: 'Close' }).click();
    await cards.waitFor({ state: 'detached' });
    await expectAt('Person 0110', 40 + 10 * 42);

    // The active lead is not in view.
    await scrollTo(50);
    await expectAt('Person 0050', 40);
    await page.setViewportSize({ width: 500, height: 900 });
    await cards.waitFor();
    await expectAt('Person 0050', 40);
  });

  test('follows the open lead, so that it is in view and a key after the panel is closed changes no other lead', async () => {
    const { page, workspace, member } = await website.openSignedIn({ width: 1280 });
    await addLeads(website, workspace, member, 60);
    await page.goto('/leads');
    await page.getByText('60 leads').waitFor();
    await rowOf(page, 'Person 0002').getByText('Person 0002').click();
    const panel = page.locator('#lead-panel');
    for (let i = 3; i < 40; i++) {
      const name = `Person ${String(i).padStart(4, '0')}`;
      await page.keyboard.press('j');
      await panel.getByRole('heading', { name }).waitFor();
    }
    const opened = rowOf(page, 'Person 0039');
    const frame = await grid(page).boundingBox();
    const isInView = async () => {
      const row = await opened.boundingBox();
      return (
        row !== null && frame !== null && row.y >= frame.y && row.y + row.height <= frame.y + frame.height
      );
    };
    await expect.poll(isInView).toBe(true);
    expect(await grid(page).getAttribute('aria-activedescendant')).toBe(await opened.getAttribute('id'));
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.keyboard.press('a');
    await opened.getByText('Approved').waitFor();
    expect(await rowOf(page, 'Person 0002').getByText('Approved').count()).toBe(0);
  });

  test('keeps the changes of loaded leads while the next page loads', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 250);
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
    await addLeads(website, workspace, member, 150);
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
    const shown = await grid(page).getByRole('row').count();
    await grid(page).hover();
    const counts: number[] = [];
    const isFewer = (rows: number) => rows > 0 && rows < shown;
    // A late answer may render all rows again during one scroll, but not during each.
    for (let top = 420; top <= 4_200 && !counts.some(isFewer); top += 420) {
      const before = await renderedRows();
      for (let i = 0; i < 10; i++) await page.mouse.wheel(0, 42);
      await expect.poll(() => grid(page).evaluate((element) => element.scrollTop)).toBe(top);
      await waitForFrames(page);
      counts.push((await renderedRows()) - before);
    }
    expect(counts).toContainEqual(expect.toSatisfy(isFewer));
  });

  test('keeps filters and search in the address, and supports the back button', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await workspace.addCampaign('OTHER');
    await addLeads(website, workspace, member, 30, (i) => ({
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
    const subId = page.getByRole('textbox', { name: 'Sub-id (s1)' });
    await subId.fill('click-4');
    // The text is applied although the popover closes at once.
    await page.keyboard.press('Escape');
    await page.waitForURL('**s1=click-4*');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.goBack();
    await expect.poll(() => subId.inputValue()).toBe('');
    await page.goForward();
    await expect.poll(() => subId.inputValue()).toBe('click-4');
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
    // A link of the overview can have a time of the day, which a date field cannot show.
    await page.goto('/leads?createdFrom=2020-01-31T10:30:00Z&createdTo=2020-02-01T11:45:00Z');
    await page.getByRole('button', { name: 'Filters' }).click();
    const descriptionOf = (label: string) =>
      page
        .getByLabel(label, { exact: true })
        .evaluate((field: HTMLInputElement) => [
          field.value,
          document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent,
        ]);
    expect(await descriptionOf('Created from')).toEqual(['2020-01-31', expect.stringContaining(':30')]);
    expect(await descriptionOf('Created until')).toEqual(['2020-02-01', expect.stringContaining(':45')]);
    await createdFrom.fill('2020-01-30');
    await expect.poll(() => descriptionOf('Created from')).toEqual(['2020-01-30', undefined]);
    await page.getByText('No lead matches these filters.').waitFor();
    // The API takes no time after this day, not even the start of the next day.
    await page.getByLabel('Created until', { exact: true }).fill('9999-12-31');
    await page.waitForURL('**createdTo=9999-12-31*');
    expect((await descriptionOf('Created until'))[0]).toBe('9999-12-31');
    await page.getByText('30 leads').waitFor();
    await createdFrom.focus();
    await page.keyboard.press('Escape');
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
    await addLeads(website, workspace, member, 4, (i) => ({
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
    await addLeads(website, workspace, member, 4);
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

  test('announces once how many leads a search finds, also none, and again after another one', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 12);
    await page.goto('/leads');
    await page.getByText('12 leads', { exact: true }).waitFor();
    const announced = (text: string) => page.getByRole('status').filter({ hasText: text });
    expect(await announced('12 found').count()).toBe(0);
    for (const [text, found] of [
      ['person 001', '2 found'],
      ['nobody', '0 found'],
      ['person 0003', '1 found'],
      ['person 0004', '1 found'],
    ] as const) {
      const counted = page.waitForResponse((answer) => answer.url().includes('count=exact'));
      await page.getByRole('searchbox', { name: 'Search leads' }).fill(text);
      await counted;
      await announced(found).waitFor({ state: 'attached' });
    }
    await page.getByRole('button', { name: 'Clear all' }).click();
    await announced('12 found').waitFor({ state: 'attached' });
  });

  test.each([
    ['on a desktop', 1440, 900, ''],
    ['beside the panel of a lead', 1280, 900, 'Person 0002'],
    ['on a small laptop', 1024, 768, ''],
    ['on a tablet', 768, 1024, ''],
    ['on a phone', 390, 800, ''],
  ])(
    'shows all actions on a selection and covers no lead with them %s',
    async (_where, width, height, opened) => {
      const { page, workspace, member } = await website.openSignedIn({ width, height });
      await addLeads(website, workspace, member, 201);
      await page.goto('/leads');
      await page.getByText('201 leads', { exact: true }).waitFor();
      if (opened !== '') {
        await rowOf(page, opened).click();
        await page.getByRole('heading', { level: 2, name: opened }).waitFor();
      }
      await page.getByRole('checkbox', { name: 'Select all loaded leads' }).check();
      const bar = page.getByRole('toolbar', { name: '200 selected' });
      await bar.getByRole('button', { name: 'Select all 201 leads that match' }).waitFor();
      const covered = async (parts: Locator) =>
        parts.evaluateAll((all) =>
          all
            .filter((part) => {
              const { x, y, width: wide, height: high } = part.getBoundingClientRect();
              return !part.contains(document.elementFromPoint(x + wide / 2, y + high / 2));
            })
            .map((part) => part.textContent),
        );
      expect(await covered(bar.getByRole('button'))).toEqual([]);
      expect(await covered(rowOf(page, 'Person 0000').locator('a, button'))).toEqual([]);
      const last = rowOf(page, 'Person 0200');
      await expect
        .poll(async () => {
          await grid(page).evaluate((list) => list.scrollTo(0, list.scrollHeight));
          return last.count();
        })
        .toBe(1);
      await waitForFrames(page);
      await grid(page).evaluate((list) => list.scrollTo(0, list.scrollHeight));
      expect(await covered(last.locator('a, button'))).toEqual([]);
      // A notification leaves the actions free.
      await page.getByRole('toolbar').getByRole('button', { name: 'Mark as Approved' }).click();
      const notified = notice(page, '200 leads marked as Approved');
      await notified.waitFor();
      const actions = page.getByRole('toolbar').getByRole('button');
      await expect.poll(async () => [await notified.count(), await covered(actions)]).toEqual([1, []]);
    },
  );

  test('closes the dialogs of a change of all leads when the filters change', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(website, workspace, member, 203, (i) => (i === 0 ? { status: 'Approved' } : {}));
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
    await addLeads(website, workspace, member, 3);
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
    const ids = await addLeads(website, workspace, member, 5, (i) => ({ status: statusOf(i), ...fields[i] }));
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
    await changeAs(website, workspace.owner, ids[4] ?? '', { status: 'Approved' });
    await rowOf(page, 'Person 0004').getByText('Approved').waitFor();
    await shows(...byCampaign);
    expect(pages).toEqual([]);
  });

  test('shows several statuses and one publisher, and each filter is removed by its own chip', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const publisher = await workspace.addMember('publisher');
    await addLeads(website, workspace, member, 8, (i) => ({ status: statusOf(i) }));
    await addLeads(website, workspace, publisher, 3, (i) => ({
      name: `Of publisher ${i}`,
      status: statusOf(i),
    }));
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
    for (const width of [320, 390, 768]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflowOf(page)).toBe(0);
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
});
