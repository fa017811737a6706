import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { issueApiKey } from '@leads/core/credential';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { exampleLead, intakeRequest } from '../src/examples/example-request.ts';
import { writeSnippet } from '../src/examples/snippets.ts';
import { type Website, startWebsite } from './website.ts';

/** A site with one landing page, on its own origin. */
interface Site {
  readonly origin: string;
  html: string;
  readonly headers: Record<string, string>;
}

const servers: Server[] = [];
async function startSite(): Promise<Site> {
  const site = { origin: '', html: '', headers: {} };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://site');
    const body = pathname === '/offer' ? site.html : 'Thank you';
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...site.headers }).end(body);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

let website: Website;
let workspace: TestWorkspace;
let allowed: Site;
let foreign: Site;
let browserKey: string;
beforeAll(async () => {
  // All pages have the same address.
  website = await startWebsite(
    {},
    { INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE: '60', INTAKE_VISITOR_REQUESTS_PER_MINUTE: '0' },
  );
  workspace = await website.fixture.createWorkspace();
  [allowed, foreign] = await Promise.all([startSite(), startSite()]);
  browserKey = await issueBrowserKey();
});
afterEach(async () => {
  await website.closePages();
  await website.fixture.sql('DELETE FROM lead');
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await website?.[Symbol.asyncDispose]();
});

const issueBrowserKey = async () => {
  const { apiKey } = await issueApiKey(website.fixture.credentials, workspace.owner, {
    name: 'In a page',
    scope: 'intake',
    allowedOrigins: [allowed.origin],
  });
  return apiKey;
};

const leads = () =>
  website.fixture.sql<{ id: string; name: string; phone: string; extra: unknown }>(
    'SELECT id, name, phone, extra FROM lead',
  );

/** Opens a landing page. Its errors do not fail the test, because rejected requests are expected. */
async function visit(site: Site, html = ''): Promise<Page> {
  const context = await website.browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  site.html = `<!doctype html><meta charset="utf-8"><title>An offer</title>${html}`;
  await page.goto(`${site.origin}/offer`);
  return page;
}

const form = (apiKey = browserKey) =>
  writeSnippet('html', intakeRequest(`${website.intake}/api`, { apiKey }, exampleLead, allowed.origin));

async function fillIn(page: Page): Promise<void> {
  await page.getByLabel('name').fill('Zoë "Z" <Müller> & Co');
  await page.getByLabel('phone').fill('+1 202 555 0147');
}

/** Sends a lead from a script of a page. @returns the response as the script sees it, or the error. */
const fetchIn = (page: Page, apiKey: string, body: object, moreHeaders: Record<string, string> = {}) =>
  page.evaluate(
    async ({ url, headers, text }) => {
      try {
        const response = await fetch(url, { method: 'POST', headers, body: text });
        return {
          status: response.status,
          requestId: response.headers.get('x-request-id'),
          retryAfter: response.headers.get('retry-after'),
          rateLimit: response.headers.get('ratelimit'),
          body: (await response.json()) as Record<string, unknown>,
        };
      } catch (error) {
        return String(error);
      }
    },
    {
      url: `${website.intake}/api/v1/leads`,
      headers: { API_KEY: apiKey, 'Content-Type': 'application/json', ...moreHeaders },
      text: JSON.stringify(body),
    },
  );

const blocked = 'TypeError: Failed to fetch';

test('a plain form of an allowed origin stores a lead and redirects the visitor', async () => {
  const page = await visit(allowed, form());
  await fillIn(page);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForURL(`${allowed.origin}/?order_id=*`);
  await page.getByText('Thank you').waitFor();
  expect(await leads()).toEqual([
    {
      id: new URL(page.url()).searchParams.get('order_id'),
      name: 'Zoë "Z" <Müller> & Co',
      phone: '+1 202 555 0147',
      extra: null,
    },
  ]);
});

