import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findViolations } from './axe.ts';
import { motionOf } from './look.ts';
import { type Website, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** Sets the color mode of the reference as its library does. Loading the page again takes seconds of processor time. */
async function setMode(page: Page, mode: 'dark-mode' | 'light-mode'): Promise<void> {
  await page.evaluate((name) => {
    document.body.classList.remove('dark-mode', 'light-mode');
    document.body.classList.add(name);
  }, mode);
}

test("the API reference opens from the website and sends requests with the user's credentials", async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await website.fixture.leads.insert([workspace.lead(member, { name: 'Ada Lovelace' })]);
  await page.goto('/overview');
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'API reference' }).click();
  const reference = await opened;
  await reference.getByRole('heading', { name: 'Leads: CRM' }).waitFor();
  await reference.getByText('ApiKey & AccessToken').first().waitFor();
  expect(await reference.title()).toBe('Leads: CRM API reference');
  const banner = reference.getByRole('banner').filter({ hasText: 'Leads: CRM API reference' });
  expect(
    await banner
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href)),
  ).toEqual([`${website.crm}/`, `${website.intake}/docs`]);
  expect(await findViolations(reference)).toEqual([]);
  await setMode(reference, 'dark-mode');
  expect(await findViolations(reference, { rules: ['color-contrast'] })).toEqual([]);
  await setMode(reference, 'light-mode');
  await reference.getByPlaceholder('Your API key').first().fill(member.apiKey);
  await reference.getByPlaceholder('Token').first().fill(member.accessToken);

  // The list of operations works with the keyboard.
  await reference.getByRole('link', { name: 'get /api/v1/order/leads', exact: true }).press('Enter');
  await reference.waitForURL('**/docs#tag/leads/GET/api/v1/order/leads');
  const errors = reference.getByRole('button', { name: /Authentication failed/ });
  expect(await errors.first().textContent()).toContain('401');
  await reference.getByRole('button', { name: /^Test Request\s*\(get \/api\/v1\/order\/leads\)$/ }).click();
  const answered = reference.waitForResponse((response) => response.url().includes('/api/v1/order/leads'));
  await reference.getByRole('button', { name: /^Send/ }).last().click();
  const answer = await answered;
  expect([answer.status(), await answer.json()]).toEqual([
    200,
    [expect.objectContaining({ name: 'Ada Lovelace' })],
  ]);
  const client = reference.getByRole('dialog');
  await client.getByText('Ada Lovelace').first().waitFor();
  expect(await findViolations(reference, { within: '[role="dialog"]' })).toEqual([]);
  await reference.emulateMedia({ reducedMotion: 'reduce' });
  expect(await motionOf(reference)).toEqual([]);

  await reference.emulateMedia({ colorScheme: 'dark' });
  await reference.goto(`${website.intake}/docs`);
  await reference.getByRole('heading', { name: 'Leads: edge intake' }).waitFor();
  await reference.locator('body.dark-mode').waitFor();
  expect(await reference.title()).toBe('Leads: intake API reference');
  expect(await findViolations(reference)).toEqual([]);
  await setMode(reference, 'light-mode');
  expect(await findViolations(reference, { rules: ['color-contrast'] })).toEqual([]);
  const crmReference = reference.getByRole('banner').getByRole('link', { name: 'CRM API reference' });
  expect(await crmReference.getAttribute('href')).toBe('https://leads.example/docs');
});
