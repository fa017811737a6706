import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { MemberRole } from '@leads/core/credential';
import { chromiumArguments, findChromium } from '@leads/local-stack/processes/find-chromium';
import { startService } from '@leads/local-stack/processes/services';
import {
  type Fixture,
  jwtSecret,
  openFixture,
  type TestMember,
  type TestWorkspace,
} from '@leads/test-kit/fixture';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { TestRunner } from 'vitest';

/** Where screenshots go; not kept by git. */
export const screenshots = resolve(import.meta.dirname, '../.screenshots');

/** What every account of these tests signs in with. */
export const password = 'correct horse battery';

/** Both services as processes of their own, on a database of their own, and a browser to look at the website with. */
export interface Console extends AsyncDisposable {
  /** Where the CRM and its website are, without a path. */
  readonly crm: string;
  readonly intake: string;
  readonly databaseUrl: string;
  readonly fixture: Fixture;
  readonly browser: Browser;
  /** A page of a browser that nobody is signed in to. What goes wrong in it fails the test: see {@link closePages}. */
  openPage(options?: PageOptions): Promise<Page>;
  /** A page that an account of a new workspace, or of the given one, is signed in on; it shows nothing yet. */
  openSignedIn(options?: PageOptions & SignInOptions): Promise<SignedInPage>;
  /** Closes all pages. @throws Error for what went wrong in them and was not expected. */
  closePages(): Promise<void>;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** How long a page puts off at least what it does by a timer, as on a busy machine, in milliseconds. */
  readonly timersAtLeastMs?: number;
}

export interface SignInOptions {
  readonly workspace?: TestWorkspace;
  readonly role?: MemberRole;
}

export interface SignedInPage {
  readonly page: Page;
  readonly workspace: TestWorkspace;
  /** Who is signed in, with an API key and an access token made beforehand. */
  readonly member: TestMember;
}

/**
 * @param settings of the CRM service, beyond what the tests need.
 * @param intakeSettings of the intake.
 */
export async function startConsole(
  settings: Record<string, string> = {},
  intakeSettings: Record<string, string> = {},
): Promise<Console> {
  const database = await createTestDatabase();
  const fixture = openFixture(database.url);
  const env = { DATABASE_URL: database.url, LOG_LEVEL: 'info' };
  const browser = await openBrowser();
  const intake = await startService('intake', { env: { ...env, ...intakeSettings } });
  // Its own address is only known once it listens, and pages of whatever host it is called by are its own.
  const crm = await startService('crm', {
    env: { ...env, JWT_SECRET: jwtSecret, INTAKE_URL: intake.url, ...settings },
  });

  const faults: string[] = [];
  const contexts: BrowserContext[] = [];
  const open = async (options: PageOptions = {}) => {
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1440, height: options.height ?? 900 },
      colorScheme: options.colorScheme ?? 'light',
      reducedMotion: 'reduce',
      baseURL: crm.url,
      extraHTTPHeaders: {},
    });
    contexts.push(context);
    context.setDefaultTimeout(30_000);
    if (options.timersAtLeastMs !== undefined) {
      await context.addInitScript((atLeastMs) => {
        const inTime = window.setTimeout.bind(window);
        const late = (handler: TimerHandler, ms = 0, ...rest: unknown[]) =>
          inTime(handler, Math.max(ms, atLeastMs), ...rest);
        Object.assign(window, { setTimeout: late });
      }, options.timersAtLeastMs);
    }
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      // A refusal that a page asks for is shown by the page, and by the browser as a resource that did not load.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
      faults.push(`${page.url()}: ${message.text()}`);
    });
    return page;
  };

  return {
    crm: crm.url,
    intake: intake.url,
    databaseUrl: database.url,
    fixture,
    browser,
    openPage: open,
    async openSignedIn(options = {}) {
      const workspace = options.workspace ?? (await fixture.createWorkspace());
      const email = `${randomUUID()}@example.com`;
      const page = await open(options);
      // By the website's own paths: the account, and then its place in the workspace.
      const headers = { origin: crm.url };
      const post = async (path: string, data: object) => {
        const answer = await page.context().request.post(`${crm.url}/api/auth${path}`, { headers, data });
        if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
      };
      await post('/sign-up/email', { name: 'Test Person', email, password });
      const member = await workspace.addMember(options.role ?? 'owner', { email });
      await post('/organization/set-active', { organizationId: workspace.id });
      return { page, workspace, member };
    },
    async closePages() {
      if (TestRunner.getCurrentTest()?.result?.state === 'fail') {
        for (const page of contexts.flatMap((context) => context.pages())) {
          process.stderr.write(`${page.url()} as the test failed:\n${await describePage(page)}\n`);
        }
      }
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      const found = faults.splice(0);
      if (found.length > 0) throw new Error(`Something went wrong in a page:\n${found.join('\n')}`);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(browser.contexts().map((context) => context.close()));
      await crm.stop();
      await intake.stop();
      await fixture[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

let opened: Browser | undefined;

/** Returns the browser that the test files of this worker process share. Playwright ends it with the process. */
async function openBrowser(): Promise<Browser> {
  if (opened?.isConnected() !== true) {
    opened = await chromium.launch({ executablePath: await findChromium(), args: chromiumArguments });
  }
  return opened;
}

/** What tells why a page did not do as it should: where keys go, and what it says. */
async function describePage(page: Page): Promise<string> {
  const described = page.evaluate(() => {
    const texts = [...document.querySelectorAll('[role="dialog"], [role="alert"], [role="menu"], h1')];
    return [
      `focus: ${document.activeElement?.outerHTML.slice(0, 300)}`,
      ...texts.map((each) => `${each.role ?? each.tagName}: ${each.textContent}`),
    ].join('\n');
  });
  return described.catch((error: unknown) => String(error));
}

/** Writes what a page shows to an ignored folder, where SCREENSHOTS is set: to be looked at, not compared. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env['SCREENSHOTS']) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({
    path: resolve(screenshots, `${name}.png`),
    fullPage: false,
    animations: 'disabled',
  });
}
