import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { MemberRole } from '@leads/core/credential';
import { DisposeStack } from '@leads/core/dispose-stack';
import { chromiumArguments, findChromium } from '@leads/local-stack/processes/find-chromium';
import { startService } from '@leads/test-kit/services';
import {
  type Fixture,
  jwtSecret,
  openFixture,
  password,
  type TestMember,
  type TestWorkspace,
} from '@leads/test-kit/fixture';
import type { SharedServices } from '@leads/test-kit/shared-services';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { type Browser, chromium, type Page } from 'playwright-core';
import { inject, TestRunner } from 'vitest';
import { PagePool, type PageOptions } from './page-pool.ts';

/** The folder of the screenshots. Git ignores it. */
export const screenshots = resolve(import.meta.dirname, '../.screenshots');

export { password } from '@leads/test-kit/fixture';

/** Both services as separate processes, and a browser. `crm` is the origin of the website. */
export interface Website extends SharedServices, AsyncDisposable {
  readonly fixture: Fixture;
  readonly browser: Browser;
  /** Opens a page without a session. Its errors fail the test: see {@link closePages}. */
  openPage(options?: PageOptions): Promise<Page>;
  /** Opens an empty page with the session of a new member of a workspace. Without `workspace`, the workspace is new. */
  openSignedIn(options?: PageOptions & SignInOptions): Promise<SignedInPage>;
  /** Closes all pages. @throws Error if a page had an uncaught error or logged an error. */
  closePages(): Promise<void>;
}

export interface SignInOptions {
  readonly workspace?: TestWorkspace;
  readonly role?: MemberRole;
}

export interface SignedInPage {
  readonly page: Page;
  readonly workspace: TestWorkspace;
  /** The signed-in member, with an API key and an access token. */
  readonly member: TestMember;
}

