import { randomUUID } from 'node:crypto';
import { addDemoLeads } from '@leads/local-stack/demo-leads';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pagesAfterSignIn, pagesBeforeSignIn, routesWithout, type WebsitePage } from './all-pages.ts';
import { expectFocusOn } from './by-keyboard.ts';
import { chooseImport, csvFile } from './leads-page.ts';
import { cutOffOf, lookOf, motionOf, oneLook } from './look.ts';
import {
  expectGoodAtBothWidths,
  expectGoodInBothColors,
  expectGoodPage,
  setColorScheme,
} from './page-checks.ts';
import { hold, screenshot, type Website, openWebsite } from './website.ts';

/* Checks every page on a desktop and on a phone, in light and in dark mode. */

let website: Website;
let workspace: TestWorkspace;
beforeAll(async () => {
  website = await openWebsite();
  workspace = await website.fixture.createWorkspace();
  await website.fixture.sql(`UPDATE workspace SET name = 'Acme' WHERE id = $1`, [workspace.id]);
  await addDemoLeads(website.databaseUrl, workspace.slug, new Date());
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

test('a banner names webhooks and postbacks that fail or were disabled, until they recover or are hidden', async () => {
  const own = await website.fixture.createWorkspace();
  const { page, member } = await website.openSignedIn({ workspace: own, role: 'manager' });
  const add = (url: string, fields: object) => {
    const row = {
      id: randomUUID(),
      workspace_id: own.id,
      url,
      event_types: '{lead.created}',
      statuses: '{Approved}',
      campaign_ids: '{}',
      failures: 3,
      ...fields,
    };
    const names = Object.keys(row);
    return website.fixture.sql<{ id: string }>(
      `INSERT INTO delivery_endpoint (${names.join()}, failing_since)
       VALUES (${names.map((_, index) => `$${index + 1}`).join()}, now() - interval '25 hours') RETURNING id`,
      Object.values(row),
    );
  };
  const publisher = await own.addMember('publisher');
  const [webhook] = await add('https://crm.example.com/hook', { secret: 'x' });
  await add('https://tracker.example.com/p?cid={s1}', {
    kind: 'postback',
    method: 'GET',
    description: 'Tracker',
    disabled_at: new Date(),
    disabled_reason: 'failing',
  });
  await add('https://theirs.example.com/', { kind: 'postback', method: 'GET', user_id: publisher.userId });
  await add('https://foreign.example.com/', { secret: 'x', workspace_id: workspace.id });
  await add('https://recent.example.com/', { secret: 'x', description: 'Recent' });
  await website.fixture.sql(
    `UPDATE delivery_endpoint SET failing_since = now() WHERE description = 'Recent'`,
  );
  await page.goto('/leads');
  const banner = page.getByRole('alert').filter({ hasText: 'Your systems do not receive changes of leads' });
  await expect
    .poll(() => banner.getByRole('listitem').allInnerTexts())
    .toEqual([
      'Webhook crm.example.com: no request has succeeded for 24 hours or more.',
      'Postback Tracker: disabled, because no request had succeeded for 3 days.',
    ]);
  await expectGoodInBothColors(page, 'banner-1440');
  await banner.getByRole('link', { name: 'Webhook crm.example.com' }).click();
  await page.waitForURL(`**/webhooks/${webhook?.id}`);
  await website.fixture.sql('UPDATE delivery_endpoint SET failures = 0, failing_since = NULL WHERE id = $1', [
    webhook?.id,
  ]);
  await page.reload();
  await expect.poll(() => banner.getByRole('listitem').count()).toBe(1);
  await banner.getByRole('button', { name: 'Hide' }).click();
  await banner.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await banner.count()).toBe(0);

  await website.fixture.sql('UPDATE delivery_endpoint SET user_id = $2 WHERE user_id = $1', [
    publisher.userId,
    member.userId,
  ]);
  await page.reload();
  await expect
    .poll(() => banner.getByRole('listitem').allInnerTexts())
    .toEqual(['Postback theirs.example.com: no request has succeeded for 24 hours or more.']);
});

/** From a desktop to a desktop at 400 % zoom. */
const widths = [1440, 1024, 768, 390, 320] as const;

/** The texts that large text cuts off on a phone. The menu of the workspaces and the list of the select show all of them. */
const shownInLists = new Set(['span "Acme"', 'input "Off: a person approves leads"']);

/**
 * Opens a page once, and checks its look in both color schemes and densities. Checks its accessibility on a desktop in
 * light mode and on a phone in dark mode. Checks at each width, and with large text, that nothing is cut off.
 */
async function expectGoodWithOneLook(page: Page, { name, path, heading }: WebsitePage): Promise<void> {
  await page.goto(path);
  const title = { level: 1, includeHidden: true, ...(heading !== undefined && { name: heading }) };
  await page.getByRole('heading', title).first().waitFor();
  await expect.poll(() => page.locator('.mantine-Loader-root').count()).toBe(0);
  expect(await page.title()).toContain('Leads');
  for (const colorScheme of ['light', 'dark'] as const) {
    await setColorScheme(page, colorScheme);
    for (const density of ['compact', 'comfortable']) {
      await page.evaluate((value) => {
        document.documentElement.dataset['density'] = value;
      }, density);
      expect
        .soft([path, colorScheme, density, await lookOf(page)])
        .toEqual([path, colorScheme, density, oneLook]);
    }
  }
  expect.soft([path, await motionOf(page)]).toEqual([path, []]);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    // A page at another width can show its content in another order.
    await expect.poll(() => cutOffOf(page), { message: `${path} at ${width} px` }).toEqual([]);
    if (width === 390) {
      await expectGoodPage(page);
      await screenshot(page, `${name}-390-dark`);
    }
  }
  await page.setViewportSize({ width: 390, height: 900 });
  const setFontSize = (size: string) =>
    page.evaluate((fontSize) => void (document.documentElement.style.fontSize = fontSize), size);
  // Like the font size in the settings of a browser.
  await setFontSize('200%');
  const cutOff = async () => (await cutOffOf(page)).filter((text) => !shownInLists.has(text));
  await expect.poll(cutOff, { message: `${path} with text of 200 %` }).toEqual([]);
  await setFontSize('');
  await page.setViewportSize({ width: 1440, height: 900 });
  await setColorScheme(page, 'light');
  await expectGoodPage(page);
  await screenshot(page, `${name}-1440-light`);
}

