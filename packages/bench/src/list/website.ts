import { randomUUID } from 'node:crypto';
import { createOverviewStore } from '@leads/core/db';
import { getOverview } from '@leads/core/overview';
import { chromiumArguments } from '@leads/local-stack/processes/find-chromium';
import { startService } from '@leads/local-stack/processes/services';
import pg from 'pg';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';
import { median } from '../statistics.ts';
import { jwtSecret } from './crm-process.ts';
import { filled } from './fill.ts';
import { openForBench, viewers } from './queries.ts';

export interface WebsiteFigures {
  /** What is looked at, or asked. */
  readonly name: string;
  readonly leads: number;
  readonly p50Ms: number;
  readonly maxMs: number;
  readonly samples: number;
  /** What it may take. */
  readonly askedMs: number;
}

/** What the website owes to a workspace of 1,000,000 leads, in milliseconds. */
const asked = { contentMs: 1_000, overviewMs: 300 } as const;
const usual = { loads: 9, answers: 60 };
/** Of the leads, which are of two years, the second. */
const year = { from: '2025-01-01', to: '2025-12-31', zone: 'Europe/Berlin' } as const;
const leadsPerAggregation = 50_000;

/** The first content of the leads page in a browser that has nothing of it yet, and the overview of a year. */
export async function measureWebsite(
  databaseUrl: string,
  leads: number,
  options: {
    /** The path of one. */
    readonly chromium: string;
    readonly effort: number;
    readonly onProgress: (line: string) => void;
  },
): Promise<WebsiteFigures[]> {
  const { chromium, effort, onProgress } = options;
  onProgress(`Counting ${leads} leads for the overview`);
  await countLeads(databaseUrl);
  await using crm = await startService('crm', {
    env: { DATABASE_URL: databaseUrl, JWT_SECRET: jwtSecret, LOG_LEVEL: 'warn' },
  });
  const browser = await playwright.launch({ executablePath: chromium, args: chromiumArguments });
  try {
    onProgress(`The leads page in Chromium ${browser.version()}, of ${leads} leads`);
    const cookies = await signIn(databaseUrl, browser, crm.url);
    const firstPaints: number[] = [];
    const firstRows: number[] = [];
    const loads = Math.max(3, Math.round(usual.loads * effort));
    // The first one warms the service up and counts for nothing.
    for (let load = -1; load < loads; load++) {
      const { firstPaintMs, firstRowMs } = await loadLeads(browser, crm.url, cookies);
      if (load < 0) continue;
      firstPaints.push(firstPaintMs);
      firstRows.push(firstRowMs);
    }

    onProgress(`The overview of a year, of ${leads} leads`);
    await using database = openForBench(databaseUrl);
    const store = createOverviewStore(database);
    const count = () => getOverview(store, viewers.owner, year);
    const address = `${crm.url}/api/console/overview?${new URLSearchParams(year).toString()}`;
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const ask = async () => {
      const answer = await fetch(address, { headers: { cookie } });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`The overview is answered with ${answer.status}: ${text}`);
    };
    const answers = Math.max(3, Math.round(usual.answers * effort));
    const figures = (name: string, times: readonly number[], askedMs: number) => ({
      name,
      leads,
      p50Ms: median(times),
      maxMs: Math.max(...times),
      samples: times.length,
      askedMs,
    });
    return [
      figures('leads page, first content', firstPaints, asked.contentMs),
      figures('leads page, first row', firstRows, asked.contentMs),
      figures('overview of a year, from SQL', await timesOf(count, answers), asked.overviewMs),
      figures('overview of a year, over HTTP', await timesOf(ask, answers), asked.overviewMs),
    ];
  } finally {
    await browser.close();
  }
}

/** How long something takes, one after the other; the first one warms up and counts for nothing. */
async function timesOf(work: () => Promise<unknown>, count: number): Promise<number[]> {
  await work();
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

/** The leads were filled in without triggers: counts them as it would have come to be in the long run. */
async function countLeads(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`
      BEGIN;
      TRUNCATE lead_tally, lead_tally_entry;
      INSERT INTO lead_tally_entry (workspace_id, user_id, campaign_id, lp_name, at, status, leads, s1)
      SELECT workspace_id, user_id, campaign_id, lead_tally_name(lp_name), lead_tally_time(created_at), status,
        count(*), array_remove(array_agg(s1), NULL)
      FROM lead GROUP BY 1, 2, 3, 4, 5, 6;
      COMMIT`);
    await using database = openForBench(databaseUrl);
    const store = createOverviewStore(database);
    while ((await store.aggregate(leadsPerAggregation)) > 0);
    await client.query('VACUUM ANALYZE lead_tally, lead_tally_entry');
  } finally {
    await client.end();
  }
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>;

/** Signs somebody up who then is an owner of the large workspace, by the website's own paths. */
async function signIn(databaseUrl: string, browser: Browser, crm: string): Promise<Cookies> {
  const context = await browser.newContext();
  const post = async (path: string, data: object) => {
    const answer = await context.request.post(`${crm}/api/auth${path}`, { headers: { origin: crm }, data });
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  };
  const email = `${randomUUID()}@example.com`;
  await post('/sign-up/email', { name: 'Benchmark', email, password: randomUUID() });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO member (id, workspace_id, user_id, role)
      SELECT gen_random_uuid(), $1, id, 'owner' FROM "user" WHERE email = $2`,
      [filled.large, email],
    );
  } finally {
    await client.end();
  }
  await post('/organization/set-active', { organizationId: filled.large });
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}

/** In a document, when it first shows anything, and when the first row of the list will have been painted. */
const watchContent = `
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

/** Loads the leads page with nothing in the browser's cache. */
async function loadLeads(
  browser: Browser,
  crm: string,
  cookies: Cookies,
): Promise<{ firstPaintMs: number; firstRowMs: number }> {
  // Each context has a cache of its own.
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.addInitScript(watchContent);
    await page.goto(`${crm}/leads`);
    return await page.evaluate(async () => {
      const watched = globalThis as unknown as { firstPaintMs: Promise<number>; firstRowMs: Promise<number> };
      return { firstPaintMs: await watched.firstPaintMs, firstRowMs: await watched.firstRowMs };
    });
  } finally {
    await context.close();
  }
}