/** Stores a payment without leads, to and by a member. @returns its id. */
export async function storePayment(
  { fixture }: Website,
  { workspace, member }: Pick<SignedInPage, 'workspace' | 'member'>,
): Promise<string> {
  const id = randomUUID();
  await fixture.sql(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date,
       state, total, leads, amount)
     VALUES ($1, $2, 1, $3, $3, now() - interval '1 day', now(), 'EUR', '2026-11-27', 'paid', 0, 0, 0)`,
    [id, workspace.id, member.userId],
  );
  return id;
}

/** Opens the website of the services that all test files without settings of their own share. */
export async function openWebsite(): Promise<Website> {
  const answer = await fetch(inject('sharedServices'));
  if (!answer.ok) throw new Error(`The shared services do not start: ${await answer.text()}`);
  const services = (await answer.json()) as SharedServices;
  const browser = await openBrowser();
  if (sharedPages?.browser !== browser) sharedPages = new PagePool(browser, services.crm);
  return createWebsite(services, sharedPages, new DisposeStack());
}

/** The pages of the shared website. Later test files of this worker process use them again. */
let sharedPages: PagePool | undefined;

/**
 * Starts both services on a new database, for tests that need other settings or change the whole database.
 *
 * @param settings additional environment variables of the CRM service.
 * @param intakeSettings additional environment variables of the intake service.
 */
export async function startWebsite(
  settings: Record<string, string> = {},
  intakeSettings: Record<string, string> = {},
): Promise<Website> {
  await using stack = new DisposeStack();
  const { url: databaseUrl } = stack.use(await createTestDatabase());
  const env = { DATABASE_URL: databaseUrl, LOG_LEVEL: 'info' };
  const intake = stack.use(await startService('intake', { env: { ...env, ...intakeSettings } }));
  const crmEnv = { ...env, JWT_SECRET: jwtSecret, INTAKE_URL: intake.url, ...settings };
  const crm = stack.use(await startService('crm', { env: crmEnv }));
  const pages = stack.use(new PagePool(await openBrowser(), crm.url));
  return createWebsite({ crm: crm.url, intake: intake.url, databaseUrl }, pages, stack.move());
}

/** @param resources disposed with the website. */
function createWebsite(services: SharedServices, pages: PagePool, resources: DisposeStack): Website {
  const { crm, databaseUrl } = services;
  const fixture = resources.use(openFixture(databaseUrl));
  const open = (options: PageOptions = {}) => pages.open(options);
  return {
    ...services,
    fixture,
    browser: pages.browser,
    openPage: open,
    async openSignedIn(options = {}) {
      const workspace = options.workspace ?? (await fixture.createWorkspace());
      const email = `${randomUUID()}@example.com`;
      const page = await open(options);
      // Creates the account and its session in this process, because the service would hash the password again.
      const userAgent = await page.evaluate(() => navigator.userAgent);
      let cookie = '';
      const post = async (path: string, data: object) => {
        const answer = await fixture.accounts.handle(
          new Request(`${crm}/api/auth${path}`, {
            method: 'POST',
            headers: { origin: crm, 'content-type': 'application/json', 'user-agent': userAgent, cookie },
            body: JSON.stringify(data),
          }),
        );
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
        return answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
      };
      const cookies = await post('/sign-up/email', { name: 'Test Person', email, password });
      cookie = cookies.join('; ');
      const member = await workspace.addMember(options.role ?? 'owner', { email });
      await post('/organization/set-active', { organizationId: workspace.id });
      await page.context().addCookies(
        cookies.map((line) => {
          const at = line.indexOf('=');
          return {
            name: line.slice(0, at),
            value: line.slice(at + 1),
            url: crm,
            httpOnly: true,
            sameSite: 'Lax',
          };
        }),
      );
      return { page, workspace, member };
    },
    async closePages() {
      const hasFailed = TestRunner.getCurrentTest()?.result?.state === 'fail';
      if (hasFailed) {
        for (const page of pages.opened) {
          process.stderr.write(`${page.url()} when the test failed:\n${await describePage(page)}\n`);
        }
      }
      // All tests have one address, and the service limits its attempts to sign in.
      await fixture.sql(`DELETE FROM attempt WHERE key LIKE 'address:%'`);
      const found = await pages.close(hasFailed);
      if (found.length > 0) throw new Error(`A page had errors:\n${found.join('\n')}`);
    },
    async [Symbol.asyncDispose]() {
      await pages.close(false);
      await resources[Symbol.asyncDispose]();
    },
  };
}

let opened: Browser | undefined;

/** Returns the browser that the test files of this worker process share. Playwright ends it with the process. */
async function openBrowser(): Promise<Browser> {
  if (opened?.isConnected() !== true) {
    opened = await chromium.launch({
      executablePath: await findChromium(),
      // A page lives for seconds: optimizing its scripts takes more processor time than it saves.
      args: [...chromiumArguments, '--js-flags=--no-opt,--no-maglev'],
    });
  }
  return opened;
}

/** Describes the state of a page after a failure: the focused element and the visible messages. */
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

/** Signs a member in by the link of a page whose session has ended. The link opens another tab. */
export async function signInInAnotherTab(page: Page, member: Pick<TestMember, 'email'>): Promise<void> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Sign in in another tab' }).click();
  const other = await popup;
  await other.getByLabel('Email address').fill(member.email);
  await other.getByLabel('Password').first().fill(password);
  await other.keyboard.press('Enter');
  await other.getByRole('button', { name: /^Your account/ }).waitFor();
  await other.close();
}

/** Delays the answers to requests until they are released: those of one method, or all. */
export async function hold(page: Page, url: RegExp, method?: string): Promise<{ release: () => void }> {
  let release: () => void = () => undefined;
  const released = new Promise<void>((open) => {
    release = open;
  });
  await page.route(url, async (route) => {
    if (method === undefined || route.request().method() === method) await released;
    await route.continue();
  });
  return { release };
}

/** Waits until the page has handled the responses that it has received: it has by the second frame. */
export async function waitForFrames(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** Writes a screenshot for a human reviewer if SCREENSHOTS is set. Screenshots are not compared. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env['SCREENSHOTS']) return;
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({
    path: resolve(screenshots, `${name}.png`),
    fullPage: false,
    animations: 'disabled',
  });
}
