import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, CDPSession, Page, Route } from 'playwright-core';

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The minimum delay of the page's timers in milliseconds, to simulate a busy machine. */
  readonly minTimerMs?: number;
}

/** Methods whose effect on a page or its context cannot be undone. */
const permanent = ['addInitScript', 'exposeFunction', 'exposeBinding', 'newCDPSession'] as const;
/** The events that tests listen to. */
const events = [
  'request',
  'response',
  'requestfailed',
  'dialog',
  'download',
  'console',
  'pageerror',
] as const;

/**
 * The longest delay of a request of a page, in milliseconds. It is set by hand, to find tests and pages that depend on the
 * order of answers.
 */
const maxDelayMs = Number(process.env['REQUEST_DELAY_MS'] ?? 0);

/** A page in a context of its own. */
interface PooledPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Its test used it in a way that cannot be undone. */
  isChanged: boolean;
}

/** The connections to the developer tools of the pages of all pools. */
const devTools = new WeakMap<Page, CDPSession>();

/**
 * Runs a script in a page. The content security policy of the page does not apply. With `page.evaluate`, the browser
 * compiles the script again in each document. That takes 80 ms of processor time for axe.
 */
export async function runScript(page: Page, script: string): Promise<void> {
  const session = devTools.get(page);
  // Pages that other pages opened have no such connection.
  if (session === undefined) await page.evaluate(script);
  else await session.send('Runtime.evaluate', { expression: script });
}

/**
 * Pages without a session. A later test gets the emptied page of an earlier one. A page in a new context takes twice the
 * processor time, because a new process compiles the scripts again.
 */
export class PagePool implements AsyncDisposable {
  readonly browser: Browser;
  readonly #origin: string;
  readonly #free: PooledPage[] = [];
  #opened: PooledPage[] = [];
  #errors: string[] = [];

  constructor(browser: Browser, origin: string) {
    this.browser = browser;
    this.#origin = origin;
  }

  /** All open pages, including those that other pages opened. */
  get opened(): Page[] {
    return this.#opened.flatMap(({ context }) => context.pages());
  }

  async open(options: PageOptions): Promise<Page> {
    const pooled = this.#free.pop() ?? (await this.#create());
    const { page, context } = pooled;
    this.#opened.push(pooled);
    await page.setViewportSize({ width: options.width ?? 1440, height: options.height ?? 900 });
    await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light', reducedMotion: 'reduce' });
    page.on('pageerror', (error) => this.#errors.push(`${page.url()}: ${error.stack ?? error.message}`));
    page.on('console', (message) => {
      // The browser logs every 4xx response as a resource that failed to load. The page itself handles such responses.
      if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
      this.#errors.push(`${page.url()}: ${message.text()}`);
    });
    if (maxDelayMs > 0) await context.route('**/*', delayed);
    if (options.minTimerMs !== undefined) {
      await context.addInitScript((minMs) => {
        const setTimer = window.setTimeout.bind(window);
        const setSlowTimer = (handler: TimerHandler, ms = 0, ...rest: unknown[]) =>
          setTimer(handler, Math.max(ms, minMs), ...rest);
        Object.assign(window, { setTimeout: setSlowTimer });
      }, options.minTimerMs);
    }
    return page;
  }

  /**
   * Closes all pages.
   *
   * @param forever the pages are not used again, such as after a failure.
   * @returns the errors of the pages.
   */
  async close(forever: boolean): Promise<string[]> {
    const opened = this.#opened;
    this.#opened = [];
    const errors = this.#errors;
    this.#errors = [];
    await Promise.all(
      opened.map(async (pooled) => {
        if (!forever && !pooled.isChanged && (await isEmptied(pooled))) this.#free.push(pooled);
        else await pooled.context.close();
      }),
    );
    return errors;
  }

  /** Closes the pages and the contexts of all tests. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close(true);
    await Promise.all(this.#free.splice(0).map(({ context }) => context.close()));
  }

  async #create(): Promise<PooledPage> {
    const context = await this.browser.newContext({ baseURL: this.#origin });
    context.setDefaultTimeout(60_000);
    // The question for a file is a window of the operating system. Without it, browsers download files.
    await context.addInitScript(() => void Reflect.deleteProperty(window, 'showSaveFilePicker'));
    const page = await context.newPage();
    const route = page.route.bind(page);
    Object.assign(page, {
      async route(...args: Parameters<Page['route']>) {
        const added = await route(...args);
        await waitForRoutes(page, route);
        return added;
      },
    });
    devTools.set(page, await context.newCDPSession(page));
    const pooled: PooledPage = { page, context, isChanged: false };
    for (const target of [page, context, page.clock, context.clock]) {
      for (const name of [...permanent, 'install', 'setFixedTime'] as const) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') continue;
        Object.assign(target, {
          [name]: (...args: unknown[]): unknown => {
            pooled.isChanged = true;
            return Reflect.apply(method, target, args);
          },
        });
      }
    }
    return pooled;
  }
}

const probe = '/health/live?probe';
/** Far more attempts than a page needs. */
const maxProbes = 1_000;

/**
 * Waits until the requests of a page go through its routes. Chromium confirms the first route of a page before the process
 * of the page uses it: of 1,000 requests that followed a route at once, 14 reached the service.
 *
 * @param route adds a route without waiting.
 */
async function waitForRoutes(page: Page, route: Page['route']): Promise<void> {
  // The next document of a page uses the routes from its start.
  if (!page.url().startsWith('http')) return;
  const isProbe = (url: URL) => url.href.endsWith(probe);
  await route(isProbe, (probed) => probed.fulfill({ status: 204 }));
  for (let i = 0; i < maxProbes && !page.isClosed(); i++) {
    // The page may be opening another document, or have no connection.
    const status = await page.evaluate(async (path) => (await fetch(path)).status, probe).catch(() => 0);
    if (status === 204) return page.unroute(isProbe);
  }
  throw new Error('The requests of the page do not go through its routes');
}

/** Delays a request for data or for a script by a random time, half of them by less than an eighth of the longest. */
async function delayed(route: Route): Promise<void> {
  if (['fetch', 'xhr', 'script'].includes(route.request().resourceType())) {
    await sleep(Math.random() ** 3 * maxDelayMs);
  }
  // The page may have been closed or left.
  await route.continue().catch(() => undefined);
}

/** Removes what a test left in a page and its context. @returns false if that fails. */
async function isEmptied({ page, context }: PooledPage): Promise<boolean> {
  try {
    for (const event of events) page.removeAllListeners(event);
    for (const other of context.pages()) if (other !== page) await other.close();
    await Promise.all([
      page.unrouteAll({ behavior: 'ignoreErrors' }),
      context.unrouteAll({ behavior: 'ignoreErrors' }),
      context.setOffline(false),
      context.clearPermissions(),
    ]);
    // A response without scripts, which could fill the storage again.
    await page.goto('/health/live', { timeout: 5_000 });
    // Until the page has left the website, an answer can set the cookie of the session again.
    await context.clearCookies();
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.mouse.move(0, 0);
    await page.goto('about:blank');
    return true;
  } catch {
    return false;
  }
}
