import { answering, startReceiver, verified, type WebhookReceiver } from '@leads/test-kit/webhook-receiver';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { choose, expectFocusOn, press as pressByKeyboard, write } from './by-keyboard.ts';
import { addLeads, notice, openEdit } from './leads-page.ts';
import { expectGoodEverywhere, expectGoodPage } from './page-checks.ts';
import { hold, openWebsite, waitForFrames, type Website } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterAll(() => website?.[Symbol.asyncDispose]());

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await website.closePages();
  await receiver[Symbol.asyncDispose]();
});

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();

/** Creates a webhook of the receiver with the keyboard, and opens its page. Returns its secret. */
async function createWebhook(page: Page): Promise<string> {
  await page.goto('/integrations');
  await page.getByText('No webhook yet').waitFor();
  await pressByKeyboard(page, 'New webhook');
  await expectFocusOn(page, 'URL');
  await write(page, 'URL', `${receiver.url}/hook`);
  await write(page, 'Additional headers', 'X-Key: opaque value');
  await pressByKeyboard(page, 'Create');
  const shown = page.getByRole('dialog', { name: 'The secret of your new webhook' });
  const secret = await shown.getByRole('textbox').textContent();
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('link', { name: `${receiver.url}/hook` }).click();
  await page.getByRole('heading', { name: new URL(receiver.url).host }).waitFor();
  return secret ?? '';
}