describe('on a desktop and on a phone', () => {
  test('pages after sign-in have no accessibility violations, one look, no motion, and nothing is cut off at any width and with text of 200 %', async () => {
    const { page } = await website.openSignedIn({ workspace });
    const pages = await pagesAfterSignIn(website, workspace);
    expect(routesWithout([...pages, ...(await pagesBeforeSignIn(website, workspace))])).toEqual([]);
    for (const each of pages) await expectGoodWithOneLook(page, each);
    // An error of the download of the audit log is shown, and does not replace the page.
    await page.goto('/audit');
    await page.route('**/api/console/audit.csv', (route) => route.abort());
    const download = page.getByRole('button', { name: 'Download CSV' });
    await download.click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    await page.unroute('**/api/console/audit.csv');
    const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
    expect(file.suggestedFilename()).toMatch(/^audit-[-\d]{10}\.csv$/);
  });

  test('pages before sign-in have no accessibility violations, one look, no motion, and nothing is cut off at any width and with text of 200 %', async () => {
    const page = await website.openPage();
    for (const each of await pagesBeforeSignIn(website, workspace)) await expectGoodWithOneLook(page, each);
    await page.goto('/sign-up');
    await page.getByLabel('Your name').fill('www.example.com');
    await page.getByLabel('Email').fill('typing@example.com');
    await page.getByLabel('Password', { exact: false }).first().fill('correct horse battery');
    await page.getByRole('button', { name: 'Create an account' }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'Correct these entries' });
    await notice.getByText(/^Name .+\.$/).waitFor();
    expect(await page.getByText('Invalid input data').count()).toBe(0);
    const border = page.getByLabel('Email');
    expect(await border.evaluate((input) => getComputedStyle(input).borderColor)).toBe('rgb(134, 142, 150)');
  });

  test('error pages have no accessibility violations and offer a next step', async () => {
    const { page } = await website.openSignedIn({ workspace });
    expect((await page.goto('/Campaigns/'))?.url()).toMatch(/\/campaigns$/);
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    expect((await page.goto('/no/such/page'))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectGoodAtBothWidths(page, 'not-found');
    // The page is replaced while the next one still waits for the user of the session.
    const me = await hold(page, /console\/me/);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Page not found' }).waitFor({ state: 'detached' });
    me.release();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // For this page, the service is unavailable.
    await page.route('**/api/console/**', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await expectGoodAtBothWidths(page, 'unreachable');
    await page.unroute('**/api/console/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();

    await page.route('**/api/console/order/leads?*', (route) => route.abort());
    await page.goto('/leads');
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    expect(await page.getByText('0 leads').count()).toBe(0);
    await page.unroute('**/api/console/order/leads?*');
    await page.goto('/overview?range=unknown&zone=Nowhere');
    await page.getByRole('button', { name: 'Download as CSV' }).waitFor();
  });
});

test('an error without a text, such as that of a proxy over HTTP/2, is named by its status', async () => {
  const { page } = await website.openSignedIn({ workspace });
  await page.goto('/members');
  const session = await page.context().newCDPSession(page);
  // HTTP/2 has no reason phrases.
  session.on('Fetch.requestPaused', ({ requestId }) => {
    void session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: 502,
      responsePhrase: ' ',
      body: Buffer.from('<html></html>').toString('base64'),
    });
  });
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/console/workspace' }] });
  await page.getByRole('button', { name: 'Save' }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'The server has an error' });
  expect(await alert.innerText()).toContain('The server answered with status 502.');
});

