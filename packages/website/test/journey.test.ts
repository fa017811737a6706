import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectGoodEverywhere } from './page-checks.ts';
import { type Website, password, openWebsite } from './website.ts';
import { expectRejectedSoon } from '@leads/test-kit/rejected-soon';

const run = promisify(execFile);

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** Sends a request with curl, like an integrator. @returns the status of the response. */
async function curl(url: string, headers: Record<string, string>, body: object): Promise<number> {
  const { stdout } = await run('curl', [
    '--silent',
    '--output',
    '/dev/null',
    '--write-out',
    '%{http_code}',
    '--json',
    JSON.stringify(body),
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    url,
  ]);
  return Number(stdout);
}

test('a new user signs up, creates credentials, sees sent leads appear, and revokes the credentials', async () => {
  const page = await website.openPage();
  await page.goto('/');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Your name').fill('Grace Hopper');
  await page.getByLabel('Email address').fill('grace@example.com');
  await page.getByLabel('Password').first().fill(password);
  await page.keyboard.press('Enter');

  // A key and the first lead take 3 clicks and no name.
  const steps = page.getByRole('region', { name: 'Welcome. Your first steps' });
  await steps.getByText('0 of 4 done').waitFor();
  await expectGoodEverywhere(page, 'first-steps');
  await page.evaluate(() => {
    const { dataset } = document.documentElement;
    dataset['clicks'] = '0';
    const count = () => (dataset['clicks'] = String(Number(dataset['clicks']) + 1));
    document.addEventListener('click', count, { capture: true });
  });
  await steps.getByRole('button', { name: 'Create a key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your new API key' });
  await dialog.getByText('It is shown only once.').waitFor();
  const firstKey = await dialog.getByLabel(/^Secret of /).innerText();
  await dialog.getByRole('button', { name: 'Send a test lead' }).click();
  await dialog.getByText('The lead is stored.').waitFor();
  await expectGoodEverywhere(page, 'first-steps-key');
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [workspace] = await website.fixture.sql<{ id: string }>(
    `SELECT workspace_id AS id FROM lead JOIN "user" ON "user".id = user_id
     WHERE "user".email = 'grace@example.com' AND lead.name = 'Test Lead'`,
  );
  await steps.getByText('Done: Send the first lead').waitFor();
  expect(workspace).toBeDefined();
  expect(await page.evaluate(() => document.documentElement.dataset['clicks'])).toBe('3');
  expect(await page.content()).not.toContain(firstKey);
  // The data tick the other steps, not clicks on this page.
  await website.fixture.sql(
    `INSERT INTO landing_page (id, workspace_id, name, campaign_id, updated_at)
     SELECT gen_random_uuid(), workspace_id, 'spring', id, now() FROM campaign WHERE workspace_id = $1`,
    [workspace?.id],
  );
  await steps.getByText('3 of 4 done').waitFor();
  await website.fixture.sql(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     SELECT gen_random_uuid(), workspace_id, 'guest@example.com', 'manager', user_id, now() + interval '1 day'
     FROM member WHERE workspace_id = $1`,
    [workspace?.id],
  );
  await steps.waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Profile', exact: true }).click();
  const create = async (kind: string) => {
    await page.getByRole('button', { name: `Create an ${kind}` }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('My shop');
    await page.keyboard.press('Enter');
    const secret = await page.getByLabel(/^Secret of /).innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return secret;
  };
  const apiKey = await create('API key');
  const accessToken = await create('access token');
  const send = {
    crm: (name: string) =>
      curl(
        `${website.crm}/api/v1/order/leads`,
        { API_KEY: apiKey, Authorization: `Bearer ${accessToken}` },
        { campaignCode: 'default', name, phone: '+44 20 7946 0958' },
      ),
    intake: (name: string) =>
      curl(`${website.intake}/api/v1/leads`, { API_KEY: apiKey }, { name, phone: '+1 202 555 0143' }),
  };

  await page.getByRole('link', { name: 'Leads', exact: true }).click();
  await page.getByRole('heading', { name: 'Leads' }).waitFor();
  expect(await send.crm('Ada Lovelace')).toBe(200);
  await page.getByRole('row').filter({ hasText: 'Ada Lovelace' }).waitFor();
  expect(await send.intake('Alan Turing')).toBe(200);
  await page.getByRole('row').filter({ hasText: 'Alan Turing' }).waitFor();

  await page.getByRole('link', { name: 'Profile', exact: true }).click();
  const revoke = async (section: string) => {
    await page
      .getByRole('region', { name: section })
      .getByRole('button', { name: /^Revoke My shop/ })
      .click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await revoke('Access tokens');
  await expectRejectedSoon(() => send.crm('Rejected'));
  // The intake requires only the API key, which is still valid.
  expect(await send.intake('Mary Somerville')).toBe(200);
  await revoke('API keys');
  await expectRejectedSoon(() => send.intake('Rejected'));
});