/** Confirms an action in its dialog, whose button has the same name. */
async function confirm(page: Page, name: string): Promise<void> {
  await press(page, name);
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

test('a manager creates a webhook, sends a test, and sees the result', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const lead = workspace.lead(member);
  await website.fixture.leads.insert([lead]);
  // While the list is loaded, it has no button. The button would lose the focus when it moves below the text.
  const list = await hold(page, /\/webhooks$/);
  await page.goto('/integrations');
  await page.getByRole('button', { name: 'New postback' }).waitFor();
  expect(await page.getByRole('button', { name: 'New webhook' }).count()).toBe(0);
  list.release();
  await page.getByText('No webhook yet').waitFor();
  await press(page, 'New webhook');
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('URL').fill(`${receiver.url}/hook`);
  await form.getByLabel('Additional headers').fill('X-Key: opaque value');
  const preview = form.getByRole('region', { name: 'Preview' });
  await preview.getByText(`POST ${receiver.url}/hook\nX-Key: (hidden)\n`).waitFor();
  await preview.getByText(`webhook-id: evt_${lead.id}_1`).waitFor();
  await preview.getByText(`"subject": "${lead.id}"`).waitFor();
  await preview.scrollIntoViewIfNeeded();
  await expectGoodEverywhere(page, 'webhooks-preview');
  await form.getByLabel('URL').fill('ftp://example.com');
  await form.getByLabel('Additional headers').fill('X-Key: one\nX-Key: two');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('each name can be given once').waitFor();
  await form.getByLabel('Additional headers').fill('no header');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('Every line must have the form Name: value').waitFor();
  await form.getByLabel('Additional headers').fill('');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect.poll(() => form.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
  await expectGoodEverywhere(page, 'webhooks-new');
  await form.getByRole('button', { name: 'Cancel' }).click();

  const secret = await createWebhook(page);
  await press(page, 'Send a test');
  const deliveries = page.getByRole('list', { name: 'Deliveries' });
  await deliveries.getByText('Delivered').waitFor();
  const [sent] = receiver.received;
  expect(sent && verified(sent, secret)).toMatchObject({ type: 'webhook.test' });
  expect(sent?.headers['x-key']).toBe('opaque value');
  await expectGoodEverywhere(page, 'webhook');
  // The page is also reached by its address, and the secret is not shown again.
  await page.reload();
  await deliveries.getByText('Delivered').waitFor();
  expect(await page.content()).not.toContain(secret);
});

test('the deliveries can be filtered until the end of the year 9999 in every time zone', async () => {
  const { page } = await website.openSignedIn();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' });
  await createWebhook(page);
  await page.getByLabel('Before', { exact: true }).fill('9999-12-31T23:59');
  await expect.poll(() => new URL(page.url()).searchParams.get('to')).toBe('9999-12-31T23:59:59.999Z');
});

test('the filters of the deliveries follow a link to the same webhook and the back button', async () => {
  const { page, workspace } = await website.openSignedIn();
  await createWebhook(page);
  await website.fixture.sql(
    `UPDATE delivery_endpoint SET failures = 3, failing_since = now() - interval '25 hours' WHERE workspace_id = $1`,
    [workspace.id],
  );
  await page.reload();
  const statusCode = page.getByLabel('Status code', { exact: true });
  const from = page.getByLabel('From', { exact: true });
  await from.fill('2026-03-10T09:30');
  await page.waitForURL(/[?&]from=/);
  await statusCode.fill('50');
  await statusCode.fill('500');
  await page.waitForURL(/[?&]statusCode=500/);
  await page.getByRole('alert').getByRole('link').first().click();
  await page.waitForURL((url) => url.search === '');
  await expect.poll(() => statusCode.inputValue()).toBe('');
  expect(await from.inputValue()).toBe('');
  await page.goBack();
  await page.waitForURL(/[?&]statusCode=500/);
  await expect.poll(() => statusCode.inputValue()).toBe('500');
  expect(await from.inputValue()).toBe('2026-03-10T09:30');
  // An incomplete status code filters nothing, and stays.
  await statusCode.fill('5');
  await page.waitForURL((url) => !url.searchParams.has('statusCode'));
  await waitForFrames(page);
  expect(await statusCode.inputValue()).toBe('5');
});

test('failures are shown with their answers, and can be sent again', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await createWebhook(page);
  const deliveries = page.getByRole('list', { name: 'Deliveries' });
  await website.fixture.leads.insert([workspace.lead(member, { name: 'Grace Hopper' })]);
  await deliveries.getByText('Delivered').waitFor();
  receiver.answer = answering(500, {}, 'the receiver is broken');
  const lead = workspace.lead(member, { name: 'Ada Lovelace' });
  await website.fixture.leads.insert([lead]);
  await deliveries.getByText('the receiver is broken').waitFor();
  await page.getByText('Failing', { exact: true }).waitFor();

  // The log shows the names of leads. Filters find a delivery by its status code, its lead and its time.
  const listed = async () =>
    (await deliveries.count()) === 0 ? [] : deliveries.getByRole('link').allTextContents();
  const filter = (label: string) => page.getByLabel(label, { exact: true });
  await filter('Status code').fill('500');
  await expect.poll(listed).toEqual(['Ada Lovelace']);
  await filter('Status code').fill('60');
  await expect.poll(listed).toEqual(['Ada Lovelace', 'Grace Hopper']);
  await filter('Status code').fill('600');
  await page.getByText('Enter 100 to 599').waitFor();
  await filter('Status code').fill('');
  await choose(page, 'Lead', 'Grace Hopper, On hold');
  await expect.poll(listed).toEqual(['Grace Hopper']);
  await expectGoodEverywhere(page, 'webhook-filters');
  await filter('Before').fill('2026-01-01T00:00');
  await page.getByText('No delivery matches these filters.').waitFor();
  await filter('Before').fill('');
  await filter('From').fill('2099-01-01T00:00');
  await page.getByText('No delivery matches these filters.').waitFor();
  // The address keeps the filters.
  await page.waitForURL(/[?&]from=2099-01-01T/);
  await page.reload();
  await page.getByText('No delivery matches these filters.').waitFor();
  expect(await filter('From').inputValue()).toBe('2099-01-01T00:00');
  await press(page, 'Clear the filters');
  await expect.poll(listed).toEqual(['Ada Lovelace', 'Grace Hopper']);
  await press(page, `Show the request: evt_${lead.id}_1`);
  await deliveries.getByText(`"subject": "${lead.id}"`).waitFor();
  await deliveries.getByRole('link', { name: 'Ada Lovelace' }).click();
  await page.getByRole('dialog', { name: 'Lead', exact: true }).getByText('Ada Lovelace').first().waitFor();
  await page.goBack();

  await confirm(page, 'Disable');
  await page.getByText('Disabled by a member.', { exact: false }).waitFor();
  await press(page, 'Enable');
  await press(page, 'Disable');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

  receiver.answer = answering(204);
  const [waiting] = await website.fixture.sql<{ state: string }>(
    `UPDATE delivery SET state = 'failed', next_attempt_at = NULL, lease_id = NULL WHERE lead_id = $1 RETURNING state`,
    [lead.id],
  );
  expect(waiting).toEqual({ state: 'failed' });
  await confirm(page, 'Send missed events');
  await page.getByText('1 event is sent again.').waitFor();
  await expect.poll(() => deliveries.getByText('Delivered').count()).toBe(2);
  const before = receiver.received.length;
  await press(page, `Send again: evt_${lead.id}_1`);
  await expect.poll(() => receiver.received.length).toBe(before + 1);
  await expectGoodPage(page);
});

