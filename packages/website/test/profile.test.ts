import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectFocusOn, press } from './by-keyboard.ts';
import { expectGoodEverywhere, expectGoodPage } from './page-checks.ts';
import { totp } from '@leads/test-kit/totp';
import { onOneDay } from '@leads/test-kit/one-day';
import { expectRejectedSoon } from '@leads/test-kit/rejected-soon';
import { type Website, hold, openWebsite, password, waitForFrames } from './website.ts';

const run = promisify(execFile);

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** Runs a curl command in a shell. @returns the status and the body of the response. */
async function inShell(command: string): Promise<{ status: number; body: string }> {
  const { stdout } = await run('sh', [
    '-c',
    `${command} --silent --show-error --write-out '\\n%{http_code}'`,
  ]);
  const [body = '', status] = stdout.split(/\n(?=\d+$)/);
  return { status: Number(status), body };
}

async function copied(page: Page, copy: () => Promise<void>): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await copy();
  await page.getByText('Copied').waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Returns the secret that a dialog shows, and closes the dialog. */
async function takeSecret(page: Page): Promise<string> {
  const secret = await page.getByLabel(/^Secret of /).innerText();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return secret;
}

async function createKey(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  return takeSecret(page);
}

async function createToken(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create an access token' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  return takeSecret(page);
}

async function confirmRevocation(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await dialog.waitFor({ state: 'detached' });
}

const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

/** Returns the document, the browser's storage and the address of a page. */
const contentOf = (page: Page) =>
  page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      JSON.stringify(localStorage),
      JSON.stringify(sessionStorage),
      JSON.stringify(history.state),
      location.href,
    ].join('\n'),
  );

const leadsOf = async (workspaceId: string) =>
  website.fixture.sql<{ source: string; name: string }>(
    'SELECT source, name FROM lead WHERE workspace_id = $1 ORDER BY id',
    [workspaceId],
  );

