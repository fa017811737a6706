import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { addLeads, chooseImport, notice, rowOf } from './leads-page.ts';
import { expectGoodEverywhere, overflowOf } from './page-checks.ts';
import { type Website, hold, openWebsite, screenshot, waitForFrames } from './website.ts';

let website: Website;
let folder: string;
beforeAll(async () => {
  website = await openWebsite();
  folder = await mkdtemp(join(tmpdir(), 'leads-transfer-'));
});
afterEach(() => website.closePages());
afterAll(async () => {
  await website?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function openImport(page: Page, file: string): Promise<void> {
  await page.goto('/leads');
  await chooseImport(page, file);
}

const figure = (page: Page, label: string) =>
  page.getByRole('table', { name: 'Import report' }).getByRole('row', { name: label }).textContent();

describe('an import', () => {
  test('maps columns, reports rejected lines, and stores nothing twice if the file is sent again', async () => {
    const { page, workspace } = await website.openSignedIn();
    const file = join(folder, 'from elsewhere.csv');
    // Semicolons, as spreadsheets in much of Europe write them. The header and a record have two lines.
    const lines = [
      '\uFEFF"Contact\nperson";Mobile;E-Mail;utm_source;status;Secret\r',
      'Ada Lovelace;+44 20 7946 0958;ada@example.io;newsletter;Paid;hide me\r',
      '"Grace\r\n""Amazing"" Hopper";+1 202 555 0143;;;;\r',
      'No Phone;;;;;\r',
      'Wrong Mail;+442079460000;x@example.com;"a;b";;\r',
      '',
    ];
    await writeFile(file, lines.join('\n'));
    await openImport(page, file);
    await page.getByText('Columns are separated by semicolons.').waitFor();
    const target = (column: string) =>
      page.getByRole('combobox', { name: `Field for ${column}`, exact: true });
    expect(await target('Contact person').inputValue()).toBe('Keep as extra data');
    await target('Contact person').click();
    await page.getByRole('option', { name: 'Name', exact: true }).click();
    expect(await target('Mobile').inputValue()).toBe('Phone');
    expect(await target('status').inputValue()).toBe('Leave out');
    expect(await target('utm_source').inputValue()).toBe('Keep as extra data');
    // The dialog warns of a field with two columns before anything is sent.
    await target('E-Mail').click();
    await page.getByRole('option', { name: 'Name', exact: true }).click();
    await page.getByText('More than one column is mapped to Name.').waitFor();
    expect(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true);
    await target('E-Mail').click();
    await page.getByRole('option', { name: 'Email address' }).click();
    await target('Secret').click();
    await page.getByRole('option', { name: 'Leave out' }).click();
    await page.getByRole('combobox', { name: 'Campaign for these leads' }).click();
    await page.getByRole('option', { name: 'DEMO' }).click();
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-import');
    // The leads are counted before the list learns of them.
    const counted = page
      .waitForResponse((answer) => answer.url().includes('/leads/import'))
      .then(() => page.waitForResponse((answer) => answer.url().includes('count=exact')));
    await page.route('**/api/console/order/leads?*updatedSince*', async (route) => {
      await counted;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Import', exact: true }).click();

    await page.getByRole('button', { name: 'Download the rejected lines' }).waitFor();
    expect(await figure(page, 'Stored')).toBe('Stored2');
    expect(await figure(page, 'Rejected')).toBe('Rejected2');
    expect(await findViolations(page)).toEqual([]);
    await screenshot(page, 'leads-import-report');
    await page.locator('[role="row"]', { hasText: 'Ada Lovelace' }).waitFor();
    expect(await page.getByText(/^\d+ leads?$/).textContent()).toBe('2 leads');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the rejected lines' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('from elsewhere-rejected.csv');
    const rejected = (await readFile(await download.path(), 'utf8')).split('\r\n');
    expect(rejected[0]).toBe('\uFEFFline;rejection;"Contact\nperson";Mobile;E-Mail;utm_source;status;Secret');
    expect(rejected[1]).toMatch(/^6;"phone [^"]*";No Phone;;;;;$/);
    expect(rejected[2]).toMatch(/^7;"email [^"]*";Wrong Mail;\+442079460000;x@example.com;"a;b";;$/);

    const leads = await website.fixture.sql<{
      name: string;
      email: string | null;
      extra: unknown;
      status: string;
    }>('SELECT name, email, extra, status::text FROM lead WHERE workspace_id = $1 ORDER BY name', [
      workspace.id,
    ]);
    expect(leads).toEqual([
      {
        name: 'Ada Lovelace',
        email: 'ada@example.io',
        extra: { utm_source: 'newsletter' },
        status: 'OnHold',
      },
      { name: 'Grace\r\n"Amazing" Hopper', email: null, extra: null, status: 'OnHold' },
    ]);

    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Stored before').waitFor();
    expect(await figure(page, 'Stored before')).toBe('Stored before2');
    const [{ count } = { count: -1 }] = await website.fixture.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM lead WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(count).toBe(2);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row').filter({ hasText: 'Ada Lovelace' }).waitFor();
  });

  test('shows its progress, can be canceled, and completes if it is started again', async () => {
    const { page, workspace } = await website.openSignedIn({ width: 390, height: 844 });
    const file = join(folder, 'large.csv');
    const rows = Array.from(
      { length: 9_000 },
      (_, i) => `DEMO,Person ${i},+4420${79400000 + i},${'x'.repeat(400)}`,
    );
    await writeFile(file, ['campaign_code,name,phone,notes', ...rows].join('\r\n'));
    await openImport(page, file);
    // A slow connection keeps the import in progress.
    const client = await page.context().newCDPSession(page);
    const limit = (uploadThroughput: number) =>
      client.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await page.getByRole('button', { name: 'Import', exact: true }).waitFor();
    expect(await overflowOf(page)).toBe(0);
    await screenshot(page, 'leads-import-390');
    await limit(700_000);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const bar = page.getByRole('progressbar', { name: 'Importing' });
    await expect.poll(async () => Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(5);
    expect(Number(await bar.getAttribute('aria-valuenow'))).toBeLessThan(100);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Canceled. The leads stored so far stay').waitFor();
    await limit(-1);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'Import report' }).waitFor();
    expect(await figure(page, 'Rejected')).toBe('Rejected0');
    const [{ count } = { count: -1 }] = await website.fixture.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM lead WHERE workspace_id = $1',
      [workspace.id],
    );
    expect(count).toBe(9_000);
    // The list reloads because more leads have arrived than one response holds.
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('9,000 leads').waitFor();
    await page.getByRole('grid', { name: 'Leads' }).focus();
    await page.keyboard.press('End');
    await expect
      .poll(() => page.getByRole('grid', { name: 'Leads' }).evaluate((element) => element.scrollHeight))
      .toBeGreaterThan(200 * 60 + 36);
  });

  test('of a file that was changed after it was chosen says so, also in its report', async () => {
    const { page } = await website.openSignedIn();
    const file = join(folder, 'changed.csv');
    const dialog = page.getByRole('dialog');
    const reason = dialog.getByText('The browser cannot read the file. It was changed, moved or deleted');
    await writeFile(file, 'name,phone\nAda Lovelace,+44 20 7946 0958\nNo Phone,\n');
    await openImport(page, file);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('table', { name: 'Import report' }).waitFor();
    await writeFile(file, 'name,phone\nAda Lovelace,+44 20 7946 0958\nNo Phone,+44 20 7946 0959\n');
    await page.getByRole('button', { name: 'Download the rejected lines' }).click();
    await reason.waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Choose another file' }).waitFor();
    await reason.waitFor();
    expect(await dialog.getByText('The page has an error').count()).toBe(0);
  });

  test('with more rejected lines than the service reports says which lines the download has', async () => {
    const { page } = await website.openSignedIn();
    const file = join(folder, 'all rejected.csv');
    await writeFile(file, `name,phone\n${'No Phone,\n'.repeat(1_200)}`);
    await openImport(page, file);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('The first 100 are listed. The download has the first 1,000.').waitFor();
    expect(await figure(page, 'Rejected')).toBe('Rejected1,200');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the first 1,000 rejected lines' }).click(),
    ]);
    expect((await readFile(await download.path(), 'utf8')).split('\r\n')).toHaveLength(1_002);
  });

  test('is not ended by the back button, and not by closing the tab without a question, and its report stays until the user closes it', async () => {
    const { page } = await website.openSignedIn();
    const file = join(folder, 'rejected.csv');
    await writeFile(file, 'name,phone\nNo Phone,\n');
    await page.goto('/campaigns');
    await page.getByRole('link', { name: 'Leads', exact: true }).click();
    await chooseImport(page, file);
    const answer = await hold(page, /\/leads\/import/);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('progressbar', { name: 'Importing' }).waitFor({ state: 'attached' });
    await page.goBack();
    const [question] = await Promise.all([
      page.waitForEvent('dialog'),
      page.close({ runBeforeUnload: true }),
    ]);
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    answer.release();
    const report = page.getByRole('table', { name: 'Import report' });
    await report.waitFor();
    await page.mouse.click(5, 5);
    await page.goBack();
    await waitForFrames(page);
    expect(await figure(page, 'Rejected')).toBe('Rejected1');
    const [questionOfReport] = await Promise.all([
      page.waitForEvent('dialog'),
      page.close({ runBeforeUnload: true }),
    ]);
    await questionOfReport.dismiss();
    await page.getByRole('button', { name: 'Done' }).click();
    await report.waitFor({ state: 'detached' });
    // After the import, the back button leaves the page.
    await page.goBack();
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  });

  test('rejects a file that is not UTF-8 before it is sent', async () => {
    const { page } = await website.openSignedIn();
    const file = join(folder, 'latin.csv');
    await writeFile(file, Buffer.from('name,phone\nZo\xeb,123\n', 'latin1'));
    await openImport(page, file);
    const alert = page.getByRole('alert');
    await alert.getByText('The file is not UTF-8').waitFor();
    expect(await alert.textContent()).not.toContain('The page has an error');
    expect(await page.getByRole('button', { name: 'Choose a CSV file' }).isVisible()).toBe(true);
  });

  test('reads a file again that was corrected after its error', async () => {
    const { page } = await website.openSignedIn();
    const file = join(folder, 'corrected.csv');
    await writeFile(file, Buffer.from('name,phone\nZo\xeb,123\n', 'latin1'));
    await openImport(page, file);
    await page.getByRole('alert').getByText('The file is not UTF-8').waitFor();
    // The browser reports a choice only if it differs from the value of the field.
    expect(await page.locator('input[type="file"]').inputValue()).toBe('');
    await writeFile(file, 'name,phone\nZoë,123\n');
    await page.locator('input[type="file"]').setInputFiles(file);
    await page.getByRole('combobox', { name: 'Field for phone', exact: true }).waitFor();
  });

  test('says whether campaigns are loading, could not be loaded, or do not match', async () => {
    const { page } = await website.openSignedIn();
    const file = join(folder, 'campaigns.csv');
    await writeFile(file, 'name,phone\nZoë,123\n');
    const campaigns = /\/console\/campaigns$/;
    const answer = await hold(page, campaigns);
    await openImport(page, file);
    const campaign = page.getByRole('combobox', { name: 'Campaign for these leads' });
    await expect.poll(() => campaign.getAttribute('placeholder')).toBe('Loading');
    answer.release();
    await expect.poll(() => campaign.inputValue()).toBe('Default campaign (default)');
    await campaign.fill('zzz');
    await page.getByText('No active campaign has this name or code.').waitFor();
    await page.unroute(campaigns);
    await page.route(campaigns, (route) => route.fulfill({ status: 403, json: {} }));
    await openImport(page, file);
    await expect.poll(() => campaign.getAttribute('placeholder')).toBe('The campaigns could not be loaded.');
  });
});