test('a request of a webhook that cannot be read is shown after "Try again"', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await createWebhook(page);
  const lead = workspace.lead(member);
  await website.fixture.leads.insert([lead]);
  const deliveries = page.getByRole('list', { name: 'Deliveries' });
  await deliveries.getByText('Delivered').waitFor();
  await page.route(/\/console\/deliveries\//, (route) => route.fulfill({ status: 503 }));
  await press(page, `Show the request: evt_${lead.id}_1`);
  await deliveries.getByRole('alert').waitFor();
  await page.unrouteAll();
  await deliveries.getByRole('button', { name: 'Try again' }).click();
  await deliveries.getByText(`"subject": "${lead.id}"`).waitFor();
  expect(await deliveries.getByRole('alert').count()).toBe(0);
});

test('the delivery log names the lead of its filter, also an old one', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const old = workspace.lead(member, { name: 'Ada Lovelace', createdAt: new Date('2026-01-31') });
  const others = Array.from({ length: 20 }, (_, at) => workspace.lead(member, { name: `Person ${at}` }));
  await website.fixture.leads.insert([old, ...others]);
  await createWebhook(page);
  await page.goto(`${page.url()}?leadId=${old.id}`);
  await page.getByText('No delivery matches these filters.').waitFor();
  const lead = page.getByRole('combobox', { name: 'Lead', exact: true });
  await expect.poll(() => lead.inputValue()).toBe('Ada Lovelace');
});

test('the delivery log names a lead by the name that it was given a moment ago', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const lead = workspace.lead(member, { name: 'Ada Lovelace' });
  await website.fixture.leads.insert([lead]);
  // Nothing is refreshed because of its age.
  await page.clock.setFixedTime(new Date());
  await createWebhook(page);
  await website.fixture.sql(
    `INSERT INTO delivery (id, workspace_id, endpoint_id, type, lead_id, version, state, attempts)
     SELECT gen_random_uuid(), workspace_id, id, 'lead.created', $2, 1, 'delivered', 1
     FROM delivery_endpoint WHERE workspace_id = $1`,
    [workspace.id, lead.id],
  );
  const deliveries = page.getByRole('region', { name: 'Deliveries' });
  await deliveries.getByRole('link', { name: 'Ada Lovelace' }).click();
  const panel = page.getByRole('dialog', { name: 'Lead', exact: true });
  await openEdit(panel);
  await panel.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper');
  await panel.getByRole('button', { name: 'Save', exact: true }).click();
  await notice(page, 'Saved').waitFor();
  await page.goBack();
  await deliveries.getByRole('link', { name: 'Grace Hopper' }).waitFor();
  expect(await deliveries.getByRole('link', { name: 'Ada Lovelace' }).count()).toBe(0);
});

