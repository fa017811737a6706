import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { addLeads, changeAs, grid, notice, rowOf, storedOf, waitForPolls } from './leads-page.ts';
import { type Website, hold, screenshot, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('a queue', () => {
  test('shows the changes of another operator, and refreshes a row whose change is rejected', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [first = '', second = ''] = await addLeads(website, workspace, member, 4);
    const count = (text: string) => page.getByText(text, { exact: true }).waitFor();
    await page.goto('/leads?status=OnHold');
    await rowOf(page, 'Person 0003').waitFor();
    await count('4 leads');
    await rowOf(page, 'Person 0000').getByLabel('Select Person 0000').click();

    await changeAs(website, workspace.owner, first, { status: 'Approved' });
    await waitForPolls(page);
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    await count('3 leads');
    // A lead that has left the queue is not selected any more, also after it returns.
    await changeAs(website, workspace.owner, first, { status: 'OnHold' });
    await waitForPolls(page);
    await rowOf(page, 'Person 0000').waitFor();
    await count('4 leads');
    expect(await page.getByRole('toolbar').count()).toBe(0);

    // The page cannot poll for the change.
    await page.route('**/api/console/order/leads?*updatedSince*', (route) => route.abort());
    await changeAs(website, workspace.owner, second, { status: 'Trashed', reason: 'Wrong number' });
    await changeAs(website, workspace.owner, second, { status: 'OnHold' });
    await changeAs(website, workspace.owner, second, { status: 'Approved' });
    await changeAs(website, workspace.owner, second, { status: 'Paid' });
    await rowOf(page, 'Person 0001').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).click();
    await page.getByRole('dialog', { name: '1 lead could not be changed' }).waitFor();
    await rowOf(page, 'Person 0001').waitFor({ state: 'detached' });
    await count('3 leads');
    await page.unroute('**/api/console/order/leads?*updatedSince*');
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
    const [first = '', second = '', third = ''] = await addLeads(website, ann.workspace, ann.member, 5);
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
    await expect.poll(async () => (await storedOf(website, third)).status).toBe('Approved');
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
      expect(await storedOf(website, id)).toEqual({ status: 'Approved', changes: ['Approved'] });
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
    const ids = await addLeads(website, workspace, member, 60);
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
    expect((await storedOf(website, ids[0] ?? '')).changes).toEqual(['Approved']);

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
    expect((await storedOf(website, ids[35] ?? '')).changes).toEqual(['Approved', 'OnHold']);
    await waitForPolls(page);
    expect(announced).toEqual([]);
  });

  test('marks unsaved changes, reports a lost connection, and sends no change late', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [first = '', second = ''] = await addLeads(website, workspace, member, 3);
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
    expect((await storedOf(website, first)).changes).toEqual([]);

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
    expect((await storedOf(website, second)).changes).toEqual([]);
    await page.unroute(route);
    await notice(page, 'This change was not sent').getByRole('button', { name: 'Try again' }).click();
    await notice(page, '1 lead marked as Approved').waitFor();
    expect((await storedOf(website, second)).changes).toEqual(['Approved']);
    expect((await storedOf(website, first)).changes).toEqual([]);

    // An undo that waits for an unanswered change is not sent late either.
    await notice(page, 'did not answer').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(async () => (await storedOf(website, first)).changes).toEqual(['Approved']);
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
    expect((await storedOf(website, first)).changes).toEqual(['Approved']);
    await notice(page, 'This change was not sent').getByRole('button', { name: 'Try again' }).click();
    await notice(page, 'Undone for 1 lead').waitFor();
    expect((await storedOf(website, first)).changes).toEqual(['Approved', 'OnHold']);

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
