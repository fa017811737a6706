import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectFocusOn } from './by-keyboard.ts';
import { addLeads, changeAs, grid, rowOf, waitForPolls } from './leads-page.ts';
import { type Website, screenshot, openWebsite } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe('the list of due call-backs', () => {
  test('shows a call-back when its time comes, and loses one whose time is moved', async () => {
    const { page, workspace, member } = await website.openSignedIn({ role: 'manager' });
    const [due = '', later = ''] = await addLeads(website, workspace, member, 2);
    // As when its time comes, the lead does not change.
    const setCallback = (id: string, hours: number) =>
      website.fixture.sql('UPDATE lead SET callback_at = now() + make_interval(hours => $2) WHERE id = $1', [
        id,
        hours,
      ]);
    await setCallback(due, -1);
    await setCallback(later, 1);
    await page.clock.install();
    await page.goto('/leads?callbackDue=true');
    await rowOf(page, 'Person 0000').waitFor();
    await page.getByText('1 lead', { exact: true }).waitFor();
    await setCallback(later, -2);
    // One step of the clock only, because the next one would also end the time limit of a request in progress.
    const reloaded = page.waitForResponse(/\/order\/leads\?.*callbackDue=true/);
    await page.clock.fastForward(30_000);
    await (await reloaded).finished();
    await expect.poll(() => rowOf(page, 'Person 0001').count()).toBe(1);
    await page.getByText('2 leads', { exact: true }).waitFor();

    await rowOf(page, 'Person 0000').getByRole('link').click();
    const callback = page.getByRole('dialog', { name: 'Lead', exact: true }).getByLabel('Call-back');
    await callback.fill('2999-01-05T10:00');
    await callback.press('Enter');
    await rowOf(page, 'Person 0000').waitFor({ state: 'detached' });
    await page.getByText('1 lead', { exact: true }).waitFor();
  });
});

describe('new leads', () => {
  test('of both services appear at once, but wait for a click if the list is scrolled', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const [id = ''] = await addLeads(website, workspace, member, 300);
    await page.goto('/leads');
    await page.getByText('300 leads').waitFor();
    const create = async (name: string) => {
      const answer = await fetch(`${website.crm}/api/v1/order/leads`, {
        method: 'POST',
        headers: { ...member.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ campaignCode: 'DEMO', name, phone: '+442079460958' }),
      });
      expect(answer.status).toBe(200);
    };
    const submit = async (name: string) => {
      const answer = await fetch(`${website.intake}/api/v1/leads`, {
        method: 'POST',
        headers: { API_KEY: member.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ name, phone: '+442079460958' }),
      });
      expect(answer.status).toBe(200);
    };
    await create('From the CRM');
    await submit('From a landing page');
    await waitForPolls(page);
    await rowOf(page, 'From the CRM').waitFor();
    await rowOf(page, 'From a landing page').waitFor();
    await page.getByText('302 leads').waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: '2 leads have arrived since the page was opened' })
      .waitFor({ state: 'attached' });

    const heads = await page.getByRole('columnheader', { name: 'Phone' }).boundingBox();
    await grid(page).hover();
    await page.mouse.wheel(0, 900);
    const seen = rowOf(page, 'Person 0030');
    await seen.waitFor();
    expect(await page.getByRole('columnheader', { name: 'Phone' }).boundingBox()).toEqual(heads);
    const before = await seen.boundingBox();
    await submit('While scrolled');
    await waitForPolls(page);
    await page.getByRole('button', { name: '1 new lead' }).waitFor();
    expect(await seen.boundingBox()).toEqual(before);
    await screenshot(page, 'leads-pill');
    await grid(page).focus();
    await page.keyboard.press('Shift+Tab');
    await expectFocusOn(page, '1 new lead');
    await page.keyboard.press('Enter');
    await rowOf(page, 'While scrolled').waitFor();
    expect(await grid(page).evaluate((element) => element.scrollTop)).toBe(0);
    await expectFocusOn(page, 'Leads');

    // A change by another user updates the row in place.
    await changeAs(website, workspace.owner, id, { status: 'Approved', name: 'Changed elsewhere' });
    await waitForPolls(page);
    await rowOf(page, 'Changed elsewhere').getByText('Approved').waitFor();
    expect(await rowOf(page, 'Person 0000').count()).toBe(0);
  });

  test('are announced, and changes of leads that are not loaded are not', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    const ids = await addLeads(website, workspace, member, 300);
    await page.goto('/leads');
    await page.getByText('300 leads').waitFor();
    await changeAs(website, workspace.owner, ids.at(-1) ?? '', { name: 'Changed elsewhere' });
    await waitForPolls(page);
    const announced = page.getByRole('status').filter({ hasText: 'arrived since the page was opened' });
    expect(await announced.allTextContents()).toEqual([]);
    await website.fixture.leads.insert([workspace.lead(member, { name: 'New lead' })]);
    await waitForPolls(page);
    await expect
      .poll(() => announced.allTextContents())
      .toEqual(['1 lead has arrived since the page was opened']);
  });

  test('are requested less and less often while the service is unavailable', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await addLeads(website, workspace, member, 1);
    await page.clock.install();
    await page.goto('/leads');
    await rowOf(page, 'Person 0000').waitFor();
    /** The times of the requests by the page's clock, which also advances by itself. */
    const requestedAt: number[] = [];
    await page.route('**/api/console/order/leads?*updatedSince*', async (route) => {
      requestedAt.push(await page.evaluate(() => Date.now()));
      await route.abort();
    });
    const advance = async (ms: number) => {
      await page.clock.fastForward(ms);
      // Requests that are due are sent before the response to this request.
      await page.evaluate(() => fetch('/icon.svg').then(() => undefined));
    };
    for (let times = 0; requestedAt.length < 4; times++) {
      expect(times).toBeLessThan(200);
      await advance(250);
    }
    const gaps = requestedAt.slice(1).map((at, index) => at - (requestedAt[index] ?? 0));
    expect(gaps[0]).toBeGreaterThan(2_500);
    expect(gaps[1]).toBeGreaterThan(5_500);
    expect(gaps[2]).toBeGreaterThan(11_500);
    await page.getByText('New leads cannot be fetched').waitFor();

    // A hidden page sends no requests. It sends one as soon as it is visible again.
    const setHidden = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await setHidden(true);
    await advance(120_000);
    expect(requestedAt).toHaveLength(4);
    await setHidden(false);
    await expect.poll(() => requestedAt).toHaveLength(5);
    await page.unroute('**/api/console/order/leads?*updatedSince*');
  });
});