test('an address or a body that is too long is rejected, and nothing is cut off', async () => {
  const { page } = await website.openSignedIn();
  const url = `https://hooks.example.com/${'x'.repeat(2100)}`;
  await page.goto('/integrations');
  for (const kind of ['webhook', 'postback']) {
    await page
      .getByRole('button', { name: `New ${kind}` })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel(/^URL/);
    await field.focus();
    await page.keyboard.insertText(url);
    expect(await field.inputValue()).toBe(url);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Must have at most 2048 characters').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  }
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New postback' }).first().click();
  await dialog.getByLabel(/^URL/).fill('https://hooks.example.com');
  await dialog.getByLabel('Request').click();
  await page.getByRole('option', { name: /JSON/ }).click();
  await dialog.getByLabel('Body').focus();
  await page.keyboard.insertText('x'.repeat(8193));
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('Must have at most 8192 characters').waitFor();
});

test('missed events are sent again since a day in the time zone of the browser', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  // A zone whose day is not that of UTC at present.
  const timezoneId = new Date().getUTCHours() < 10 ? 'Etc/GMT+12' : 'Pacific/Kiritimati';
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId });
  await createWebhook(page);
  await press(page, 'Send missed events');
  const dialog = page.getByRole('dialog', { name: 'Send missed events again?' });
  const since = dialog.getByLabel('Since');
  const threeDaysAgo = new Date(Date.now() - 3 * 86_400_000);
  expect(await since.inputValue()).toBe(threeDaysAgo.toLocaleDateString('sv', { timeZone: timezoneId }));
  await since.fill('');
  await dialog.getByRole('button', { name: 'Send missed events' }).click();
  await dialog.getByText('Enter the day since which events are sent again.').waitFor();
  await since.fill('2026-01-31');
  await dialog.getByRole('button', { name: 'Send missed events' }).click();
  await page.getByText('Nothing was missed since then.').waitFor();
  const [lead] = await addLeads(website, workspace, member, 1);
  await website.fixture.sql(
    `INSERT INTO delivery (id, workspace_id, endpoint_id, type, lead_id, version, state)
     SELECT gen_random_uuid(), $1, id, 'lead.updated', $2, n, 'failed'
     FROM delivery_endpoint, generate_series(2, 1001) n WHERE workspace_id = $1`,
    [workspace.id, lead],
  );
  await press(page, 'Send missed events');
  await dialog.getByRole('button', { name: 'Send missed events' }).click();
  await page.getByText('1,000 events are sent again.').waitFor();
});

test('the secret is rotated, headers are replaced, and the webhook is deleted', async () => {
  const { page } = await website.openSignedIn();
  const before = await createWebhook(page);
  await confirm(page, 'Rotate the secret');
  const shown = page.getByRole('dialog', { name: 'The new secret of your webhook' });
  const after = (await shown.getByRole('textbox').textContent()) ?? '';
  expect(after).toMatch(/^whsec_/);
  expect(after).not.toBe(before);
  await press(page, 'I have stored it');
  await page.getByText('Old secret signs until').waitFor();

  await press(page, 'Edit');
  const form = page.getByRole('dialog', { name: 'Edit the webhook' });
  await form.getByText('Now: X-Key.', { exact: false }).waitFor();
  await form.getByLabel('Description').fill('Sales CRM');
  // Lines that were entered before are removed, too: the field is disabled then, and the preview has no headers.
  await form.getByRole('textbox', { name: 'Additional headers' }).fill('X-Key: entered by mistake');
  await form.getByLabel('Remove all additional headers').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Sales CRM').waitFor();
  await press(page, 'Send a test');
  await expect.poll(() => receiver.received.length).toBe(1);
  const [sent] = receiver.received;
  for (const secret of [before, after]) {
    expect(sent && verified(sent, secret)).toMatchObject({ type: 'webhook.test' });
  }
  expect(sent?.headers['x-key']).toBeUndefined();

  await confirm(page, 'Delete');
  await page.getByText('No webhook yet').waitFor();
});