describe('the developers area', () => {
  test('shows the requests of a key as they arrive, also refused ones, and their counts by day', () =>
    onOneDay(async () => {
      const { page, workspace } = await website.openSignedIn();
      const publisher = await workspace.addMember('publisher');
      const send = async (body: object) => {
        const response = await fetch(`${website.intake}/api/v1/leads`, {
          method: 'POST',
          headers: { API_KEY: publisher.apiKey, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return response.status;
      };
      const lead = { name: 'Ada', phone: '+12025550147' };
      await page.goto('/developers');
      await page.getByRole('link', { name: /^Show the log of Test key/ }).click();
      await page.getByText('No requests yet.').waitFor();
      await page.goBack();
      await page.getByText(publisher.email).first().waitFor();
      expect([await send(lead), await send({ name: 'Ada' })]).toEqual([200, 400]);
      await page.getByRole('tab', { name: 'Request log' }).click();
      await page.getByRole('combobox', { name: 'API key' }).click();
      await page.getByRole('option', { name: publisher.email }).click();
      const rows = page.getByRole('table', { name: 'Request log' }).getByRole('row');
      const texts = async () =>
        (await rows.allInnerTexts())
          .slice(1)
          .map((text) => /\b[2-5]\d\d\b(?! ms|\d)/.exec(text.split('\n').join(' '))?.[0]);
      await rows.filter({ hasText: 'invalid_input' }).waitFor();
      await rows
        .filter({ hasText: 'Invalid input data' })
        .getByRole('link', { name: 'API reference' })
        .waitFor();
      await expectGoodEverywhere(page, 'developers-requests');
      // Without a reload.
      expect(await send({ ...lead, phone: 5 })).toBe(400);
      await expect.poll(() => rows.count()).toBe(4);
      await page.getByRole('combobox', { name: 'Status' }).click();
      await page.getByRole('option', { name: 'Client errors' }).click();
      await expect.poll(() => rows.count()).toBe(3);
      expect(await texts()).toEqual(['400', '400']);
      await page.getByRole('combobox', { name: 'Service' }).click();
      await page.getByRole('option', { name: 'CRM API' }).click();
      await page.getByText('No request matches the filter.').waitFor();
      await page.getByRole('button', { name: 'Show all requests' }).click();
      await expect.poll(() => rows.count()).toBe(4);
      await website.fixture.sql('UPDATE api_usage SET unlisted = 7 WHERE api_key_id = $1', [
        publisher.apiKeyId,
      ]);
      await page.getByText('7 requests of today (UTC) are counted in Usage').waitFor();

      await page.getByRole('tab', { name: 'Usage' }).click();
      const today = page.getByRole('table', { name: 'Requests by day' }).getByRole('row').nth(1);
      await today.waitFor();
      expect((await today.innerText()).split(/\s+/).slice(-4)).toEqual(['1', '2', '0', '7']);
      await page.getByRole('figure', { name: 'Requests by day' }).locator('svg').first().waitFor();
      await expectGoodEverywhere(page, 'developers-usage');
    }));

  test('shows the requests of the same key while another key is used', async () => {
    const { page, member } = await website.openSignedIn({ role: 'publisher' });
    await page.clock.install();
    await page.goto('/developers');
    await createKey(page, 'Shop');
    // Until the list is loaded again, the page knows only the key that it had before.
    await row(page, 'Shop').waitFor();
    const use = async (name: string) => {
      const [stored] = await website.fixture.sql<{ at: Date }>(
        `UPDATE api_key SET last_used_at = clock_timestamp() WHERE user_id = $1 AND name = $2
         RETURNING last_used_at AS at`,
        [member.userId, name],
      );
      return stored?.at.toISOString() ?? '';
    };
    await use('Shop');
    for (const [tab, used] of [
      ['Request log', 'Test key'],
      ['Usage', 'Shop'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      const field = page.getByRole('combobox', { name: 'API key' });
      await field.waitFor();
      const shown = await field.inputValue();
      const usedAt = await use(used);
      const listed = page.waitForResponse(
        async (answer) => answer.url().endsWith('/api-keys') && (await answer.text()).includes(usedAt),
      );
      await page.clock.fastForward(20_000);
      await listed;
      await waitForFrames(page);
      expect([tab, await field.inputValue()]).toEqual([tab, shown]);
      expect([tab, shown, shown.startsWith(used)]).toEqual([tab, shown, false]);
    }
  });

  test('shows in the list of all members each key that its user creates, rotates or revokes', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/developers');
    const own = page.getByRole('region', { name: 'API keys', exact: true });
    const all = page.getByRole('region', { name: 'Keys and tokens of all members' });
    const listed = (name: string) => all.getByText(name, { exact: true });
    await listed('Test key').first().waitFor();
    await createKey(page, 'Shop');
    await listed('Shop').waitFor();
    await createToken(page, 'Nightly');
    await listed('Nightly').waitFor();
    await own.getByRole('button', { name: /^Rotate Shop/ }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    await takeSecret(page);
    // One list can be loaded before the other one, and then the row with the dialog is gone.
    await expect.poll(() => listed('Shop').count()).toBe(2);
    await own
      .getByRole('button', { name: /^Revoke Shop/ })
      .first()
      .click();
    await confirmRevocation(page);
    await expect.poll(() => listed('Shop').count()).toBe(1);
  });

  test('removes a token that is revoked in the list of all members from the other list and from the examples', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/developers');
    const own = page.getByRole('region', { name: 'Access tokens' });
    const all = page.getByRole('region', { name: 'Keys and tokens of all members' });
    await createKey(page, 'Shop');
    await createToken(page, 'Nightly');
    await own.getByText('Nightly', { exact: true }).waitFor();
    await all.getByRole('button', { name: /^Revoke Nightly/ }).click();
    await confirmRevocation(page);
    await expect.poll(() => own.getByText('Nightly', { exact: true }).count()).toBe(0);
    await page.getByRole('tab', { name: 'Examples' }).click();
    await page.getByRole('button', { name: 'Clear Shop' }).waitFor();
    expect(await page.getByRole('button', { name: 'Clear Nightly' }).count()).toBe(0);
  });
});

describe('credentials', () => {
  test('can be created with the keyboard, work in the shown examples, and can be revoked', async () => {
    const { page, workspace } = await website.openSignedIn();
    await page.goto('/profile');
    await row(page, 'Test key').waitFor();
    await press(page, 'Create an API key');
    await page.getByRole('dialog').waitFor();
    await expectGoodPage(page);
    await page.keyboard.type('Shop \'n\' "more"');
    await page.keyboard.press('Enter');
    await page.getByText('It is shown only once.').waitFor();
    await expectGoodPage(page);
    const apiKey = await page.getByLabel(/^Secret of /).innerText();
    expect(apiKey).toMatch(/^lk_\w{40,}$/);
    expect(await copied(page, () => press(page, 'Copy'))).toBe(apiKey);
    await press(page, 'I have stored it');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const accessToken = await createToken(page, 'Shop token');

    const visible = await contentOf(page);
    expect(visible).not.toContain(apiKey);
    expect(visible).not.toContain(accessToken);

    const copy = () => page.getByRole('button', { name: 'Copy the example' }).click();
    // The intake comes first: it needs a key only.
    const toIntake = await copied(page, copy);
    await page.getByText('CRM API', { exact: true }).click();
    const toCrm = await copied(page, copy);
    expect(toCrm).toContain(apiKey);
    expect(toCrm).toContain(accessToken);
    expect(toIntake).toContain(apiKey);
    expect(toIntake).not.toContain(accessToken);
    for (const command of [toCrm, toIntake]) {
      const { status, body } = await inShell(command);
      expect(status, body).toBe(200);
    }
    expect(await leadsOf(workspace.id)).toEqual([
      { source: 'crm', name: 'Test Lead' },
      { source: 'intake', name: 'Test Lead' },
    ]);
    await page.getByLabel('Language').first().click();
    await page.getByRole('option', { name: 'JavaScript' }).click();
    const script = await copied(page, copy);
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
    expect(stdout).toContain('200');
    await page.getByRole('button', { name: 'Clear Shop token' }).click();
    await page.getByRole('button', { name: 'Clear Shop token' }).waitFor({ state: 'detached' });

    await expect
      .poll(
        async () => {
          await page.reload();
          const rows = [row(page, 'Shop \'n\' "more"'), row(page, 'Shop token')];
          await rows[0]?.waitFor();
          await rows[1]?.waitFor();
          return (await Promise.all(rows.map((each) => each.innerText()))).every((text) =>
            text.includes('from 127.0.0.1'),
          );
        },
        { interval: 1_000 },
      )
      .toBe(true);
    const afterReload = await contentOf(page);
    expect(afterReload).not.toContain(apiKey);
    expect(afterReload).not.toContain(accessToken);

    for (const name of [/^Revoke Shop 'n'/, /^Revoke Shop token/]) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('dialog').getByText('are answered with 401 within 10 seconds').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await Promise.all(
      [toCrm, toIntake].map((command) => expectRejectedSoon(async () => (await inShell(command)).status)),
    );
    await page.getByRole('button', { name: 'Show old ones (1)' }).first().click();
    await row(page, 'Shop \'n\' "more"').getByText('Revoked').first().waitFor();
  });

  test('stay valid during a rotation until the old key is revoked', async () => {
    const { page, member } = await website.openSignedIn();
    await page.goto('/profile');
    await page.getByRole('button', { name: /^Rotate Test key/ }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    const apiKey = await takeSecret(page);
    const send = async (key: string) => {
      const response = await fetch(`${website.intake}/api/v1/leads`, {
        method: 'POST',
        headers: { API_KEY: key, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Ada', phone: '+12025550147' }),
      });
      return response.status;
    };
    const old = page.getByRole('listitem').filter({ hasText: 'Being replaced by Test key' });
    await old.getByText('It was never used. It is safe to revoke.').waitFor();
    expect(await send(member.apiKey)).toBe(200);
    expect(await send(apiKey)).toBe(200);
    // The page refreshes by itself during a rotation.
    await old.getByText('so it is still in use').waitFor();
    expect(await old.getByRole('button', { name: /Rotate/ }).count()).toBe(0);
    await expectGoodEverywhere(page, 'profile-rotation');
    await old.getByRole('button', { name: /Revoke/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectRejectedSoon(() => send(member.apiKey));
    expect(await send(apiKey)).toBe(200);
  });

  test('are in an HTML form only if they are for pages, and the form offers to create such a key', async () => {
    const { page, member } = await website.openSignedIn();
    await website.fixture.sql('DELETE FROM api_key WHERE user_id = $1', [member.userId]);
    await page.goto('/developers?tab=examples');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Server key');
    await page.keyboard.press('Enter');
    const apiKey = await takeSecret(page);
    await page.getByText('You have no active API key').waitFor({ state: 'detached' });
    await page.getByText('Intake API', { exact: true }).click();
    await page.getByLabel('Language').first().click();
    await page.getByRole('option', { name: 'HTML form' }).click();
    const copy = () => page.getByRole('button', { name: 'Copy the example' }).click();
    const form = await copied(page, copy);
    expect(form).toContain('<form method="post"');
    expect(form).not.toContain(apiKey);
    await page.getByText('The key "Server key" is not in this example').waitFor();
    await expectGoodEverywhere(page, 'profile-html');
    await page.getByRole('button', { name: 'Create a page key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a page key' });
    await dialog.getByLabel('Name').fill('Spring page');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Add the origin of your page').waitFor();
    await expectGoodEverywhere(page, 'profile-page-key');
    await dialog.getByLabel('Allowed origins').fill('https://offer.example.com');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const pageKey = await takeSecret(page);
    await page.getByText('This form needs a page key').waitFor({ state: 'detached' });
    const filled = await copied(page, copy);
    expect(filled).toContain(pageKey);
    expect(filled).toContain('value="https://offer.example.com/"');
  });

  test('for the intake can be limited to origins and tested on the page', async () => {
    const { page, workspace } = await website.openSignedIn();
    await page.goto('/profile');
    await page.getByRole('button', { name: 'Create an API key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Landing page');
    await dialog.getByLabel('For the intake only').check();
    await dialog.getByLabel('Default campaign').click();
    await page.getByRole('option', { name: 'DEMO' }).click();
    await dialog.getByLabel('Allowed origins').fill('offer.example.com');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/Must be an origin/).waitFor();
    await expectGoodEverywhere(page, 'profile-new-key');
    await dialog.getByLabel('Allowed origins').press('Backspace');
    await dialog.getByLabel('Expires').click();
    await page.getByRole('option', { name: 'At the end of a day...' }).click();
    await dialog.getByLabel('Last day').fill('2020-01-31');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Must be in the future').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Create an API key' }).click();
    await dialog.getByLabel('Name').fill('Landing page');
    await dialog.getByLabel('For the intake only').check();
    await dialog.getByLabel('Default campaign').click();
    await page.getByRole('option', { name: 'DEMO' }).click();
    await dialog.getByLabel('Expires').click();
    await page.getByRole('option', { name: 'In 30 days' }).click();
    await dialog.getByLabel('Allowed origins').fill('https://offer.example.com');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const apiKey = await takeSecret(page);
    await row(page, 'Landing page').getByText('https://offer.example.com').waitFor();
    await row(page, 'Landing page').getByText('in 30 days').waitFor();
    await row(page, 'Landing page').getByText('DEMO').waitFor();

    await page.getByText('Intake API', { exact: true }).click();
    const command = await copied(page, () => page.getByRole('button', { name: 'Copy the example' }).click());
    const from = (origin: string) => inShell(`${command} --header 'Origin: ${origin}'`);
    expect((await from('https://offer.example.com')).status).toBe(200);
    expect((await from('https://elsewhere.example.com')).status).toBeGreaterThanOrEqual(401);

    await page.getByLabel('Origin', { exact: true }).fill('https://offer.example.com');
    await page.getByLabel('Landing page (lp_name)').fill('spring-offer');
    await page.getByRole('button', { name: 'Send a test lead' }).click();
    await page.getByText(/^Answer: 200 in/).waitFor();
    await page.getByText('"order_id"').waitFor();
    expect(await contentOf(page)).not.toContain(apiKey);
    await expectGoodEverywhere(page, 'profile-tried');
    await page.getByLabel('Origin', { exact: true }).fill('https://elsewhere.example.com');
    await page.getByRole('button', { name: 'Send a test lead' }).click();
    await page.getByText(/^Answer: 40\d in/).waitFor();
    expect(await leadsOf(workspace.id)).toHaveLength(2);
  });

  test('can be limited to single scopes and to networks, which owners see with the member', async () => {
    const { page, member } = await website.openSignedIn();
    await page.goto('/profile');
    await page.getByRole('button', { name: 'Create an API key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Reports');
    await dialog.getByLabel('For single scopes').check();
    await dialog.getByLabel('Allowed networks').fill('203.0.113.0/33');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Must not be empty').waitFor();
    await dialog.getByLabel('leads:read').check();
    await dialog.getByLabel('events').check();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/^Must be an IP address, or a network/).waitFor();
    await expectGoodEverywhere(page, 'profile-new-key-scopes');
    await dialog.getByLabel('Allowed networks').press('Backspace');
    await dialog.getByLabel('Allowed networks').fill('203.0.113.9/24');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await takeSecret(page);
    const limits = ['Single scopes', 'leads:read, events', '203.0.113.0/24'];
    for (const text of limits) await row(page, 'Reports').getByText(text, { exact: true }).waitFor();
    await expectGoodEverywhere(page, 'profile-key-scopes');
    const stored = await website.fixture.sql(
      `SELECT scopes, allowed_networks FROM api_key WHERE user_id = $1 AND name = 'Reports'`,
      [member.userId],
    );
    expect(stored).toEqual([{ scopes: ['leads:read', 'events'], allowed_networks: ['203.0.113.0/24'] }]);

    await page.goto('/developers');
    const listed = page
      .getByRole('list', { name: 'Keys and tokens of all members' })
      .getByRole('listitem')
      .filter({ hasText: 'Reports' });
    for (const text of limits.slice(1)) await listed.getByText(text, { exact: true }).waitFor();
  });

  test('can be pasted to send a test lead to the CRM', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'publisher' });
    await page.goto('/profile');
    await page.getByText('CRM API', { exact: true }).click();
    await page.locator('input[name=apiKey]').fill(member.apiKey);
    await page.locator('input[name=accessToken]').fill('something else');
    await page.locator('input[aria-haspopup=listbox]').last().click();
    await page.getByRole('option', { name: 'DEMO' }).click();
    await page.locator('input[name=name]').fill('Grace');
    await page.getByRole('button', { name: 'Send a test lead' }).click();
    await page.getByText(/^Answer: 401 in/).waitFor();
    await page.locator('input[name=accessToken]').fill(member.accessToken);
    await page.getByRole('button', { name: 'Send a test lead' }).click();
    await page.getByText(/^Answer: 200 in/).waitFor();
    const request = await page.getByRole('region', { name: 'Request' }).innerText();
    expect(request).toContain(`API_KEY: ${member.apiKey.slice(0, 11)}••••`);
    expect(await contentOf(page)).not.toContain(member.apiKey);
    expect(await contentOf(page)).not.toContain(member.accessToken);
    expect(await leadsOf(workspace.id)).toEqual([{ source: 'crm', name: 'Grace' }]);
    await page.getByRole('link', { name: 'See the leads' }).click();
    await page.waitForURL('**/leads');
  });
});

async function signIn(page: Page, email: string, secret = password): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').first().fill(secret);
  await page.keyboard.press('Enter');
}

test('the pages of the sign-in and the sign-up clear the password before the next page loads, because the back button can show them again', async () => {
  const { page, member } = await website.openSignedIn();
  for (const [path, email] of [
    ['/sign-in', member.email],
    ['/sign-up', `${randomUUID()}@example.com`],
  ] as const) {
    await page.context().clearCookies();
    await page.goto(path);
    await page.getByLabel('Email address').fill(email);
    if (path === '/sign-up') await page.getByLabel('Name').fill('Ada Lovelace');
    await page.getByLabel('Password').first().fill(password);
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('[autocomplete$="-password"]');
      addEventListener('pagehide', () => sessionStorage.setItem('left', `left: ${field?.value}`));
    });
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');
    expect(await page.evaluate(() => sessionStorage.getItem('left')), path).toBe('left: ');
  }
});

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

