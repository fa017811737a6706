import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { expectFocusWithin, press as pressOn } from './by-keyboard.ts';
import { addLeads, changeAs, grid, notice, openEdit, rowOf } from './leads-page.ts';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, hold, openWebsite, screenshot, signInInAnotherTab, waitForFrames } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('the lead detail', () => {
  test('keeps what the user enters while a note and an edit are stored', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(website, workspace, member, 1);
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

  test('rejects a note that is too long, and cuts nothing off', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(website, workspace, member, 1);
    await page.goto(`/leads?lead=${id}`);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    const note = panel.getByLabel('New note');
    await note.focus();
    await page.keyboard.insertText(`${'x'.repeat(4000)} the end`);
    await note.press('Control+Enter');
    await panel.getByText('Text must have at most 4000 characters.').waitFor();
    expect((await note.inputValue()).endsWith(' the end')).toBe(true);
  });

  test('says that a lead is not in the list only after the list is loaded', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id] = await addLeads(website, workspace, member, 1);
    const list = await hold(page, /\/order\/leads\?.*limit=200/);
    await page.goto(`/leads?lead=${id}&status=Paid`);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    await panel.getByRole('heading', { name: 'Person 0000' }).waitFor();
    const notListed = panel.getByText('Not among the loaded leads');
    expect(await notListed.count()).toBe(0);
    list.release();
    await notListed.waitFor();
  });

  test('stores an assignee that is chosen while a call-back is stored, and reports one that is rejected meanwhile', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [id = ''] = await addLeads(website, workspace, member, 1);
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
    await addLeads(website, workspace, member, 2);
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

  test('asks before a sign-out discards edits, and keeps the edits and the session on Cancel', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(website, workspace, member, 1);
    await page.goto(`/leads?lead=${id}`);
    const drawer = page.getByRole('dialog', { name: 'Lead', exact: true });
    const city = drawer.getByLabel('City');
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    const menu = page.getByRole('button', { name: /^Your account/ });
    const signOut = async () => {
      await menu.click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await question.waitFor();
    };
    await openEdit(drawer);
    await city.fill('London');
    await signOut();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await menu.getAttribute('aria-busy')).toBe('false');
    expect(await city.inputValue()).toBe('London');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await notice(page, 'Saved').waitFor();
    await city.fill('Paris');
    await signOut();
    const signedOut = page.waitForResponse('**/api/auth/sign-out');
    await question.getByRole('button', { name: 'Discard changes' }).click();
    await (await signedOut).finished();
    await waitForFrames(page);
    expect(await question.count()).toBe(0);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('keeps unsaved edits when the session ends, and stores them after a sign-in in another tab', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(website, workspace, member, 1);
    await page.goto(`/leads?lead=${id}`);
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    await openEdit(panel);
    await panel.getByLabel('City').fill('London');
    await panel.getByLabel('New note').fill('Call after six');
    await website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
    const ended = notice(page, 'You are signed out');
    await ended.waitFor();
    expect(await panel.getByLabel('City').inputValue()).toBe('London');
    await signInInAnotherTab(page, member);
    await panel.getByRole('button', { name: 'Save' }).click();
    await notice(page, 'Saved').waitFor();
    await panel.getByRole('button', { name: 'Add the note' }).click();
    await panel.getByRole('list', { name: 'Notes' }).getByText('Call after six').waitFor();

    // Without edits, the page shows nothing of the session that has ended.
    await website.fixture.sql('DELETE FROM session WHERE user_id = $1', [member.userId]);
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('to')).toBe(`/w/${workspace.slug}/leads?lead=${id}`);
  });

  test('shows errors beside the fields and does not overwrite a concurrent change', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [first = ''] = await addLeads(website, workspace, member, 1, () => ({ name: 'First of all' }));
    const [id = ''] = await addLeads(website, workspace, member, 1, () => ({
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
    await changeAs(website, workspace.owner, id, { address: '1 Elsewhere Road' });
    await expect
      .poll(() => drawer.getByLabel('Address', { exact: true }).inputValue())
      .toBe('1 Elsewhere Road');
    await drawer.getByLabel('Name', { exact: false }).first().fill('Grace Hopper');
    await changeAs(website, workspace.owner, id, { city: 'London' });
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
  const [id = ''] = await addLeads(website, workspace, member, 2);
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
  const [theirs = ''] = await addLeads(website, workspace, publisher.member, 1);
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

test('the other leads with the phone number of a lead are shown with a status that was changed a moment ago', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const [first = ''] = await addLeads(website, workspace, member, 2, () => ({ phone: '+442079460958' }));
  // Nothing is refreshed because of its age.
  await page.clock.setFixedTime(new Date());
  await page.goto(`/leads?lead=${first}`);
  const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
  const others = panel.getByRole('list', { name: 'Other leads with this phone number' });
  await others.getByRole('link', { name: /^Person 0001, On hold/ }).click();
  await panel.getByRole('heading', { level: 2, name: 'Person 0001' }).waitFor();
  await panel.getByRole('button', { name: 'Mark as Approved' }).click();
  await notice(page, '1 lead marked as Approved').waitFor();
  await others.getByRole('link', { name: /^Person 0000/ }).click();
  await panel.getByRole('heading', { level: 2, name: 'Person 0000' }).waitFor();
  await others.getByRole('link', { name: /^Person 0001, Approved/ }).waitFor();
  expect(await others.getByRole('link', { name: /On hold/ }).count()).toBe(0);
});