test('two users who edit a webhook or a postback at the same time keep the changes of each other', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const url = 'https://hooks.example.com/first';
  await page.goto('/integrations');
  for (const kind of ['webhook', 'postback']) {
    const path = `${website.crm}/api/v1/${kind}s`;
    const send = (address: string, method: string, body: object) =>
      fetch(address, {
        method,
        headers: { ...member.headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const created = await send(path, 'POST', {
      url,
      ...(kind === 'webhook' && { events: ['lead.created'] }),
    });
    const { [kind]: { id } = { id: '' } } = (await created.json()) as Record<string, { id: string }>;
    await page.goto(`/${kind}s/${id}`);
    await press(page, 'Edit');
    const form = page.getByRole('dialog', { name: `Edit the ${kind}` });
    await form.getByLabel('Description').fill('Sales CRM');
    const moved = 'https://hooks.example.com/second';
    const other = { url: moved, includesImports: true };
    expect((await send(`${path}/${id}`, 'PATCH', other)).status).toBe(200);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByText(moved).waitFor();
    const [stored] = await website.fixture.sql(
      'SELECT url, includes_imports, description FROM delivery_endpoint WHERE id = $1',
      [id],
    );
    expect(stored).toEqual({ url: moved, includes_imports: true, description: 'Sales CRM' });
    // The audit log names only what the user has changed.
    const [entry] = await website.fixture.sql(
      `SELECT details->>'changed' AS changed FROM audit_entry
       WHERE workspace_id = $1 AND action = $2 ORDER BY id DESC LIMIT 1`,
      [workspace.id, `${kind}.changed`],
    );
    expect(entry).toEqual({ changed: 'description' });
  }
});

test('the deletion of a webhook leaves the user on the page that they have gone to meanwhile', async () => {
  const { page } = await website.openSignedIn({ role: 'manager' });
  await createWebhook(page);
  const deleted = await hold(page, /\/webhooks\//, 'DELETE');
  const answered = page.waitForResponse((response) => response.request().method() === 'DELETE');
  await confirm(page, 'Delete');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Leads', exact: true }).click();
  await page.getByRole('heading', { name: 'Leads', exact: true }).waitFor();
  deleted.release();
  await (await answered).finished();
  await waitForFrames(page);
  expect(page.url()).toMatch(/\/leads$/);
});

test('a deleted webhook disappears from the list and from the banner of failing endpoints', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  await createWebhook(page);
  await website.fixture.sql(
    `UPDATE delivery_endpoint SET failures = 3, failing_since = now() - interval '25 hours' WHERE workspace_id = $1`,
    [workspace.id],
  );
  await page.reload();
  const banner = page.getByRole('alert').filter({ hasText: 'Your systems do not receive changes of leads' });
  await banner.waitFor();
  // A hidden page does not refresh its lists after an interval.
  await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { value: 'hidden' }));
  await confirm(page, 'Delete');
  await page.getByText('No webhook yet').waitFor();
  await expect.poll(() => banner.count()).toBe(0);
});

test('a manager creates a postback from a preset, sees the request for a lead, and corrects what the service rejects', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const lead = workspace.lead(member, { s1: 'click 1', name: 'Ann & Bo' });
  await website.fixture.leads.insert([lead]);
  await page.goto('/integrations');
  await page.getByText('No postback yet').waitFor();
  await pressByKeyboard(page, 'New postback');
  const form = page.getByRole('dialog', { name: 'New postback' });
  await expectFocusOn(page, 'Tracker');
  await choose(page, 'Tracker', 'Keitaro');
  expect(await form.getByLabel('Trashed is sent as').inputValue()).toBe('rejected');
  const preview = form.getByRole('region', { name: 'Preview' });
  await preview.getByText(`GET https://tracker.example/KEY/postback?subid=click%201`).waitFor();

  // Errors of a template are beside its field, before it is saved, too.
  await form.getByLabel('URL').fill(`${receiver.url}/p?cid={clickId}`);
  await form.getByText('Has the unknown macro {clickId}; the known macros are {order_id}').waitFor();
  await form.getByText('Correct the fields to see the request.').waitFor();
  await form.getByRole('button', { name: 'Create' }).click();
  await expectFocusOn(page, 'URL');
  expect(await form.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
  await expectGoodEverywhere(page, 'postback-invalid');

  await form.getByLabel('URL').fill(`${receiver.url}/p?cid={s1}`);
  await choose(page, 'Request', 'POST with JSON');
  await form.getByLabel('Body').fill('{"name":"{name}","status":"{status}"}');
  await form.getByLabel('Trashed', { exact: true }).check();
  await form.getByLabel('On hold is sent as').fill('lead');
  expect(await form.getByLabel('Body').inputValue()).toContain('{status:OnHold=lead}');
  await preview.getByText(`{"name":"Ann & Bo","status":"lead"}`).waitFor();
  await preview.scrollIntoViewIfNeeded();
  await expectGoodEverywhere(page, 'postback-new');
  await form.getByRole('button', { name: 'Create' }).click();

  const link = page.getByRole('link', { name: `${receiver.url}/p?cid={s1}` });
  await link.waitFor();
  await expectGoodEverywhere(page, 'integrations');
  await link.click();
  receiver.answer = answering(500, {}, 'the tracker is broken');
  await press(page, 'Send a test');
  const deliveries = page.getByRole('list', { name: 'Deliveries' });
  await deliveries.getByText('the tracker is broken').waitFor();
  await deliveries.getByText('"name":"masked"').waitFor();
  await page.getByText('Next attempt').first().waitFor();
  receiver.answer = answering(204);
  await website.fixture.sql(
    `UPDATE delivery SET state = 'failed', next_attempt_at = NULL, lease_id = NULL WHERE workspace_id = $1`,
    [workspace.id],
  );
  const before = receiver.received.length;
  await press(page, /^Send again: /);
  await deliveries.getByText('Delivered').waitFor();
  expect(receiver.received.length).toBeGreaterThan(before);
  await expectGoodEverywhere(page, 'postback');
});