test('a page of a proxy in place of an answer is not taken for an error of the website, and the action can be tried again', async () => {
  const { page } = await website.openSignedIn({ workspace });
  const foreign = page.getByText('This answer is not from the server');
  const answerWithPage = (path: RegExp) =>
    page.route(path, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
  await page.goto('/members');
  await answerWithPage(/\/console\/workspace$/);
  await page.getByRole('button', { name: 'Save' }).click();
  await foreign.waitFor();
  await answerWithPage(/\/console\/audit\b/);
  await page.goto('/audit');
  await foreign.waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await foreign.waitFor({ state: 'detached' });

  await answerWithPage(/\/order\/leads\/import/);
  await page.goto('/leads');
  await page.getByRole('columnheader').first().waitFor();
  await chooseImport(page, csvFile('name,phone,campaignCode\nImported Person,+44 20 7946 0958,DEMO\n'));
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await foreign.waitFor();
  await page.unrouteAll();
  await dialog.getByRole('button', { name: /again$/ }).click();
  const stored = page.getByRole('table', { name: 'Import report' }).getByRole('row', { name: 'Stored' });
  expect(await stored.innerText()).toContain('1');
});

test('a page is printed without the navigation, and nothing is cut off or covered', async () => {
  const { page } = await website.openSignedIn({ workspace, width: 794, height: 600 });
  const cutOff = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('main, main *')]
        // Texts for screen readers only are 1 px high.
        .filter((each) => each.clientHeight > 1 && each.scrollHeight > each.clientHeight + 1)
        .filter((each) => getComputedStyle(each).overflowY !== 'visible')
        .map((each) => each.className),
    );
  const [stored] = await website.fixture.sql<{ id: string }>(
    'SELECT id FROM lead WHERE workspace_id = $1 LIMIT 1',
    [workspace.id],
  );
  const lead = `/leads?lead=${stored?.id}`;
  for (const path of ['/overview', '/statements?range=90d', lead]) {
    await page.goto(path);
    await page
      .getByRole('heading', { level: path === lead ? 3 : 2 })
      .last()
      .waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('banner').isVisible()).toBe(false);
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await cutOff(), path).toEqual([]);
    await page.emulateMedia({ media: 'screen' });
  }
});

