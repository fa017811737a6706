import { randomUUID } from 'node:crypto';
import { createOverviewStore } from '@leads/core/db';
import { getOverview } from '@leads/core/overview';
import { chromiumArguments, findChromium } from '@leads/local-stack/processes/find-chromium';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openForBench, query } from '../stack/database.ts';
import { startProgram } from '../stack/programs.ts';
import { median, scaled, timeOf } from '../statistics.ts';
import { aggregateLeads } from './aggregate.ts';
import { type ListBench, viewers } from './bench.ts';
import { filled } from './fill.ts';

/** The requirements for a workspace of 1,000,000 leads. */
const required = {
  contentMs: 1_000,
  overviewMs: 300,
  slowContentMs: 2_000,
  maxShift: 0.02,
  searchMs: 150,
  visibleMs: 2_000,
};
/** The numbers of searches and changes are enough for the maximum. */
const usual = { pageLoads: 9, answers: 60, searches: 16, changes: 16 };
/** A connection of 1.6 Mbit/s with 150 ms of latency, as the network emulation of the browser describes it. */
const slowNetwork = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
};
/** The second of the two years of the leads. */
const year = { from: '2025-01-01', to: '2025-12-31', zone: 'Europe/Berlin' };
/** The pages whose largest content is measured, with their search parameters. */
const pages = {
  leads: '',
  overview: '',
  campaigns: '',
  statements: `?${new URLSearchParams(year).toString()}`,
};

/**
 * Measures the leads page in a browser with an empty cache, how soon it shows results and changes, and the overview of a
 * year, at the largest size.
 */
