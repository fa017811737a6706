import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Website, password, openWebsite } from './website.ts';

/*
 * Attacks by pages of other origins on a signed-in user. These pages have the same host and another port. For cookies,
 * they are the same site, so only the defenses of this website itself protect the user.
 */

let website: Website;
let stranger: Server;
let strangerUrl: string;
beforeAll(async () => {
  website = await openWebsite();
  stranger = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end('<!doctype html><title>A stranger</title><iframe name="frame"></iframe>');
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
});
afterEach(() => website.closePages().catch(() => undefined));
afterAll(async () => {
  stranger?.close();
  await website?.[Symbol.asyncDispose]();
});

test('a form or a script of another origin cannot act for the signed-in user', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  await page.goto(strangerUrl);
  const statuses: number[] = [];
  page.on('response', (response) => {
    if (response.request().method() === 'POST') statuses.push(response.status());
  });
  // The form's body is valid JSON by a trick. The browser sends the cookies.
  const submit = (path: string, body: object) =>
    page.evaluate(
      async ([action, text]) => {
        const form = document.createElement('form');
        form.method = 'post';
        form.action = action;
        form.enctype = 'text/plain';
        form.target = 'frame';
        const field = document.createElement('input');
        field.name = `${text.slice(0, -1)},"x":"`;
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        form.submit();
      },
      [`${website.crm}/api${path}`, JSON.stringify(body)] as const,
    );
  const attempts: [string, object][] = [
    ['/console/api-keys', { name: 'Stolen' }],
    ['/console/campaigns', { code: 'STOLEN', name: 'Stolen' }],
    ['/auth/sign-out', {}],
    ['/auth/organization/invite-member', { email: 'mallory@example.com', role: 'owner' }],
  ];
  for (const [path, body] of attempts) {
    const answered = page.waitForResponse((response) => response.url().endsWith(path));
    await submit(path, body);
    await answered;
  }
  expect(statuses).toEqual([403, 403, 403, 403]);

  const read = await page.evaluate(
    (url) =>
      fetch(url, { credentials: 'include' }).then(
        (response) => response.text(),
        () => 'blocked',
      ),
    `${website.crm}/api/console/me`,
  );
  expect(read).toBe('blocked');

  const sql = (text: string, values?: unknown[]) => website.fixture.sql(text, values);
  expect(
    await sql('SELECT FROM api_key WHERE workspace_id = $1 AND name = $2', [workspace.id, 'Stolen']),
  ).toEqual([]);
  expect(await sql(`SELECT FROM campaign WHERE code = 'STOLEN'`)).toEqual([]);
  expect(await sql(`SELECT FROM invitation WHERE email = 'mallory@example.com'`)).toEqual([]);
  expect(await sql('SELECT FROM session WHERE user_id = $1', [member.userId])).toHaveLength(1);
});

test('leads and their figures are visible only in their own workspace, also when they arrive', async () => {
  const open = async (name: string, other: string) => {
    const { page, workspace, member } = await website.openSignedIn();
    const lead = workspace.lead(member, { name, lpName: `page of ${name}`, s1: `click of ${name}` });
    await website.fixture.leads.insert([lead]);
    return { page, member, name, other, id: lead.id };
  };
  const mine = await open('Ada', 'Grace');
  const theirs = await open('Grace', 'Ada');
  for (const { page, name, other } of [mine, theirs]) {
    await page.goto('/overview');
    await page.getByRole('link', { name: `page of ${name}` }).waitFor();
    await page.getByRole('link', { name: `click of ${name}` }).waitFor();
    expect(await page.getByRole('region', { name: 'Totals' }).locator('dd').first().textContent()).toBe('1');
    expect(await page.locator('body').innerText()).not.toContain(other);
    await page.goto(`/leads?q=${other}`);
    await page.getByText('No lead matches these filters.').waitFor();
  }
  await theirs.page.goto(`/leads?lead=${mine.id}`);
  await theirs.page.getByText('This lead does not exist, or you have no access to it.').waitFor();
  for (const { page, name } of [mine, theirs]) {
    await page.goto('/leads');
    await page.getByRole('row').filter({ hasText: name }).waitFor();
  }

  const answer = await fetch(`${website.intake}/api/v1/leads`, {
    method: 'POST',
    headers: { API_KEY: mine.member.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada again', phone: '+442079460958' }),
  });
  expect(answer.status).toBe(200);
  await mine.page.getByRole('row').filter({ hasText: 'Ada again' }).waitFor();
  // The other page polls for changes, too.
  await theirs.page.waitForResponse((response) => response.url().includes('updatedSince'));
  await theirs.page.getByText('1 lead', { exact: true }).waitFor();
  expect(await theirs.page.getByRole('grid').innerText()).not.toContain('Ada');
});

test('no page can be framed by a page of another origin', async () => {
  const { page } = await website.openSignedIn();
  await page.goto(strangerUrl);
  for (const path of ['/leads', '/profile', '/sign-in', '/docs']) {
    const answered = page.waitForResponse((response) => response.url().endsWith(path));
    await page.evaluate((url) => {
      const frame = document.querySelector('iframe');
      if (frame !== null) frame.src = url;
    }, `${website.crm}${path}`);
    await answered;
    await expect.poll(() => page.frame({ name: 'frame' })?.url()).toBe('chrome-error://chromewebdata/');
  }
});

test('the redirect after a sign-in never leads to another origin', async () => {
  const email = 'someone@example.com';
  const known = await website.openPage();
  await known.context().request.post(`${website.crm}/api/auth/sign-up/email`, {
    headers: { origin: website.crm },
    data: { name: 'Someone', email, password },
  });
  for (const to of ['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    const page = await website.openPage();
    await page.goto(`/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').first().fill(password);
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /^Your account/ })
      .or(page.getByText('Page not found'))
      .first()
      .waitFor();
    expect(new URL(page.url()).origin).toBe(website.crm);
  }
});

test('an error of a script is reported to the service', async () => {
  const { page } = await website.openSignedIn();
  await page.goto('/overview');
  await page.waitForURL('**/w/*/overview');
  const reported = page.waitForRequest((request) => request.url().endsWith('/api/console/client-errors'));
  await page.evaluate(() => {
    setTimeout(() => {
      throw new Error('Broken on purpose');
    });
  });
  const request = await reported;
  expect(request.postDataJSON()).toMatchObject({ name: 'Error', page: new URL(page.url()).pathname });
  expect(request.postData()).not.toContain('"message"');
  expect((await request.response())?.status()).toBe(200);
});