test('the HTML form that the profile page shows stores a lead', async () => {
  const { page } = await website.openSignedIn({ workspace });
  await page.goto('/profile');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Landing page');
  await dialog.getByLabel('For the intake only').check();
  await dialog.getByLabel('Allowed origins').fill(allowed.origin);
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('Intake API', { exact: true }).click();
  await page.getByLabel('Language').first().click();
  await page.getByRole('option', { name: 'HTML form' }).click();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy the example' }).click();
  await page.getByText('Copied').waitFor();
  const landing = await visit(allowed, await page.evaluate(() => navigator.clipboard.readText()));
  await fillIn(landing);
  await landing.getByRole('button', { name: 'Send' }).click();
  await landing.waitForURL(`${allowed.origin}/?order_id=*`);
  expect(await leads()).toHaveLength(1);
});

test('a plain form is rejected from a foreign origin, without an origin, and with a secret key', async () => {
  const cases: [site: Site, html: string, message: string][] = [
    [foreign, form(), 'This API key is bound to other web origins'],
    [
      allowed,
      `<meta name="referrer" content="no-referrer">${form()}`,
      'This API key is for web pages, and the request has the Origin null',
    ],
    [
      allowed,
      form(workspace.owner.apiKey),
      'Send an API key that is not bound to web origins in the API_KEY header. Revoke this key: URLs are logged',
    ],
  ];
  for (const [site, html, message] of cases) {
    const page = await visit(site, html);
    await fillIn(page);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(JSON.stringify({ success: false, error: 'unauthorized', message })).waitFor();
  }
  expect(await leads()).toEqual([]);
});

test('a form that a bot has filled in is redirected like any other, and stores nothing', async () => {
  const page = await visit(allowed, form());
  await page.evaluate(() => {
    for (const input of document.querySelectorAll<HTMLInputElement>('input:not([type=hidden])')) {
      input.value = 'https://spam.example';
    }
    document.querySelector('form')?.submit();
  });
  await page.waitForURL(`${allowed.origin}/?order_id=*`);
  await page.getByText('Thank you').waitFor();
  expect(await leads()).toEqual([]);
});

test('a script of an allowed origin can read responses, including errors', async () => {
  const page = await visit(allowed);
  const good = await fetchIn(page, browserKey, exampleLead, { 'Idempotency-Key': 'one' });
  expect(good).toMatchObject({ status: 200, requestId: expect.any(String), body: { success: true } });
  expect(await leads()).toHaveLength(1);
  expect(await fetchIn(page, browserKey, { name: '' })).toMatchObject({
    status: 400,
    body: { success: false, error: 'validation', message: 'Invalid input data' },
  });
});

test('a script of an allowed origin can read Retry-After and RateLimit of a 429 response', async () => {
  const page = await visit(allowed);
  const apiKey = await issueBrowserKey();
  // A browser sends requests much faster than the quota recovers.
  const answers = await Promise.all(Array.from({ length: 75 }, () => fetchIn(page, apiKey, {})));
  expect(answers).toContainEqual({
    status: 429,
    requestId: expect.any(String),
    retryAfter: '1',
    rateLimit: '"default";r=0;t=1',
    body: expect.objectContaining({ success: false, error: 'error' }),
  });
});

test('a script of a foreign origin reads no response and stores nothing', async () => {
  const page = await visit(foreign);
  expect(await fetchIn(page, browserKey, exampleLead)).toBe(blocked);
  expect(await leads()).toEqual([]);
});

test('no script can read a response to a secret key', async () => {
  for (const site of [allowed, foreign]) {
    expect(await fetchIn(await visit(site), workspace.owner.apiKey, exampleLead)).toBe(blocked);
  }
});

test('a beacon, which cannot have headers, stores a lead from an allowed origin', async () => {
  const page = await visit(allowed);
  await page.evaluate(({ url, fields }) => navigator.sendBeacon(url, new URLSearchParams(fields)), {
    url: `${website.intake}/api/v1/leads?API_KEY=${browserKey}`,
    fields: exampleLead,
  });
  await expect.poll(async () => (await leads()).length).toBe(1);
});
