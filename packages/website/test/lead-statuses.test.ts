import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { addLeads, grid, jobsOf, notice, rowOf, storedOf, waitForPolls } from './leads-page.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, hold, screenshot, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('a status change', () => {
  test('of one lead can be made in its row and undone', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(website, workspace, member, 2);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Mark as Approved' }).click();
    await notice(page, '1 lead marked as Approved').waitFor();
    expect((await storedOf(website, id)).status).toBe('Approved');
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
    expect((await storedOf(website, id)).status).toBe('Trashed');
    await notification.getByRole('button', { name: 'Undo' }).click();
    await notice(page, 'Undone for 1 lead').waitFor();
    expect(await storedOf(website, id)).toEqual({
      status: 'Approved',
      changes: ['Approved', 'Trashed (Called twice, no answer)', 'OnHold', 'Approved'],
    });
    await rowOf(page, 'Person 0000').getByText('Approved').waitFor();
  });

  test('of several leads is offered only if all of them allow it, and its undo restores each status', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(website, workspace, member, 6, (i) => ({
      status: i < 3 ? 'OnHold' : 'Approved',
    }));
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
    expect(await Promise.all(ids.map(async (id) => (await storedOf(website, id)).status))).toEqual([
      ...Array.from({ length: 5 }, () => 'Trashed'),
      'Approved',
    ]);
    await notification.getByRole('button', { name: 'Undo' }).click();
    await notice(page, 'Undone for 5 leads').waitFor();
    expect(await Promise.all(ids.map(async (id) => (await storedOf(website, id)).status))).toEqual([
      ...Array.from({ length: 3 }, () => 'OnHold'),
      ...Array.from({ length: 3 }, () => 'Approved'),
    ]);
    await page.getByLabel('Select all loaded leads').check();
    await page.getByText('6 selected').waitFor();
  });

  test('is sent once if Enter is pressed again at its reason before the answer', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(website, workspace, member, 1);
    await page.goto('/leads');
    const answers = await hold(page, /\/order\/leads\/status$/);
    let sent = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/order/leads/status')) sent += 1;
    });
    await rowOf(page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Trashed' }).click();
    const reason = page.getByRole('radio', { name: 'Spam or test' });
    await reason.check();
    await reason.press('Enter');
    await page.locator('button[data-loading="true"]', { hasText: 'Mark as Trashed' }).waitFor();
    await reason.press('Enter');
    answers.release();
    await notice(page, '1 lead marked as Trashed').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(sent).toBe(1);
    expect((await storedOf(website, id)).changes).toEqual(['Trashed (Spam or test)']);
  });

  test('with a reason that is too long is rejected, and nothing of the reason is cut off', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(website, workspace, member, 1);
    const tooLong = 'x'.repeat(1001);
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await page.getByRole('menuitem', { name: 'Mark as Trashed' }).click();
    const reason = page.getByLabel('Or write your own reason');
    await reason.focus();
    await page.keyboard.insertText(tooLong);
    expect(await reason.inputValue()).toBe(tooLong);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('must have at most 1000 characters').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

    await page.goto(`/leads?lead=${id}`);
    await page.getByRole('button', { name: 'Set the payout' }).click();
    const payout = page.locator('form', { has: page.getByLabel('Amount') });
    await payout.getByLabel('Amount').fill('5');
    await payout.getByLabel('Reason').focus();
    await page.keyboard.insertText(tooLong);
    await page.keyboard.press('Enter');
    await payout.getByText('Must have at most 1000 characters').waitFor();
    expect((await storedOf(website, id)).changes).toEqual([]);
  });

  test('that the service rejects is reported with the reason', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [first = '', second = ''] = await addLeads(website, workspace, member, 2);
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
    expect((await storedOf(website, first)).status).toBe('Approved');
  });

  test('lists every lead that the service rejects, if it answers several changes one after the other', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 3);
    await page.goto('/leads');
    await rowOf(page, 'Person 0002').waitFor();
    await page.route('**/api/console/order/leads?*', (route) => route.abort());
    const answers = await hold(page, /order\/leads\/status$/);
    await grid(page).focus();
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press('a');
      await expect.poll(() => grid(page).locator('[aria-busy="true"]').count()).toBe(i + 1);
      await page.keyboard.press('ArrowDown');
    }
    await website.fixture.sql('DELETE FROM lead WHERE workspace_id = $1', [workspace.id]);
    answers.release();
    const dialog = page.getByRole('dialog', { name: '3 leads could not be changed' });
    await dialog.getByRole('listitem').nth(2).waitFor();
    const names = (await dialog.getByRole('listitem').allInnerTexts()).map((text) => text.split(':')[0]);
    expect(names).toEqual(['Person 0000', 'Person 0001', 'Person 0002']);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('of several leads keeps what is stored if a later request fails, and tries only the rest again', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(website, workspace, member, 4, (i) => ({
      status: i < 2 ? 'Approved' : 'Trashed',
    }));
    const statuses = async () => Promise.all(ids.map(async (id) => (await storedOf(website, id)).status));
    await page.goto('/leads');
    await page.getByLabel('Select all loaded leads').check();
    let fails = (body: string) => body.includes('"from":"Trashed"');
    await page.route('**/order/leads/status', (route) =>
      fails(route.request().postData() ?? '') ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Mark as On hold' }).click();
    const failure = notice(page, '2 leads were not changed. The server cannot be reached');
    await failure.waitFor();
    await notice(page, '2 leads marked as On hold').waitFor();
    expect(await statuses()).toEqual(['OnHold', 'OnHold', 'Trashed', 'Trashed']);
    await rowOf(page, 'Person 0000').getByText('On hold').waitFor();
    fails = () => false;
    await failure.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(statuses).toEqual(['OnHold', 'OnHold', 'OnHold', 'OnHold']);
    await waitForPolls(page);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('of several leads is undone completely if its undo fails in between and is tried again', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(website, workspace, member, 4, (i) => ({
      status: i < 2 ? 'OnHold' : 'Approved',
    }));
    const statuses = async () => Promise.all(ids.map(async (id) => (await storedOf(website, id)).status));
    await page.goto('/leads');
    await page.getByLabel('Select all loaded leads').check();
    await page.getByRole('button', { name: 'Mark as Trashed' }).click();
    await page.getByRole('radio', { name: 'Spam or test' }).check();
    await page.keyboard.press('Enter');
    const done = notice(page, '4 leads marked as Trashed');
    await done.waitFor();
    let fails = (body: string) => body.includes('"status":"Approved"');
    await page.route('**/order/leads/status', (route) =>
      fails(route.request().postData() ?? '') ? route.abort() : route.continue(),
    );
    await done.getByRole('button', { name: 'Undo' }).click();
    const failure = notice(page, 'The server cannot be reached');
    await failure.waitFor();
    expect(await statuses()).toEqual(['OnHold', 'OnHold', 'OnHold', 'OnHold']);
    fails = () => false;
    await failure.getByRole('button', { name: 'Try again' }).click();
    await notice(page, 'Undone for 4 leads').waitFor();
    expect(await statuses()).toEqual(['OnHold', 'OnHold', 'Approved', 'Approved']);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('by an assignment is reported and can be undone, also if the leads leave the list before its answer arrives', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 3);
    await page.goto('/leads?assignee=none');
    await page.getByLabel('Select all loaded leads').check();
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign 3 leads?' });
    await dialog.getByLabel('Assignee').selectOption({ index: 1 });
    await page.route('**/order/leads/assignment', async (route) => {
      const response = await route.fetch();
      await page.getByText('No lead matches these filters.').waitFor();
      await route.fulfill({ response });
    });
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    const assigned = notice(page, '3 leads assigned');
    await assigned.getByRole('button', { name: 'Undo' }).click();
    await notice(page, 'Undone for 3 leads').waitFor();
    await rowOf(page, 'Person 0002').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('of all leads that match runs as a job with its progress and its result, and can be cancelled', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(website, workspace, member, 700, (i) => (i % 100 === 50 ? { status: 'Paid' } : {}));
    await addLeads(website, workspace, member, 5, () => ({ status: 'Trashed', name: 'Left' }));
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
    await notice(page, 'Canceled after 200 leads marked as Paid').waitFor();

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

  test('of all leads shows its result after the user has been in another workspace', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const other = await website.fixture.createWorkspace();
    await other.addMember('owner', { email: member.email });
    await addLeads(website, workspace, member, 1);
    const add = async (workspaceId: string, state: string) => {
      const [job] = await website.fixture.sql<{ id: string }>(
        `INSERT INTO lead_job
           (id, workspace_id, user_id, action, filters, status, state, total, changed, refused, refusals, next_step_at)
         VALUES (gen_random_uuid(), $1, $2, 'status', '{}', 'Approved', $3, 9, 3, 0, '[]',
           now() + interval '1 day') RETURNING id`,
        [workspaceId, member.userId, state],
      );
      return job?.id;
    };
    const id = await add(workspace.id, 'running');
    await add(other.id, 'running');
    const progress = page.getByRole('progressbar', { name: 'Marking leads as Approved: 3 of 9' });
    await page.goto(`/w/${workspace.slug}/leads`);
    await progress.waitFor({ state: 'attached' });
    await page.goto(`/w/${other.slug}/leads`);
    await progress.waitFor({ state: 'attached' });
    await website.fixture.sql(
      `UPDATE lead_job SET state = 'done', finished_at = now(), changed = 9 WHERE id = $1`,
      [id],
    );
    await page.goto(`/w/${workspace.slug}/leads`);
    expect(await page.getByRole('alert').innerText()).toContain('9 leads marked as Approved');
  });

  test('of all leads shows its progress and its result in every state, also if the page is reloaded meanwhile', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    await addLeads(website, workspace, member, 2);
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
    await notice(page, 'Stopped after 200 leads').getByText('no longer an owner or a manager').waitFor();
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
    await notice(page, 'Canceled after 20 leads marked as On hold').waitFor();
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
      'Canceled after 20 leads marked as On hold',
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
    const [id = ''] = await addLeads(website, manager.workspace, manager.member, 1, () => ({
      status: 'Approved',
    }));
    await manager.page.goto('/leads');
    await rowOf(manager.page, 'Person 0000').getByRole('button', { name: 'Change the status' }).click();
    await manager.page.getByRole('menuitem', { name: 'Mark as Paid' }).click();
    await manager.page.getByRole('dialog', { name: 'Mark as Paid?' }).waitFor();
    expect((await storedOf(website, id)).status).toBe('Approved');
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
    expect((await storedOf(website, id)).changes).toEqual(['Paid', 'Approved (Marked by mistake)', 'Paid']);
  });

  test('is not offered to publishers, who see only their own leads', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'publisher' });
    const [id] = await addLeads(website, workspace, member, 1, () => ({ name: 'Mine' }));
    await addLeads(website, workspace, workspace.owner, 1, () => ({ name: 'Theirs' }));
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