test('a publisher manages postbacks of its own only, without webhooks and personal data', async () => {
  const { page: ownersPage, workspace } = await website.openSignedIn();
  await createWebhook(ownersPage);
  const { page, member } = await website.openSignedIn({ workspace, role: 'publisher' });
  const create = async (url: string) => {
    await press(page, 'New postback');
    const form = page.getByRole('dialog', { name: 'New postback' });
    await form.getByLabel('URL').fill(url);
    await form.getByLabel('On hold', { exact: true }).check();
    await form.getByRole('button', { name: 'Create' }).click();
    return form;
  };
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Integrations' }).click();
  await page.getByText('No postback yet').waitFor();
  expect(await page.getByRole('heading', { name: 'Webhooks' }).count()).toBe(0);
  const form = await create(`${receiver.url}/p?phone={phone}`);
  await form.getByText('Must not have {phone}', { exact: false }).waitFor();
  expect(await form.getByLabel('Leads', { exact: true }).count()).toBe(0);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await (await create(`${receiver.url}/mine?cid={s1}`)).waitFor({ state: 'detached' });

  // The panel of a lead shows only deliveries to the endpoints that the user manages.
  const lead = workspace.lead(member, { s1: 'click-1' });
  await website.fixture.leads.insert([lead]);
  const { host } = new URL(receiver.url);
  await page.goto(`/leads?lead=${lead.id}`);
  const sent = page.getByRole('dialog').getByRole('list', { name: 'Deliveries' });
  await sent.getByText('Delivered').waitFor();
  // The status is that of the lead's history, which is another request.
  await sent.getByText('On hold').waitFor();
  expect(await sent.getByRole('listitem').count()).toBe(1);
  expect(await sent.textContent()).toContain(`${host}On holdDelivered`);
  await sent.scrollIntoViewIfNeeded();
  await expectGoodEverywhere(page, 'lead-deliveries');
  await ownersPage.goto(`/leads?lead=${lead.id}`);
  const seen = ownersPage.getByRole('dialog').getByRole('list', { name: 'Deliveries' });
  await seen.getByText('lead.created').waitFor();
  expect(await seen.getByRole('listitem').count()).toBe(1);

  await sent.getByRole('link', { name: host }).click();
  await page.getByText('My own leads').waitFor();
  await press(page, 'Edit');
  const edit = page.getByRole('dialog', { name: 'Edit the postback' });
  await edit.getByLabel('Description').fill('My tracker');
  await choose(page, 'Only leads of this campaign', 'DEMO');
  await edit.getByLabel('Also send leads without s1').check();
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByText('My tracker').waitFor();
  const [stored] = await website.fixture.sql(
    `SELECT user_id, sends_without_s1, cardinality(campaign_ids) AS campaigns FROM delivery_endpoint
     WHERE workspace_id = $1 AND kind = 'postback'`,
    [workspace.id],
  );
  expect(stored).toEqual({ user_id: member.userId, sends_without_s1: true, campaigns: 1 });
  await confirm(page, 'Disable');
  await page.getByText('Disabled by a member.', { exact: false }).waitFor();
  await press(page, 'Enable');
  await page.getByText('Enabled', { exact: true }).waitFor();
  await confirm(page, 'Delete');
  await page.getByText('No postback yet').waitFor();
});

