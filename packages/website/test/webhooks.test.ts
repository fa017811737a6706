import { answering, startReceiver, verified, type WebhookReceiver } from '@leads/test-kit/webhook-receiver';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { expectFocusOn, press as pressByKeyboard, write } from './by-keyboard.ts';
import { expectGoodEverywhere, expectGoodPage } from './page-checks.ts';
import { startWebsite, type Website } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await startWebsite({
    DELIVERIES_SECRET: 'a secret of the deliveries in tests, 32 characters and more',
    DELIVERIES_ALLOW_HTTP: 'true',
    DELIVERIES_ALLOW_NETWORKS: '127.0.0.0/8',
  });
}, 400_000);
afterAll(() => website?.[Symbol.asyncDispose]());

let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await website.closePages();
  await receiver[Symbol.asyncDispose]();
});

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Creates a webhook of the receiver with the keyboard, and opens its page. Returns its secret. */
async function createWebhook(page: Page): Promise<string> {
  await page.goto('/webhooks');
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
  const { page } = await website.openSignedIn({ role: 'manager' });
  await page.goto('/webhooks');
  await page.getByText('No webhook yet').waitFor();
  await press(page, 'New webhook');
  const form = page.getByRole('dialog', { name: 'New webhook' });
  await form.getByLabel('URL').fill('ftp://example.com');
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

test('failures are shown with their answers, and can be sent again', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await createWebhook(page);
  receiver.answer = answering(500, {}, 'the receiver is broken');
  const lead = workspace.lead(member);
  await website.fixture.leads.insert([lead]);
  const deliveries = page.getByRole('list', { name: 'Deliveries' });
  await deliveries.getByText('the receiver is broken').waitFor();
  await page.getByText('Failing', { exact: true }).waitFor();
  await page.getByRole('link', { name: lead.id }).waitFor();

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
  await deliveries.getByText('Delivered').waitFor();
  await press(page, `Send again: evt_${lead.id}_1`);
  await expect.poll(() => receiver.received.length).toBe(3);
  await expectGoodPage(page);
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
  await form.getByLabel('Remove all additional headers').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Sales CRM').waitFor();
  await press(page, 'Send a test');
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(1);
  const [sent] = receiver.received;
  for (const secret of [before, after]) {
    expect(sent && verified(sent, secret)).toMatchObject({ type: 'webhook.test' });
  }
  expect(sent?.headers['x-key']).toBeUndefined();

  await confirm(page, 'Delete');
  await page.getByText('No webhook yet').waitFor();
});

test('a publisher sees no webhooks', async () => {
  const { page } = await website.openSignedIn({ role: 'publisher' });
  await page.goto('/webhooks');
  await page.getByText('Only owners and managers see the webhooks.').waitFor();
  expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
});
