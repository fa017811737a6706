import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { expectFocusWithin, press as pressOn } from './by-keyboard.ts';
import { addLeads, changeAs, grid, notice, rowOf, storedOf, waitForPolls } from './leads-page.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, hold, screenshot, openWebsite, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('a queue', () => {
  test('is worked through in the panel with one key a lead, and shows the other users who have a lead open', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const ids = await addLeads(website, workspace, member, 6, (i) =>
      i === 1 ? { phone: '+442079400000' } : {},
    );
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
    await changeAs(website, workspace.owner, third, { status: 'Approved' });
    await waitForPolls(page);
    await rowOf(page, 'Person 0002').waitFor({ state: 'detached' });
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
      .poll(() => Promise.all(ids.map(async (id) => (await storedOf(website, id)).status)))
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
    const ids = await addLeads(website, workspace, member, 52);
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
    const ids = await addLeads(website, workspace, member, 6);
    const changes = () => Promise.all(ids.map(async (id) => (await storedOf(website, id)).changes));
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
    expect((await storedOf(website, ids[5] ?? '')).changes).toEqual(['Approved', 'Paid']);
    await page.keyboard.press('u');
    await notice(page, 'Undone for 1 lead').waitFor();
    expect((await storedOf(website, ids[5] ?? '')).status).toBe('Approved');

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
      await expect.poll(async () => (await storedOf(website, id)).status).toBe('Approved');
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
    await addLeads(website, workspace, member, 5);
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
    const [id = ''] = await addLeads(website, workspace, member, 1);
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
    expect((await storedOf(website, id)).status).toBe('Approved');
    await page.reload();
    await rowOf(page, 'Person 0000').waitFor();
    expect(questions).toHaveLength(1);
  });

  test('keeps the focus in a dialog while the next lead loads, so that Escape closes the dialog only', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [first = '', second = ''] = await addLeads(website, workspace, member, 3);
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
    const [id = ''] = await addLeads(website, workspace, member, 2);
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
    expect(await storedOf(website, id)).toEqual({
      status: 'Approved',
      changes: ['Approved', 'OnHold', 'Approved'],
    });
  });
});