test('a manager uploads the results of a call center, reads the reason for each rejected line, and changes no lead twice', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const leads = ['s-1', 's-2', 's-3', 's-4'].map((s1, i) =>
    workspace.lead(member, {
      name: s1,
      s1,
      phone: `+1202555014${i}`,
      ...(i === 3 && { status: 'Approved' }),
    }),
  );
  await website.fixture.leads.insert(leads);
  await website.fixture.sql(
    `INSERT INTO status_alias (workspace_id, alias, status, reason)
     VALUES ($1, 'confirmed', 'Approved', NULL), ($1, 'fake', 'Trashed', 'fake')`,
    [workspace.id],
  );
  const file = join(folder, 'results.csv');
  const lines = [
    'Click ID;Mobile;Operator;Outcome;Comment',
    's-1;+12025550140;Ann;Confirmed;',
    ';+1 202 555 0141;Ann;FAKE;',
    's-4;;Bob;confirmed;',
    's-3;;Bob;Trashed;No answer',
    's-9;;Bob;confirmed;',
    's-3;;Bob;maybe;',
    '',
  ];
  await writeFile(file, lines.join('\r\n'));
  await page.goto('/integrations');
  await page.getByRole('button', { name: 'Import statuses' }).click();
  await page.getByRole('button', { name: 'Choose a CSV file' }).waitFor();
  await page.locator('input[type="file"]').setInputFiles(file);
  const form = page.getByRole('dialog', { name: 'Import statuses' });
  const target = (column: string) => form.getByRole('combobox', { name: `Field for ${column}`, exact: true });
  await target('Outcome').waitFor();
  for (const [column, field] of [
    ['Click ID', 'Sub-id (s1)'],
    ['Mobile', 'Phone'],
    ['Operator', 'Leave out'],
    ['Outcome', 'Status'],
    ['Comment', 'Reason'],
  ] as const) {
    expect([column, await target(column).inputValue()]).toEqual([column, field]);
  }
  const map = async (column: string, field: string) => {
    await target(column).click();
    await page.getByRole('option', { name: field, exact: true }).click();
  };
  await map('Outcome', 'Leave out');
  await form.getByText('Choose a column for: Status.').waitFor();
  const start = form.getByRole('button', { name: 'Change the statuses' });
  expect(await start.isDisabled()).toBe(true);
  await map('Outcome', 'Status');
  await expectGoodEverywhere(page, 'leads-import-statuses');
  await start.click();

  const report = form.getByRole('table', { name: 'Report of the statuses' });
  const rows = async () => Promise.all((await report.getByRole('row').all()).map((row) => row.innerText()));
  await report.waitFor();
  expect(await rows()).toEqual(['Changed\t3', 'Had the status already\t1', 'Rejected\t2']);
  const rejected = form.getByRole('table', { name: 'Rejected lines' });
  await rejected.getByRole('row', { name: '6 No lead has these values' }).waitFor();
  await rejected.getByRole('row', { name: /^7 status .*confirmed/ }).waitFor();
  await expectGoodEverywhere(page, 'leads-import-statuses-report');
  const stored = () =>
    website.fixture.sql(
      `SELECT s1, status::text, (SELECT reason FROM lead_change c WHERE c.lead_id = l.id AND status IS NOT NULL) AS reason
       FROM lead l WHERE workspace_id = $1 ORDER BY s1`,
      [workspace.id],
    );
  const changed = [
    { s1: 's-1', status: 'Approved', reason: null },
    { s1: 's-2', status: 'Trashed', reason: 'fake' },
    { s1: 's-3', status: 'Trashed', reason: 'No answer' },
    { s1: 's-4', status: 'Approved', reason: null },
  ];
  expect(await stored()).toEqual(changed);
  await form.getByRole('button', { name: 'Try again' }).click();
  await expect
    .poll(rows)
    .toEqual(['Changed\t0', 'Had the status already\t1', 'Changed by this file before\t3', 'Rejected\t2']);
  expect(await stored()).toEqual(changed);

  // The lead list offers the same dialog, which leads to the aliases. A publisher changes no statuses.
  await form.getByRole('button', { name: 'Done' }).click();
  await page.goto('/leads');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Import statuses' }).click();
  await page.locator('input[type="file"]').setInputFiles(file);
  await form.getByRole('link', { name: 'Edit the status aliases' }).click();
  await page.getByRole('heading', { name: 'Status aliases' }).waitFor();
  expect(await form.count()).toBe(0);
  const publisher = await website.openSignedIn({ role: 'publisher' });
  await publisher.page.goto('/leads');
  await publisher.page.getByRole('button', { name: 'More actions' }).click();
  await publisher.page.getByRole('menuitem', { name: 'Import a CSV file' }).waitFor();
  expect(await publisher.page.getByRole('menuitem', { name: 'Import statuses' }).count()).toBe(0);
});

