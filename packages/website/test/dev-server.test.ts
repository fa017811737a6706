import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Website, password, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterAll(() => website?.[Symbol.asyncDispose]());

/** Starts the development server with `npm run dev`. @returns its URL. */
async function startDevServer(): Promise<string> {
  const child = spawn('npm', ['run', '--silent', 'dev'], {
    cwd: resolve(import.meta.dirname, '..'),
    env: { ...process.env, CRM_URL: website.crm, NODE_ENV: 'development' },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await exited;
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += stripVTControlCharacters(String(text));
  });
  const address = () => /http:\/\/127\.0\.0\.1:\d+(?=\/)/.exec(printed)?.[0];
  await expect.poll(address).toBeDefined();
  return address() ?? '';
}

test('the development server serves the website from its sources and forwards API requests to CRM_URL', async () => {
  const { page, member } = await website.openSignedIn();
  await page.context().clearCookies();
  const url = await startDevServer();
  expect(url).not.toBe(website.crm);
  await page.goto(`${url}/leads`);
  await page.getByLabel('Email address').fill(member.email);
  await page.getByLabel('Password').first().fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Leads', level: 1 }).waitFor();
  expect(new URL(page.url()).origin).toBe(url);
  expect(await page.locator('script[src*="/src/main.tsx"]').count()).toBe(1);
  await page.goto(`${url}/docs`);
  await page.getByText('Create a lead').first().waitFor();
});