test('with reduced motion, no transition or animation runs while content loads, opens, changes and arrives', async () => {
  const { page, member } = await website.openSignedIn({ workspace });
  const expectNoMotion = async (state: string, selector: string) => {
    await page.locator(selector).filter({ visible: true }).first().waitFor();
    expect([state, await motionOf(page)]).toEqual([state, []]);
  };
  const chart = await hold(page, /\/steps-chart-/);
  await page.goto('/overview');
  await expectNoMotion('a skeleton', '.mantine-Skeleton-root');
  chart.release();

  const list = await hold(page, /\/order\/leads\?/);
  await page.goto('/leads');
  await expectNoMotion('the spinner of a page', 'main .mantine-Loader-root');
  list.release();
  await page.getByRole('row').nth(1).waitFor();
  const answer = await fetch(`${website.crm}/api/v1/order/leads`, {
    method: 'POST',
    headers: { ...member.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ campaignCode: 'DEMO', name: 'Ada Arrival', phone: '+442079460958' }),
  });
  expect(answer.status).toBe(200);
  await expectNoMotion('a row that arrives', '[role="row"][data-fresh]');

  await page.getByRole('button', { name: /^Your account/ }).click();
  await expectNoMotion('a menu', '[role="menu"]');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+K');
  await expectNoMotion('the palette', '[role="dialog"] [role="listbox"]');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New lead' }).click();
  await expectNoMotion('a dialog', '[role="dialog"] form');
  await page.getByRole('dialog').getByRole('combobox').first().click();
  await expectNoMotion('the options of a select', '[role="option"]');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  const change = await hold(page, /\/order\/leads\/status/);
  const row = page.getByRole('row').filter({ hasText: 'Ada Arrival' });
  await row.getByRole('link').click();
  await page.getByRole('dialog', { name: 'Lead' }).getByRole('button', { name: 'Mark as Approved' }).click();
  await expectNoMotion('the panel with a change in progress', '[class*="_spinner_"]');
  change.release();
  await expectNoMotion('a notification', '.mantine-Notification-root');

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/audit');
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await expectNoMotion('the navigation of a phone', 'nav a');
  const file = await hold(page, /audit\.csv/);
  await page.getByRole('button', { name: 'Close the navigation' }).click();
  await page.getByRole('button', { name: 'Download CSV' }).click();
  await expectNoMotion('the spinner of a button', 'button[data-loading]');
  const download = page.waitForEvent('download');
  file.release();
  await download;
  // The button has the focus again, although browsers take it from a disabled button.
  await expectFocusOn(page, 'Download CSV');
});

test('what is chosen and the colors of a chart stay visible with forced colors, such as those of Windows', async () => {
  const { page } = await website.openSignedIn({ workspace });
  await page.emulateMedia({ forcedColors: 'active' });
  // Without the opacity: the background of the other parts is transparent.
  const background = (part: Locator) =>
    part.evaluate((element) =>
      getComputedStyle(element).backgroundColor.match(/\d+/g)?.slice(0, 3).join(' '),
    );
  /** Checks that the first part has another background than the second. */
  const expectDistinct = async (chosen: Locator, other: Locator) => {
    const [first, second] = [await background(chosen), await background(other)];
    expect([await chosen.textContent(), first !== second]).toEqual([await chosen.textContent(), true]);
  };
  await page.goto('/overview');
  const navigation = page.getByRole('navigation');
  await expectDistinct(
    navigation.getByRole('link', { name: 'Overview' }),
    navigation.getByRole('link', { name: 'Leads' }),
  );
  const swatches = page.locator('.recharts-legend-wrapper .mantine-ColorSwatch-colorOverlay');
  await swatches.first().waitFor();
  const colors = await Promise.all((await swatches.all()).map(background));
  expect(new Set(colors).size).toBe(4);
  const range = page.getByRole('combobox', { name: 'Range' });
  await range.focus();
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: 'Today' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await expectDistinct(
    page.locator('[role="option"][data-combobox-selected]'),
    page.getByRole('option', { name: 'Today' }),
  );
  await page.keyboard.press('Escape');

  await page.goto('/developers?tab=usage');
  await expectDistinct(page.getByRole('tab', { name: 'Usage' }), page.getByRole('tab', { name: 'Examples' }));

  await page.goto('/leads?status=Approved');
  const statuses = page.getByRole('group', { name: 'Status' });
  await expectDistinct(
    statuses.getByRole('button', { name: 'Approved' }),
    statuses.getByRole('button', { name: 'Paid' }),
  );
  await page.emulateMedia({ forcedColors: 'none' });
});