describe('an export', () => {
  test('requires a session, returns the filtered leads, and returns a publisher only its own', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'publisher' });
    const owner = await website.openSignedIn({ workspace });
    await website.fixture.leads.insert([
      workspace.lead(member, { name: 'Mine' }),
      workspace.lead(member, { name: 'Mine and paid', status: 'Paid' }),
      workspace.lead(workspace.owner, { name: 'Theirs' }),
    ]);
    const address = `${website.crm}/api/console/order/leads`;
    for (const format of ['csv', 'ndjson']) {
      expect((await fetch(`${address}.${format}`)).status).toBe(401);
      // API credentials are not accepted instead of a session.
      expect((await fetch(`${address}.${format}`, { headers: { ...member.headers } })).status).toBe(401);
      expect(
        (await fetch(`${website.crm}/api/v1/order/leads.${format}`, { headers: { ...member.headers } }))
          .status,
      ).toBe(404);
    }
    const names = async (of: Page, query: string) => {
      const answer = await of.context().request.get(`${address}.ndjson${query}`);
      expect(answer.status()).toBe(200);
      expect(answer.headers()['content-disposition']).toMatch(/^attachment; filename="leads-.*\.ndjson"$/);
      const lines = (await answer.text()).split('\n').filter((line) => line !== '');
      return lines.map((line) => (JSON.parse(line) as { name: string }).name).toSorted();
    };
    expect(await names(page, '')).toEqual(['Mine', 'Mine and paid']);
    expect(await names(page, '?status=Paid')).toEqual(['Mine and paid']);
    expect(await names(owner.page, '')).toEqual(['Mine', 'Mine and paid', 'Theirs']);
    expect(await names(owner.page, '?q=theirs')).toEqual(['Theirs']);
    const csv = await owner.page.context().request.get(`${address}.csv?status=Paid`);
    expect(csv.headers()['content-type']).toContain('text/csv');
    expect((await csv.text()).trimEnd().split('\r\n')).toHaveLength(2);
    const wrong = await owner.page.context().request.get(`${address}.csv?limit=3`);
    expect(wrong.status()).toBe(400);
  });

  test('works over plain HTTP, where browsers have no clipboard and no random UUIDs', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await page.addInitScript(`
      delete Crypto.prototype.randomUUID;
      delete Navigator.prototype.clipboard;`);
    await website.fixture.leads.insert([workspace.lead(member, { name: 'Ada Lovelace' })]);
    await page.goto('/leads');
    await page.getByText('Ada Lovelace').click();
    const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
    await panel.getByRole('heading', { level: 2 }).waitFor();
    await panel.getByRole('button', { name: 'Copy ID' }).click();
    await panel.getByRole('button', { name: 'Select the text and copy it' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search leads, pages and actions' }).fill('copy the phone');
    await page.getByRole('option', { name: 'Copy the phone number' }).click();
    await page.getByText('The browser does not allow this page to copy. Select the number').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More actions' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export as CSV' }).click();
    expect(await readFile(await (await download).path(), 'utf8')).toContain('Ada Lovelace');

    await page.goto('/profile');
    await page.getByRole('button', { name: 'Create an API key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Copied by hand');
    await page.keyboard.press('Enter');
    const secret = await page.getByLabel(/^Secret of /).innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.getByText(secret).count()).toBe(0);
    await page.getByRole('button', { name: 'Copy the example' }).click();
    await page.getByText('Select the text and copy it').waitFor();
    await page.locator('pre').getByText(secret).waitFor();
  });

  test('shows its progress, can be cancelled, and saves nothing after an error', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    // Browsers without a screen cannot ask for a file. This one writes files of its own instead.
    await page.addInitScript(() => {
      window.showSaveFilePicker = async ({ suggestedName }) =>
        (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });
    });
    const files = () =>
      page.evaluate(async () => {
        const found: [name: string, text: string][] = [];
        const storage = await navigator.storage.getDirectory();
        for await (const [name, file] of storage.entries()) {
          found.push([name, await (await (file as FileSystemFileHandle).getFile()).text()]);
          await storage.removeEntry(name);
        }
        return found;
      });
    const start = async () => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Export as CSV' }).click();
    };
    const leads = Array.from({ length: 3_000 }, (_, i) =>
      workspace.lead(member, { name: `Person ${i}`, description: 'one\ntwo'.repeat(500) }),
    );
    await website.fixture.leads.insert(leads);
    await page.goto('/leads');
    await page.getByText('3,000 leads').waitFor();
    // A slow connection keeps the export in progress.
    const client = await page.context().newCDPSession(page);
    const limit = (downloadThroughput: number) =>
      client.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput,
        uploadThroughput: -1,
      });
    await limit(100_000);
    await start();
    const bar = page.getByRole('progressbar', {
      name: /^Exporting to leads-.*\.csv: [1-9][\d,]* of 3,000 leads$/,
    });
    await bar.waitFor();
    await expectGoodEverywhere(page, 'leads-export');
    // The export continues on another page of the website.
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Leads', exact: true }).click();
    await bar.waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Export canceled. Nothing was saved.').waitFor();
    expect(await files()).toEqual([]);

    await start();
    await bar.waitFor();
    const origin = website.crm;
    await client.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100_000 });
    await page.getByRole('alert').getByText('The export failed').waitFor();
    expect(await files()).toEqual([]);

    await client.send('Storage.overrideQuotaForOrigin', { origin });
    await limit(-1);
    await start();
    await page.getByText(/^Exported 3,000 leads to leads-.*\.csv\.$/).waitFor();
    const [[name, text] = ['', ''], ...others] = await files();
    expect([name, others]).toEqual([expect.stringMatching(/^leads-.*\.csv$/), []]);
    expect(text.match(/Person \d+,/g)).toHaveLength(3_000);

    // A browser that cannot write a file of the user shows the same progress, and saves the file when it is complete.
    await page.evaluate(() => Reflect.set(window, 'showSaveFilePicker', undefined));
    const saved: string[] = [];
    page.on('download', (each) => saved.push(each.suggestedFilename()));
    await limit(100_000);
    await start();
    await bar.waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Export canceled. Nothing was saved.').last().waitFor();
    await bar.waitFor({ state: 'detached' });
    expect(saved).toEqual([]);
    await limit(-1);
    const arriving = page.waitForEvent('download');
    await start();
    const arrived = await readFile(await (await arriving).path(), 'utf8');
    expect(arrived.match(/Person \d+,/g)).toHaveLength(3_000);
    expect(saved).toEqual([expect.stringMatching(/^leads-.*\.csv$/)]);
    await page.evaluate(() =>
      Reflect.set(window, 'showSaveFilePicker', async ({ suggestedName }: { suggestedName: string }) =>
        (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true }),
      ),
    );

    // The server rejects an export before it begins. The page stays and shows the reason.
    await page.route('**/order/leads.csv*', (route) =>
      route.continue({ url: `${route.request().url()}&limit=1` }),
    );
    await start();
    await page.getByRole('alert').getByText('This is not possible').waitFor();
    expect(await files()).toEqual([]);
  });
});

describe('an exported file', () => {
  test('contains exactly the filtered leads', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1_200, (i) => ({
      status: i % 2 === 0 ? 'Approved' : 'OnHold',
    }));
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
    const ids = await addLeads(website, workspace, member, 5);
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