describe('an account', () => {
  test('can sign in with an authenticator app, and with each recovery code once', async () => {
    const { page, member, workspace } = await website.openSignedIn();
    await page.goto('/profile?tab=account');
    await expectGoodEverywhere(page, 'profile-account');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Current password').first().fill('wrong password');
    await page.keyboard.press('Enter');
    await dialog.getByText('Password is wrong.').waitFor();
    await dialog.getByLabel('Current password').first().fill(password);
    await page.keyboard.press('Enter');
    await dialog.getByRole('img', { name: 'QR code' }).waitFor();
    await expectGoodEverywhere(page, 'profile-two-factor');
    const secret = await dialog.locator('pre').innerText();
    const codes = await dialog.getByRole('listitem').allInnerTexts();
    expect(codes).toHaveLength(10);
    await page.setViewportSize({ width: 1440, height: 600 });
    await dialog.getByLabel('Current code of the app').fill('000000');
    await page.keyboard.press('Enter');
    const error = dialog.getByText(/Code is wrong or was used before/);
    await error.waitFor();
    const box = await error.boundingBox();
    expect((box?.y ?? 600) + (box?.height ?? 0)).toBeLessThanOrEqual(600);
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog.getByLabel('Current code of the app').fill(totp(secret));
    await page.keyboard.press('Enter');
    await page.getByText('On. Signing in needs your password and a code').waitFor();
    expect(await contentOf(page)).not.toContain(secret);
    // The new session has the same workspace as the old one.
    await page.getByRole('button', { name: `Switch workspace: ${workspace.slug}` }).waitFor();

    await signOut(page);
    await signIn(page, member.email);
    await page.getByRole('heading', { name: 'One more step' }).waitFor();
    await expectFocusOn(page, 'Code from your authenticator app');
    await expectGoodEverywhere(page, 'sign-in-second-factor');
    // Each code is accepted once. The next code is accepted 30 s early. Apps show it in two groups of digits.
    await page.keyboard.type(totp(secret, Date.now() + 30_000).replace(/^.{3}/, '$& '));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/overview');

    for (const isFirst of [true, false]) {
      await signOut(page);
      await signIn(page, member.email);
      await expectFocusOn(page, 'Code from your authenticator app');
      await press(page, 'Use a recovery code instead');
      await expectFocusOn(page, 'Recovery code');
      await page.keyboard.type(codes[0] ?? '');
      await page.keyboard.press('Enter');
      if (isFirst) await page.waitForURL('**/overview');
      else await page.getByText('Code is not an unused recovery code.').waitFor();
    }
    await page.getByLabel('Recovery code').fill(codes[1] ?? '');
    await press(page, 'Do not ask again on this device for 30 days', 'Space');
    await press(page, 'Verify');
    await page.waitForURL('**/overview');
    await signOut(page);
    await signIn(page, member.email);
    await page.waitForURL('**/overview');
    await page.goto('/profile?tab=account');
    await page.getByRole('button', { name: 'Turn off' }).click();
    await dialog.getByLabel('Current password').first().fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('Off. Signing in needs your password only').waitFor();
  });

  test('sees how long to wait after too many wrong passwords', async () => {
    const { page, member } = await website.openSignedIn();
    const key = `user:${member.userId}`;
    await website.fixture.sql('INSERT INTO attempt (key, count, since) VALUES ($1, 30, now())', [key]);
    await page.goto('/profile?tab=account');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('dialog').getByLabel('Current password').first().fill(password);
    await page.keyboard.press('Enter');
    const step = page.getByText(/^Wait .* and try again\.$/);
    expect(await step.textContent()).toMatch(/^Wait [2-5] minutes/);
  });

  test('enters the other proof of identity in an empty field, and can give the password again after a sign-in that took too long', async () => {
    const { page, member } = await website.openSignedIn();
    await page.goto('/profile?tab=account');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Current password').first().fill(password);
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Current code of the app').fill(totp(await dialog.locator('pre').innerText()));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });

    await website.fixture.sql(
      `UPDATE session SET created_at = now() - interval '11 minutes' WHERE user_id = $1`,
      [member.userId],
    );
    await page.goto('/profile');
    await page.getByRole('button', { name: 'Create an API key' }).click();
    await dialog.getByLabel('Name').fill('After a break');
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await press(page, 'Use your password instead');
    await question.getByLabel('Current password').first().fill('typed by mistake');
    await press(page, 'Use your authenticator app instead');
    // The password would be readable in this field.
    expect(await question.getByLabel('Code from').inputValue()).toBe('');

    await page.context().clearCookies();
    await signIn(page, member.email);
    await page.getByLabel('Code from your authenticator app').fill('000000');
    await page.keyboard.press('Enter');
    await page.getByText('Code is wrong or was used before').waitFor();
    await press(page, 'Use a recovery code instead');
    expect(await page.getByLabel('Recovery code').inputValue()).toBe('');
    expect(await page.getByText('Code is wrong or was used before').count()).toBe(0);
    await expectFocusOn(page, 'Recovery code');
    await page.context().clearCookies();
    await page.getByLabel('Recovery code').fill('abcde-fghij');
    await page.keyboard.press('Enter');
    await page.getByText('The sign-in took too long').waitFor();
    await press(page, 'Enter your password again');
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(member.email);
  });

  test('shows its new recovery codes also to a user who tries to close the dialog during the request', async () => {
    const { page } = await website.openSignedIn();
    await page.goto('/profile?tab=account');
    await page.getByRole('button', { name: 'Turn on' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Current password').first().fill(password);
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Current code of the app').fill(totp(await dialog.locator('pre').innerText()));
    await page.keyboard.press('Enter');
    await page.getByText('On. Signing in needs your password and a code').waitFor();

    const generated = await hold(page, /generate-backup-codes/);
    await page.getByRole('button', { name: 'New recovery codes' }).click();
    await dialog.getByLabel('Current password').first().fill(password);
    await page.keyboard.press('Enter');
    await dialog.locator('button[data-loading]').waitFor();
    // The request has perhaps replaced the old codes by now.
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Cancel' }).click({ force: true });
    await waitForFrames(page);
    generated.release();
    const codes = dialog.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  test('can change its name and its password, and a new password signs out other browsers', async () => {
    const { page, member } = await website.openSignedIn();
    const other = await website.openPage();
    await signIn(other, member.email);
    await other.waitForURL('**/overview');

    await page.goto('/profile?tab=account');
    await page.getByLabel('Your name').last().fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Your account: Ada Lovelace' }).waitFor();
    // The name is changed in another tab. This page shows it when the user returns.
    await website.fixture.sql(`UPDATE "user" SET name = 'Ada Byron' WHERE id = $1`, [member.userId]);
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await page.getByRole('button', { name: 'Your account: Ada Byron' }).waitFor();
    await expect.poll(() => page.getByLabel('Your name').last().inputValue()).toBe('Ada Byron');
    await page.getByLabel('Current password').first().fill('wrong password');
    // A password that the browser cut off could not be used to sign in.
    await page.getByLabel('New password').first().focus();
    await page.keyboard.insertText('x'.repeat(129));
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Must have at most 128 characters', { exact: true }).waitFor();
    await page.getByLabel('New password').first().fill('a new password of mine');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Current password is wrong.').waitFor();
    await page.getByLabel('Current password').first().fill(password);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('Your password is changed.').waitFor();

    await other.goto('/campaigns');
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(other, member.email);
    await other.getByText('The email address or the password is wrong').waitFor();
    await signIn(other, member.email, 'a new password of mine');
    await other.waitForURL('**/overview');
    expect(await page.getByText('Your password is changed.').isVisible()).toBe(true);
  });

  test('sees which browsers are still signed in if one could not be signed out, and needs no second attempt for one that is gone', async () => {
    const { page, member } = await website.openSignedIn();
    const add = async (ipAddress: string) => {
      const [added] = await website.fixture.sql<{ id: string }>(
        `INSERT INTO session (id, user_id, token, ip_address, expires_at, created_at, updated_at)
         VALUES (gen_random_uuid(), $1, gen_random_uuid(), $2, now() + interval '1 day', now(), now()) RETURNING id`,
        [member.userId, ipAddress],
      );
      return added?.id ?? '';
    };
    const [gone, stuck] = [await add('192.0.2.1'), await add('192.0.2.2')];
    await add('192.0.2.3');
    await page.goto('/profile?tab=sessions');
    await row(page, '192.0.2.3').waitFor();
    await website.fixture.sql('DELETE FROM session WHERE id = $1', [gone]);
    const ofStuck = new RegExp(`/sessions/${stuck}$`);
    await page.route(ofStuck, (route) => route.fulfill({ status: 500, json: { detail: 'Not ended' } }));
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Sign out all others' }).click();
    await dialog.getByRole('button', { name: 'Sign out all others' }).click();
    await dialog.getByText('Not ended').waitFor();
    await expect.poll(() => row(page, '192.0.2.').count()).toBe(1);
    await row(page, '192.0.2.2').waitFor();
    await page.unroute(ofStuck);

    const late = await add('192.0.2.4');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await row(page, '192.0.2.4').waitFor();
    await website.fixture.sql('DELETE FROM session WHERE id = $1', [late]);
    await page.getByRole('button', { name: 'Sign out all others' }).click();
    await dialog.getByRole('button', { name: 'Sign out all others' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => row(page, '192.0.2.').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('sees that a session was used in the last 24 hours, because the service stores its use to the day', async () => {
    const { page, member } = await website.openSignedIn();
    const other = await website.openPage();
    await signIn(other, member.email);
    await other.waitForURL('**/overview');
    // The service stores the next use 24 hours after the last stored one.
    await website.fixture.sql(
      `UPDATE session SET updated_at = now() - interval '23 hours', expires_at = expires_at - interval '23 hours'
       WHERE user_id = $1`,
      [member.userId],
    );
    await page.goto('/profile?tab=sessions');
    const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
    await sessions.nth(1).waitFor();
    for (const session of await sessions.allInnerTexts())
      expect(session).toMatch(/Last seen\s+in the last 24 hours/);
  });

  test('can sign out one other browser and all other browsers', async () => {
    const { page, member } = await website.openSignedIn();
    const other = await website.openPage();
    const third = await website.openPage();
    await signIn(other, member.email);
    await other.waitForURL('**/overview');
    await page.goto('/profile?tab=sessions');
    await row(page, 'This browser').getByText('Chrome on').waitFor();
    await page.getByRole('button', { name: /^Sign out Chrome/ }).waitFor();
    await expectGoodEverywhere(page, 'profile-sessions');
    await page.getByRole('button', { name: /^Sign out Chrome/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: /^Sign out Chrome/ }).waitFor({ state: 'detached' });
    await other.goto('/campaigns');
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();

    for (const browser of [other, third]) {
      await signIn(browser, member.email);
      await browser.waitForURL('**/overview');
    }
    await page.reload();
    await page.getByRole('button', { name: 'Sign out all others' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out all others' }).click();
    await page
      .getByRole('button', { name: /^Sign out/ })
      .first()
      .waitFor({ state: 'detached' });
    expect(await page.getByRole('listitem').count()).toBe(1);
    for (const browser of [other, third]) {
      await browser.goto('/campaigns');
      await browser.getByRole('heading', { name: 'Sign in' }).waitFor();
    }
  });
});

test('credentials are visible only to their user and in their workspace', async () => {
  const { page, workspace } = await website.openSignedIn();
  const colleague = await website.openSignedIn({ workspace, role: 'manager' });
  const stranger = await website.openSignedIn();
  await page.goto('/profile');
  await createKey(page, 'Mine alone');
  await row(page, 'Mine alone').first().waitFor();
  // A tab loses its secrets when the user leaves it.
  await page.getByRole('button', { name: 'Clear Mine alone' }).waitFor();
  await page.getByRole('tab', { name: 'Sessions' }).click();
  await page.waitForURL('**/profile?tab=sessions');
  await page.getByRole('tab', { name: 'Credentials' }).click();
  await row(page, 'Mine alone').first().waitFor();
  expect(await page.getByRole('button', { name: 'Clear Mine alone' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Create an access token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('For a week');
  await dialog.getByLabel('Lifetime').click();
  await page.getByRole('option', { name: 'Another number of days...' }).click();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await takeSecret(page);
  await row(page, 'For a week').getByText('in 7 days').waitFor();
  for (const other of [colleague.page, stranger.page]) {
    await other.goto('/profile');
    await row(other, 'Test key').waitFor();
    expect(await row(other, 'Mine alone').count()).toBe(0);
  }
});

test('one click creates a key while an origin is typed and not yet added', async () => {
  const { page } = await website.openSignedIn();
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Landing page');
  await dialog.getByLabel('For the intake only').check();
  await dialog.getByLabel('Allowed origins').fill('https://offer.example.com');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await takeSecret(page);
  expect(await row(page, 'Landing page').innerText()).toContain('https://offer.example.com');
});

test('a key can expire on the last day of the year 9999 in every time zone', async () => {
  const { page } = await website.openSignedIn();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTimezoneOverride', { timezoneId: 'America/New_York' });
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Without an end');
  await dialog.getByLabel('Expires').click();
  await page.getByRole('option', { name: 'At the end of a day...' }).click();
  await dialog.getByLabel('Last day').fill('9999-12-31');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await takeSecret(page);
  expect(await row(page, 'Without an end').innerText()).toContain('9999');
});

test('a session of more than 10 minutes needs the password before it creates a key, and the form keeps its input', async () => {
  const { page, member } = await website.openSignedIn();
  await website.fixture.sql(
    `UPDATE session SET created_at = now() - interval '11 minutes' WHERE user_id = $1`,
    [member.userId],
  );
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('After a break');
  await page.keyboard.press('Enter');
  const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
  // Escape closes the question only.
  await question.getByLabel('Current password').first().press('Escape');
  await question.waitFor({ state: 'detached' });
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  expect(await form.getByLabel('Name').inputValue()).toBe('After a break');
  await form.getByRole('button', { name: 'Create' }).click();
  await question.getByLabel('Current password').first().fill('wrong password');
  await page.keyboard.press('Enter');
  await question.getByText('Is wrong').waitFor();
  await expectGoodPage(page);
  await question.getByLabel('Current password').first().fill(password);
  await page.keyboard.press('Enter');
  await takeSecret(page);
  await row(page, 'After a break').waitFor();
});

test('a new secret stays until the user has stored it, also after the back button, and the browser asks before the tab is closed', async () => {
  const { page } = await website.openSignedIn();
  /** Tries to leave the page while it shows a secret. */
  const tryToLeave = async () => {
    await page.goBack();
    await waitForFrames(page);
    const [question] = await Promise.all([
      page.waitForEvent('dialog'),
      page.close({ runBeforeUnload: true }),
    ]);
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
  };
  await page.goto('/campaigns');
  await page.getByRole('link', { name: 'Developers' }).click();
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Shown once');
  await page.keyboard.press('Enter');
  await page.getByLabel('Secret of Shown once').waitFor();
  await tryToLeave();
  await takeSecret(page);
  await page.goBack();
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();

  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('menuitem', { name: 'Profile' }).click();
  await page.getByRole('tab', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Turn on' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').first().fill(password);
  await page.keyboard.press('Enter');
  const codes = dialog.getByRole('list', { name: 'Recovery codes' });
  await codes.waitFor();
  await tryToLeave();
  expect(await codes.getByRole('listitem').count()).toBe(10);
});

test('a page stays until the answer with a new secret is shown, also after the back button and if the dialog was closed', async () => {
  const { page, workspace } = await website.openSignedIn();
  const shown = page.getByLabel(/^Secret of /).or(page.getByRole('list', { name: 'Recovery codes' }));
  /** Sends a request, tries to leave its page before the answer, and takes the secret. */
  const leaveEarly = async (request: RegExp, send: () => Promise<unknown>) => {
    const answer = await hold(page, request, 'POST');
    await send();
    await page.locator('button[data-loading]').waitFor();
    await page.keyboard.press('Escape');
    const { pathname } = new URL(page.url());
    await page.goBack();
    await waitForFrames(page);
    answer.release();
    await shown.waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe(pathname);
    await page.unroute(request);
  };
  const inDialog = async (open: string | RegExp, submit: string, fields: Record<string, string> = {}) => {
    await page.getByRole('button', { name: open }).first().click();
    const dialog = page.getByRole('dialog');
    for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).first().fill(text);
    await dialog.getByRole('button', { name: submit }).click();
  };
  await page.goto('/campaigns');
  await page.getByRole('link', { name: 'Developers' }).click();
  const keys = /\/console\/api-keys$/;
  await leaveEarly(keys, () => inDialog('Create an API key', 'Create', { Name: 'key' }));
  await page.getByText('You can leave this page after the new secret is shown.').waitFor();
  await leaveEarly(/\/access-tokens$/, () => inDialog('Create an access token', 'Create', { Name: 'token' }));
  await leaveEarly(/\/rotate$/, () => inDialog(/^Rotate key/, 'Create the new key'));

  await page.getByRole('link', { name: 'Integrations' }).click();
  const url = 'https://hooks.example.com/left';
  const webhooks = /\/console\/webhooks$/;
  await leaveEarly(webhooks, () => inDialog('New webhook', 'Create', { URL: url }));
  await page.getByRole('link', { name: url }).click();
  await leaveEarly(/\/rotate-secret$/, () => inDialog('Rotate the secret', 'Rotate the secret'));

  await website.fixture.sql('DELETE FROM access_token WHERE workspace_id = $1', [workspace.id]);
  await website.fixture.sql('DELETE FROM api_key WHERE workspace_id = $1', [workspace.id]);
  await page.getByRole('link', { name: 'Overview' }).click();
  await leaveEarly(keys, () => page.getByRole('button', { name: 'Create a key' }).click());

  await page.getByRole('button', { name: /^Your account/ }).click();
  await page.getByRole('menuitem', { name: 'Profile' }).click();
  await page.getByRole('tab', { name: 'Account' }).click();
  await inDialog('Turn on', 'Continue', { 'Current password': password });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current code of the app').fill(totp(await dialog.locator('pre').innerText()));
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await leaveEarly(/\/generate-backup-codes$/, () =>
    inDialog('New recovery codes', 'Continue', { 'Current password': password }),
  );
});