test('texts in buttons are not cut off with the text spacing of WCAG 2.2, 1.4.12', async () => {
  const { page } = await website.openSignedIn({ workspace });
  for (const path of ['/overview', '/campaigns', '/integrations', '/developers?tab=examples', '/profile']) {
    await page.goto(path);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await page.addStyleTag({
      content: `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
        p { margin-bottom: 2em !important; }`,
    });
    const cutOff = () =>
      page.locator('button:visible').evaluateAll((buttons) =>
        buttons
          .filter((button) => {
            const range = document.createRange();
            const { top, bottom } = button.getBoundingClientRect();
            const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
            while (texts.nextNode() !== null) {
              range.selectNodeContents(texts.currentNode);
              const text = range.getBoundingClientRect();
              if (text.height > 1 && (text.top < top || text.bottom > bottom)) return true;
            }
            return false;
          })
          .map((button) => button.textContent),
      );
    expect([path, await cutOff()]).toEqual([path, []]);
  }
});

test('every relative time in the details of a list has its exact time beside it, because touch screens and keyboards show no title', async () => {
  const own = await website.fixture.createWorkspace();
  const { page, member } = await website.openSignedIn({ workspace: own });
  const lead = own.lead(member);
  await website.fixture.leads.insert([lead]);
  await website.fixture.sql(
    `INSERT INTO lead_change (lead_id, version, user_id, fields, created_at) VALUES ($1, 2, $2, '{"city":{}}', now())`,
    [lead.id, member.userId],
  );
  await website.fixture.sql(`UPDATE session SET updated_at = now() - interval '2 days' WHERE user_id = $1`, [
    member.userId,
  ]);
  await website.fixture.sql(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     VALUES (gen_random_uuid(), $1, 'guest@example.com', 'manager', $2, now() + interval '1 day')`,
    [own.id, member.userId],
  );
  await website.fixture.sql(
    `INSERT INTO audit_entry (id, workspace_id, at, action, source, details)
     VALUES (gen_random_uuid(), $1, now(), 'api_key.created', 'website', '{}')`,
    [own.id],
  );
  const names =
    'payments payment members webhook postback developers audit profile-credentials profile-sessions'.split(
      ' ',
    );
  const pages = (await pagesAfterSignIn(website, own)).filter(({ name }) => names.includes(name));
  expect(pages).toHaveLength(names.length);
  const withoutExact: string[] = [];
  for (const { name, path } of pages) {
    await page.goto(path);
    const times = page.locator('main li dd time');
    await times.first().waitFor();
    await expect.poll(() => page.locator('.mantine-Loader-root').count()).toBe(0);
    const found = await times.evaluateAll((all: HTMLTimeElement[]) =>
      all.map((time) => [time.title, time.closest('dd')?.textContent ?? ''] as const),
    );
    for (const [exact, text] of found) {
      expect(exact).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d$/);
      if (!text.includes(exact)) withoutExact.push(`${name}: ${text}`);
    }
  }
  expect(withoutExact).toEqual([]);
});