test('two users who edit a status alias at the same time keep the changes of each other, and a deleted alias stays deleted', async () => {
  const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
  const replace = async (...aliases: readonly object[]) => {
    const answer = await fetch(`${website.crm}/api/v1/status-aliases`, {
      method: 'PUT',
      headers: { ...member.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ aliases }),
    });
    expect(answer.status).toBe(200);
  };
  const stored = () =>
    website.fixture.sql('SELECT alias, status, reason FROM status_alias WHERE workspace_id = $1', [
      workspace.id,
    ]);
  await replace({ alias: 'no answer', status: 'Approved' });
  await page.goto('/integrations');
  const form = page.getByRole('dialog', { name: 'Edit the status alias' });
  await press(page, 'Edit the status alias no answer');
  await form.getByLabel('Reason').fill('Not reached');
  await replace({ alias: 'no answer', status: 'OnHold' });
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await stored()).toEqual([{ alias: 'no answer', status: 'OnHold', reason: 'Not reached' }]);

  await press(page, 'Edit the status alias no answer');
  await form.getByLabel('Reason').fill('Busy');
  await replace();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('This status alias was deleted or renamed').waitFor();
  expect(await form.getByLabel('Reason').inputValue()).toBe('Busy');
  expect(await stored()).toEqual([]);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('No status alias yet').waitFor();
});

test('managers create, change and delete status aliases, and see why one is rejected', async () => {
  const { page, workspace } = await website.openSignedIn({ role: 'manager' });
  await page.goto('/integrations');
  const section = page.getByRole('region', { name: 'Status aliases' });
  await section.getByText('No status alias yet').waitFor();
  await expectGoodEverywhere(page, 'integrations-empty');
  const stored = () =>
    website.fixture.sql('SELECT alias, status, reason FROM status_alias WHERE workspace_id = $1 ORDER BY 1', [
      workspace.id,
    ]);
  const fillIn = async (alias: string, status: string, reason: string) => {
    const form = page.getByRole('dialog');
    await form.getByLabel('Alias').fill(alias);
    await form.getByRole('combobox', { name: 'Status' }).click();
    await page.getByRole('option', { name: status }).click();
    await form.getByLabel('Reason').fill(reason);
    return form;
  };
  await press(page, 'New status alias');
  const form = await fillIn(' Paid ', 'Trashed', 'fake');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('Is the name of the status Paid').waitFor();
  await form.getByLabel('Alias').fill('Fake');
  await form.getByRole('button', { name: 'Create' }).click();
  await section.getByRole('listitem').filter({ hasText: 'fake' }).waitFor();
  // Another member adds an alias meanwhile, which stays.
  await website.fixture.sql(
    `INSERT INTO status_alias (workspace_id, alias, status) VALUES ($1, 'confirmed', 'Approved')`,
    [workspace.id],
  );
  await press(page, 'Edit the status alias fake');
  await (await fillIn('no answer', 'On hold', '')).getByRole('button', { name: 'Save' }).click();
  await section.getByRole('listitem').filter({ hasText: 'no answer' }).getByText('On hold').waitFor();
  expect(await stored()).toEqual([
    { alias: 'confirmed', status: 'Approved', reason: null },
    { alias: 'no answer', status: 'OnHold', reason: null },
  ]);
  await expectGoodEverywhere(page, 'integrations-aliases');
  await press(page, 'New status alias');
  await (await fillIn('CONFIRMED', 'Approved', '')).getByRole('button', { name: 'Create' }).click();
  await page.getByText('Is in the list twice').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await press(page, 'Delete the status alias no answer');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await section.getByText('no answer').waitFor({ state: 'detached' });
  expect(await stored()).toHaveLength(1);

  const publisher = await website.openSignedIn({ role: 'publisher' });
  await publisher.page.goto('/integrations');
  await publisher.page.getByText('No postback yet').waitFor();
  expect(await publisher.page.getByText('Status aliases').count()).toBe(0);
});