export async function measureWebsite({ databases, sizes, effort, onProgress }: ListBench) {
  // It takes half a second to load, which no other step needs.
  const { chromium: playwright } = await import('playwright-core');
  const executablePath = await findChromium();
  const leads = Math.max(...sizes);
  const databaseUrl = await databases.open(leads);
  onProgress(`Aggregating ${leads} leads for the overview`);
  await aggregateLeads(databaseUrl);
  await using crm = await startProgram('crm', { databaseUrl });
  const url = `http://127.0.0.1:${crm.port}`;
  await using browser = await playwright.launch({ executablePath, args: chromiumArguments });
  onProgress(`Loading the leads page with ${leads} leads in Chromium ${browser.version()}`);
  const cookies = await signIn(databaseUrl, browser, url);
  const pageLoads = await repeat(scaled(usual.pageLoads, effort), () => loadLeadsPage(browser, url, cookies));

  const slug = await slugOf(databaseUrl);
  const contents: FirstContent[] = [];
  for (const isSlow of [false, true]) {
    for (const [page, search] of Object.entries(pages)) {
      onProgress(`Loading the page ${page}${isSlow ? ' over a slow network' : ''}`);
      // The loads without the slow network have warmed up the service.
      const warmUps = isSlow ? 0 : 1;
      const loads = await repeat(
        scaled(usual.pageLoads, effort),
        () => loadPage(browser, `${url}/w/${slug}/${page}${search}`, cookies, isSlow),
        warmUps,
      );
      const timesMs = loads.map(({ largestPaintMs }) => largestPaintMs);
      contents.push({
        name: `${page} page, largest content${isSlow ? ', slow network' : ''}`,
        leads,
        p50Ms: median(timesMs),
        maxMs: Math.max(...timesMs),
        shift: median(loads.map(({ shift }) => shift)),
        maxShift: Math.max(...loads.map(({ shift }) => shift)),
        samples: loads.length,
        requiredMs: isSlow ? required.slowContentMs : required.contentMs,
        requiredShift: required.maxShift,
      });
    }
  }

  onProgress('Searching leads by the digits of their phone numbers');
  const leadsPage = `${url}/w/${slug}/leads`;
  const numbers = await phonesOf(databaseUrl, scaled(usual.searches, effort));
  const searchesMs = await timeSearches(browser, leadsPage, cookies, { numbers, search: searchList });
  const paletteMs = await timeSearches(browser, leadsPage, cookies, { numbers, search: searchPalette });
  onProgress('Changing leads, which another operator has in the list');
  const operator = await signIn(databaseUrl, browser, url);
  const changesMs = await timeChanges(browser, leadsPage, [cookies, operator], scaled(usual.changes, effort));

  onProgress(`Requesting the overview of a year with ${leads} leads`);
  await using database = openForBench(databaseUrl);
  const store = createOverviewStore(database);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const overviewUrl = `${url}/api/console/overview?${new URLSearchParams(year).toString()}`;
  const getOverHttp = async () => {
    const answer = await fetch(overviewUrl, { headers: { cookie } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`The overview answers ${answer.status}: ${text}`);
  };
  const answers = scaled(usual.answers, effort);
  const overviews = await repeat(answers, () => timeOf(() => getOverview(store, viewers.owner, year)));
  const overHttp = await repeat(answers, () => timeOf(getOverHttp));
  const figuresOf = (name: string, timesMs: readonly number[], requiredMs: number) => ({
    name,
    leads,
    p50Ms: median(timesMs),
    maxMs: Math.max(...timesMs),
    samples: timesMs.length,
    requiredMs,
  });
  const firstPaints = pageLoads.map(({ firstPaintMs }) => firstPaintMs);
  const firstRows = pageLoads.map(({ firstRowMs }) => firstRowMs);
  return [
    figuresOf('leads page, first content', firstPaints, required.contentMs),
    figuresOf('leads page, first row', firstRows, required.contentMs),
    ...contents,
    figuresOf('search by 7 digits, Enter to result', searchesMs, required.searchMs),
    figuresOf('palette by 7 digits, last digit to result', paletteMs, required.searchMs),
    figuresOf("change until in another operator's list", changesMs, required.visibleMs),
    figuresOf('overview of a year, from SQL', overviews, required.overviewMs),
    figuresOf('overview of a year, over HTTP', overHttp, required.overviewMs),
  ];
}

/** The largest contentful paint and the layout shift (CLS) of a page with an empty cache. */
interface FirstContent {
  readonly name: string;
  readonly leads: number;
  readonly p50Ms: number;
  readonly maxMs: number;
  /** The median of the layout shifts. */
  readonly shift: number;
  readonly maxShift: number;
  readonly samples: number;
  readonly requiredMs: number;
  readonly requiredShift: number;
}

/** Runs `work` several times in sequence. The results of the first runs, the warm-ups, are dropped. */
async function repeat<Figures>(count: number, work: () => Promise<Figures>, warmUps = 1): Promise<Figures[]> {
  const results: Figures[] = [];
  for (let run = 0; run < warmUps + count; run++) results.push(await work());
  return results.slice(warmUps);
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

/** Signs up a user over the website's API, and adds the user to the large workspace as an owner. */
async function signIn(databaseUrl: string, browser: Browser, origin: string): Promise<Cookies> {
  await using context = await browser.newContext();
  const post = async (path: string, data: object) => {
    const answer = await context.request.post(`${origin}/api/auth${path}`, { headers: { origin }, data });
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  };
  const email = `${randomUUID()}@example.com`;
  await post('/sign-up/email', { name: 'Benchmark', email, password: randomUUID() });
  await query(
    databaseUrl,
    `INSERT INTO member (id, workspace_id, user_id, role)
    SELECT gen_random_uuid(), $1, id, 'owner' FROM "user" WHERE email = $2`,
    [filled.large, email],
  );
  await post('/organization/set-active', { organizationId: filled.large });
  return await context.cookies();
}

/**
 * A script for the page that records the time of the first content and of the first painted row of the list.
 */
const recordContent = `
  globalThis.firstPaintMs = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) {
        if (name === 'first-contentful-paint') resolve(startTime);
      }
    }).observe({ type: 'paint', buffered: true });
  });
  globalThis.firstRowMs = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (document.querySelector('[role="grid"] [role="row"] [role="gridcell"]') === null) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    }).observe(document, { childList: true, subtree: true });
  })`;

/** Loads the leads page in a new browser context, whose cache is empty. */
async function loadLeadsPage(
  browser: Browser,
  origin: string,
  cookies: Cookies,
): Promise<{ firstPaintMs: number; firstRowMs: number }> {
  await using context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.addInitScript(recordContent);
  await page.goto(`${origin}/leads`);
  return await page.evaluate(async () => {
    const recorded = globalThis as unknown as { firstPaintMs: Promise<number>; firstRowMs: Promise<number> };
    return { firstPaintMs: await recorded.firstPaintMs, firstRowMs: await recorded.firstRowMs };
  });
}

/** A script for the page that records the largest contentful paint, and the sum of all layout shifts. */
const recordPaint = `
  globalThis.recorded = { largestPaintMs: 0, shift: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) recorded.largestPaintMs = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) recorded.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Loads a page in a new browser context, whose cache is empty, until it has shown its data. */
async function loadPage(
  browser: Browser,
  address: string,
  cookies: Cookies,
  isSlow: boolean,
): Promise<{ largestPaintMs: number; shift: number }> {
  await using context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies(cookies);
  const page = await context.newPage();
  if (isSlow) {
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', slowNetwork);
  }
  await page.addInitScript(recordPaint);
  await page.goto(address);
  await page.locator('[role="grid"] [role="gridcell"], dd, td').first().waitFor();
  await page.waitForLoadState('networkidle');
  return await page.evaluate(
    () => (globalThis as unknown as { recorded: { largestPaintMs: number; shift: number } }).recorded,
  );
}

/** Returns the last digits of phone numbers of different leads. */
async function phonesOf(databaseUrl: string, count: number): Promise<string[]> {
  const found = await query<{ digits: string }>(
    databaseUrl,
    `SELECT right(phone_e164, 7) AS digits FROM lead
    WHERE workspace_id = $1 AND phone_e164 IS NOT NULL ORDER BY created_at LIMIT $2 OFFSET 5000`,
    [filled.large, count + 1],
  );
  return found.map(({ digits }) => digits);
}

/**
 * Searches each number on the leads page.
 *
 * @param search enters the digits, and sets `resultMs` by {@link recordResult}.
 * @returns the times until the lead of the number is shown, in milliseconds. The first is dropped.
 */
async function timeSearches(
  browser: Browser,
  address: string,
  cookies: Cookies,
  { numbers, search }: { numbers: readonly string[]; search: (page: Page, digits: string) => Promise<void> },
): Promise<number[]> {
  await using context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(address);
  await page.locator('[role="grid"] [role="gridcell"]').first().waitFor();
  const timesMs: number[] = [];
  for (const digits of numbers) {
    await search(page, digits);
    timesMs.push(
      await page.evaluate(() => (globalThis as unknown as { resultMs: Promise<number> }).resultMs),
    );
  }
  return timesMs.slice(1);
}

/** Searches in the list. The time begins at Enter. */
async function searchList(page: Page, digits: string): Promise<void> {
  await page.keyboard.press('/');
  // The list searches 250 ms after the last key, or at Enter.
  await page.evaluate(recordResult(digits, { key: 'Enter', rows: '[role="grid"] [data-index]' }));
  await page.keyboard.insertText(digits);
  await page.keyboard.press('Enter');
}

/** Searches in the palette above the list. The time begins at the last digit. */
async function searchPalette(page: Page, digits: string): Promise<void> {
  const input = page.locator('[role="dialog"] [role="combobox"]');
  // Closes the palette of the last search.
  await page.keyboard.press('Escape');
  await input.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await input.waitFor();
  await page.keyboard.insertText(digits.slice(0, -1));
  await page.evaluate(
    recordResult(digits, { key: digits.slice(-1), rows: '[role="dialog"] [role="option"]' }),
  );
  await page.keyboard.press(digits.slice(-1));
}

/** Returns a script that records the time from a key until the frame in which there are rows and every row has the digits. */
const recordResult = (digits: string, shown: { readonly key: string; readonly rows: string }) => `
  globalThis.resultMs = new Promise((resolve) => {
    let startMs = 0;
    const start = ({ key, timeStamp }) => {
      if (key === '${shown.key}') startMs = timeStamp;
    };
    document.addEventListener('keydown', start, { capture: true, once: true });
    const check = () => {
      const rows = [...document.querySelectorAll('${shown.rows}')];
      const isFound = rows.every((row) => row.textContent.replaceAll(/\\D/g, '').includes('${digits}'));
      if (startMs > 0 && rows.length > 0 && isFound) resolve(performance.now() - startMs);
      else requestAnimationFrame(check);
    };
    check();
  });
  undefined`;

/**
 * Changes the status of the newest lead as one operator, while the list of another one shows it.
 *
 * @returns the times from the response to the change until the other list shows it, in milliseconds. The first is dropped.
 */
async function timeChanges(
  browser: Browser,
  address: string,
  [one, other]: readonly [Cookies, Cookies],
  count: number,
): Promise<number[]> {
  await using changing = await browser.newContext();
  await changing.addCookies(one);
  await using watching = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await watching.addCookies(other);
  const page = await watching.newPage();
  await page.goto(address);
  const row = page
    .locator('[role="grid"] [data-index]')
    .filter({ hasText: /On hold|Approved/ })
    .first();
  await row.waitFor();
  const id = ((await row.getAttribute('id')) ?? '').replace('lead-', '');
  const { origin } = new URL(address);
  const timesMs: number[] = [];
  let isOnHold = (await row.textContent())?.includes('On hold') ?? false;
  for (let change = 0; change <= count; change++) {
    const shown = isOnHold ? 'Approved' : 'On hold';
    const status = isOnHold ? 'Approved' : 'OnHold';
    isOnHold = !isOnHold;
    // The changes are spread over the interval in which the list requests changes.
    await page.waitForTimeout((change * 97) % 1_500);
    const changed = page.locator(`[id="lead-${id}"]`).filter({ hasText: shown });
    const answer = await changing.request.post(`${origin}/api/console/order/leads/status`, {
      headers: { origin },
      data: { ids: [id], status },
    });
    if (!answer.ok())
      throw new Error(`The change is answered with ${answer.status()}: ${await answer.text()}`);
    timesMs.push(await timeOf(() => changed.waitFor()));
  }
  return timesMs.slice(1);
}

/** Returns the part of addresses that names the large workspace. */
async function slugOf(databaseUrl: string): Promise<string> {
  const [workspace] = await query<{ slug: string }>(databaseUrl, 'SELECT slug FROM workspace WHERE id = $1', [
    filled.large,
  ]);
  if (workspace === undefined) throw new Error('The database has no large workspace');
  return workspace.slug;
}
