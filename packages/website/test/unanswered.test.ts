import { randomUUID } from 'node:crypto';
import { addDemoLeads } from '@leads/local-stack/demo-leads';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Locator, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pagesAfterSignIn, pagesBeforeSignIn } from './all-pages.ts';
import { findViolations } from './axe.ts';
import { chooseItem } from './by-keyboard.ts';
import { addLeads, chooseImport, csvFile } from './leads-page.ts';
import { hold, openWebsite, type SignedInPage, waitForFrames, type Website } from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** What an action of a page has to show while the service does not answer. */
interface Action {
  readonly name: string;
  /** The method and the path of the request. */
  readonly request: string;
  /** Opens the page, and does everything before the last click. @returns what the last click needs. */
  readonly open: (opened: Opened) => Promise<Click>;
}
interface Opened extends SignedInPage {
  readonly leadId: string;
  /** The name of another member, a manager. */
  readonly colleague: string;
}
interface Click {
  /** Starts the action. */
  readonly start: () => Promise<unknown>;
  /** The element that is marked as pending. */
  readonly pending: Locator;
  /** The button that tries it again. The default is the pending button. */
  readonly retry?: Locator;
  /** What appears once the action is stored. */
  readonly done: Locator;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
/** The last one, because the banner above the page can have one, too. */
const tryAgain = (page: Page) => page.getByRole('alert').getByRole('button', { name: 'Try again' }).last();
const panelOf = (page: Page) => page.getByRole('dialog', { name: 'Lead', exact: true });
/** A form whose button is pending, and tries it again. */
const form = (submit: Locator, done: Locator): Click => ({
  start: () => submit.click(),
  pending: submit,
  done,
});

const actions: readonly Action[] = [
  {
    name: 'a note',
    request: 'POST /order/leads/*/notes',
    async open({ page, leadId }) {
      await page.goto(`/leads?lead=${leadId}`);
      await panelOf(page).getByLabel('New note').fill('Call after six');
      return form(
        button(page, 'Add the note'),
        panelOf(page).getByRole('list', { name: 'Notes' }).getByText('Call after six'),
      );
    },
  },
  {
    name: 'an assignee',
    request: 'PATCH /order/leads/*',
    async open({ page, leadId, member }) {
      await page.goto(`/leads?lead=${leadId}`);
      const select = panelOf(page).getByLabel('Assignee');
      await select.getByRole('option').nth(1).waitFor({ state: 'attached' });
      return {
        start: () => select.selectOption(member.userId),
        pending: select,
        retry: tryAgain(page),
        done: panelOf(page).getByText('Assignee: empty to'),
      };
    },
  },
  {
    name: 'a call-back',
    request: 'PATCH /order/leads/*',
    async open({ page, leadId }) {
      await page.goto(`/leads?lead=${leadId}`);
      await panelOf(page).getByLabel('Call-back').fill('2026-01-31T09:30');
      return form(button(page, 'Save the call-back'), button(page, 'Remove the call-back'));
    },
  },
  {
    name: 'an edit of a lead',
    request: 'PATCH /order/leads/*',
    async open({ page, leadId }) {
      await page.goto(`/leads?lead=${leadId}`);
      await panelOf(page).getByRole('button', { name: 'Edit', exact: true }).click();
      await panelOf(page).getByLabel('City').fill('London');
      return form(
        panelOf(page).getByRole('button', { name: 'Save', exact: true }),
        panelOf(page).getByText('City: empty to London'),
      );
    },
  },
  {
    name: 'an assignment of a selection',
    request: 'POST /order/leads/assignment',
    async open({ page, colleague }) {
      await page.goto('/leads');
      await page.getByLabel('Select all loaded leads').check();
      await page.getByRole('toolbar').getByRole('button', { name: 'Assign' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Assignee').selectOption({ label: colleague });
      return form(dialog.getByRole('button', { name: 'Assign' }), page.getByText(/leads assigned/));
    },
  },
  {
    name: 'a job for all leads that match',
    request: 'POST /jobs',
    async open({ page }) {
      await page.goto('/leads?status=OnHold');
      await page.getByLabel('Select all loaded leads').check();
      await page.getByRole('button', { name: /^Select all .* that match$/ }).click();
      await page.getByRole('toolbar').getByRole('button', { name: 'Mark as Approved' }).click();
      const submit = page.getByRole('dialog').getByRole('button', { name: 'Mark as Approved' });
      return form(submit, page.getByText(/leads marked as Approved/).last());
    },
  },
  {
    name: 'a saved view',
    request: 'POST /views',
    async open({ page }) {
      await page.goto('/leads?status=Approved');
      await page.getByRole('columnheader').first().waitFor();
      await chooseItem(page, 'Views', 'Save as a new view');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Approved ones');
      return form(dialog.getByRole('button', { name: 'Save' }), button(page, 'Views: Approved ones'));
    },
  },
  {
    name: 'an import',
    request: 'POST /order/leads/import',
    async open({ page }) {
      await page.goto('/leads');
      await page.getByRole('columnheader').first().waitFor();
      await chooseImport(page, csvFile('name,phone\nImported Person,+44 20 7946 0958\n'));
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('combobox', { name: 'Campaign for these leads' }).click();
      await page.getByRole('option', { name: 'DEMO' }).click();
      return {
        start: () => button(page, 'Import').click(),
        pending: dialog.getByRole('progressbar'),
        retry: dialog.getByRole('button', { name: /again$/ }),
        done: page.getByRole('table', { name: 'Import report' }),
      };
    },
  },
  {
    name: 'a new campaign',
    request: 'POST /campaigns',
    async open({ page }) {
      await page.goto('/campaigns');
      await button(page, 'New campaign').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Spring');
      await dialog.getByLabel('Code').fill('SPRING');
      return form(dialog.getByRole('button', { name: 'Create' }), page.getByText('SPRING', { exact: true }));
    },
  },
  {
    name: 'the mapping of a landing page',
    request: 'PATCH /landing-pages/*',
    async open({ page }) {
      await page.goto('/campaigns');
      const select = page.getByRole('combobox', { name: 'Campaign of spring-offer' });
      await select.click();
      return {
        start: () => page.getByRole('option', { name: 'DEMO' }).click(),
        pending: select,
        // Below, a list that could not be read again has the same button.
        retry: page
          .getByRole('region', { name: 'Campaigns', exact: true })
          .getByRole('button', { name: 'Try again' }),
        done: page.getByRole('list', { name: 'Mapped' }).getByText('spring-offer'),
      };
    },
  },
  {
    name: 'the role of a member',
    request: 'POST /auth/organization/update-member-role',
    async open({ page, colleague }) {
      await page.goto('/members');
      const select = page.getByRole('combobox', { name: `Role of ${colleague}` });
      await select.click();
      return {
        start: () => page.getByRole('option', { name: 'Publisher' }).click(),
        pending: select,
        retry: page.getByRole('region', { name: 'Members' }).getByRole('button', { name: 'Try again' }),
        done: page.locator(`input[aria-label="Role of ${colleague}"][value="Publisher"][aria-busy="false"]`),
      };
    },
  },
  {
    name: 'the removal of a member',
    request: 'POST /auth/organization/remove-member',
    async open({ page, colleague }) {
      await page.goto('/members');
      await button(page, `Remove ${colleague}`).click();
      return form(
        page.getByRole('dialog').getByRole('button', { name: 'Remove' }),
        page.locator(`main:not(:has-text("${colleague}"))`),
      );
    },
  },
  {
    name: 'an API key',
    request: 'POST /api-keys',
    async open({ page }) {
      await page.goto('/profile');
      await button(page, 'Create an API key').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Shop');
      return form(dialog.getByRole('button', { name: 'Create' }), page.getByLabel(/^Secret of /));
    },
  },
  {
    name: 'the name of the user',
    request: 'POST /auth/update-user',
    async open({ page }) {
      await page.goto('/profile?tab=account');
      await page.getByRole('textbox', { name: 'Your name' }).fill('Grace Hopper');
      return form(button(page, 'Save').first(), page.getByText('Saved').first());
    },
  },
  {
    name: 'a webhook',
    request: 'POST /webhooks',
    async open({ page }) {
      await page.goto('/integrations');
      await button(page, 'New webhook').click();
      const dialog = page.getByRole('dialog', { name: 'New webhook' });
      await dialog.getByLabel('URL').fill('https://hooks.example.com/leads');
      return form(dialog.getByRole('button', { name: 'Create' }), button(page, 'I have stored it'));
    },
  },
  {
    name: 'a status alias',
    request: 'PUT /status-aliases',
    async open({ page }) {
      await page.goto('/integrations');
      await button(page, 'New status alias').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Alias').fill('fake');
      return form(dialog.getByRole('button', { name: 'Create' }), button(page, 'Edit the status alias fake'));
    },
  },
  {
    name: 'a sign-out',
    request: 'POST /auth/sign-out',
    async open({ page }) {
      await page.goto('/overview');
      const menu = button(page, /^Your account/);
      await menu.click();
      return {
        start: () => page.getByRole('menuitem', { name: 'Sign out' }).click(),
        pending: menu,
        retry: tryAgain(page),
        done: page.getByRole('heading', { name: 'Sign in' }),
      };
    },
  },
];

test('each action that changes data is marked as pending, ends after 20 s, can be tried again, and is never sent later', async () => {
  const signedIn = await website.openSignedIn();
  const { page, workspace, member } = signedIn;
  const email = `${randomUUID()}@example.com`;
  const { userId } = await workspace.addMember('manager', { email });
  const colleague = 'Ada Colleague';
  await website.fixture.sql('UPDATE "user" SET name = $2 WHERE id = $1', [userId, colleague]);
  await website.fixture.landingPages.add([{ workspaceId: workspace.id, name: 'spring-offer' }]);
  const leads = Array.from({ length: 250 }, () => workspace.lead(member));
  await website.fixture.leads.insert(leads);
  const opened: Opened = { ...signedIn, leadId: leads[0]?.id ?? '', colleague };
  await page.clock.install();
  const banner = page.getByRole('alert').filter({ hasText: 'There is no connection to the server' });
  const isPending = (element: Locator) =>
    element.evaluate(
      (each) =>
        each.closest('[data-loading="true"], [aria-busy="true"]') !== null ||
        each.getAttribute('role') === 'progressbar',
    );

  for (const { name, request, open } of actions) {
    const [method, path = ''] = request.split(' ');
    const isOfAction = ({ pathname }: URL) =>
      new RegExp(`^/api(/console)?${path.replaceAll('*', '[^/]+')}$`).test(pathname);
    /** The number of requests that the action has sent. */
    let sent = 0;
    const count = (each: Request) => {
      if (each.method() === method && isOfAction(new URL(each.url()))) sent += 1;
    };
    page.on('request', count);
    await page.route(isOfAction, (route) =>
      route.request().method() === method ? undefined : route.fallback(),
    );
    const { start, pending, retry = pending, done } = await open(opened);

    await start();
    await expect.poll(() => sent, { message: name }).toBe(1);
    expect(await isPending(pending), name).toBe(true);
    await page.clock.fastForward(21_000);
    await page.getByText('The server did not answer within 20 seconds').first().waitFor();
    await retry.waitFor();

    await page.unroute(isOfAction);
    await page.context().setOffline(true);
    await banner.waitFor();
    await retry.click();
    await page.getByText('The server cannot be reached').first().waitFor();
    const tried = sent;
    await page.context().setOffline(false);
    await banner.waitFor({ state: 'detached' });
    // The requests that were due when the connection returned are sent before the response to this request.
    await page.clock.fastForward(10_000);
    await page.evaluate(() => fetch('/icon.svg').then(() => undefined));
    expect(sent, name).toBe(tried);

    await retry.click();
    await done.first().waitFor();
    expect(sent, name).toBe(tried + 1);
    page.off('request', count);
  }
});

describe('a form whose answer is lost', () => {
  /** Aborts the first POST request to a path after the service has handled it. */
  async function loseAnswer(page: Page, path: string): Promise<void> {
    let isLost = false;
    await page.route(
      ({ pathname }) => pathname === path,
      async (route) => {
        if (isLost || route.request().method() !== 'POST') return route.fallback();
        isLost = true;
        await route.fetch();
        return route.abort();
      },
    );
  }

  test('stores one lead when it is sent again, and another lead after a change', async () => {
    const { page, workspace } = await website.openSignedIn();
    const names = async () => {
      const leads = await website.fixture.sql<{ name: string }>(
        'SELECT name FROM lead WHERE workspace_id = $1 ORDER BY name',
        [workspace.id],
      );
      return leads.map(({ name }) => name);
    };
    await page.goto('/leads');
    for (const isChanged of [false, true]) {
      await loseAnswer(page, '/api/console/order/leads');
      await button(page, 'New lead').click();
      const dialog = page.getByRole('dialog', { name: 'New lead' });
      const name = isChanged ? 'Grace' : 'Ada';
      const nameField = dialog.getByRole('textbox', { name: 'Name', exact: true });
      await nameField.fill(name);
      await dialog.getByLabel('Phone').fill('+44 20 7946 0958');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.getByText('The server cannot be reached').waitFor();
      if (isChanged) await nameField.fill('Grace Hopper');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await names()).toEqual(isChanged ? ['Ada', 'Grace', 'Grace Hopper'] : ['Ada']);
    }
  });

  test('starts another job when it is sent again with another reason', async () => {
    const { page, workspace, member } = await website.openSignedIn();
    await website.fixture.leads.insert(Array.from({ length: 250 }, () => workspace.lead(member)));
    await page.goto('/leads?status=OnHold');
    await page.getByLabel('Select all loaded leads').check();
    await page.getByRole('button', { name: /^Select all .* that match$/ }).click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Mark as Trashed' }).click();
    await loseAnswer(page, '/api/console/jobs');
    const dialog = page.getByRole('dialog');
    for (const reason of ['Wrong number', 'Number is not in service']) {
      await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByRole('button', { name: 'Mark as Trashed' }).click();
      if (reason === 'Wrong number') await dialog.getByText('The server cannot be reached').waitFor();
    }
    await dialog.waitFor({ state: 'detached' });
    const jobs = await website.fixture.sql(
      'SELECT reason FROM lead_job WHERE workspace_id = $1 ORDER BY created_at',
      [workspace.id],
    );
    expect(jobs).toEqual([{ reason: 'Wrong number' }, { reason: 'Number is not in service' }]);
  });
});

/** Returns the requests of a page that have not ended. */
function runningRequests(page: Page): ReadonlySet<Request> {
  const running = new Set<Request>();
  page.on('request', (request) => running.add(request));
  page.on('requestfinished', (request) => running.delete(request));
  page.on('requestfailed', (request) => running.delete(request));
  return running;
}

test('a page keeps what it shows when it cannot load it again', async () => {
  const workspace = await website.fixture.createWorkspace();
  // Demo leads have the same ids on the same day, and other tests of this database add those of today, which may be
  // yesterday soon.
  await addDemoLeads(website.databaseUrl, workspace.slug, new Date(Date.now() - 3 * 86_400_000));
  const { page } = await website.openSignedIn({ workspace });
  const names = [
    'overview',
    'campaigns',
    'statements',
    'payment',
    'members',
    'webhook',
    'developers',
    'developers-usage',
    'developers-requests',
    'audit',
    'profile-credentials',
    'profile-sessions',
  ];
  const pages = (await pagesAfterSignIn(website, workspace)).filter(({ name }) => names.includes(name));
  expect(pages).toHaveLength(names.length);
  await page.clock.install();
  const banner = page.getByRole('alert').filter({ hasText: 'There is no connection to the server' });
  const main = page.getByRole('main');
  const running = runningRequests(page);
  for (const { name, path } of pages) {
    await page.goto(path);
    await page.waitForLoadState('networkidle');
    // Parts of a page load after others.
    await expect.poll(() => main.locator('.mantine-Loader-root').count()).toBe(0);
    await expect.poll(async () => linesOf(await main.innerText())).not.toContain('Loading');
    await page.context().setOffline(true);
    // Read when the page cannot load newer data any more. The names of leads, for example, replace their ids.
    await expect.poll(() => running.size).toBe(0);
    const before = linesOf(await main.innerText());
    const unreachable = page.getByText('The server cannot be reached');
    await expect
      .poll(async () => {
        // Again, if an answer that was already on its way ended the last request.
        await banner.getByRole('button', { name: 'Try again' }).click();
        // A failed request is repeated after 1 s and after 2 s.
        for (let i = 0; i < 50 && (await unreachable.count()) === 0; i++) await page.clock.fastForward(2_000);
        return unreachable.count();
      })
      .toBeGreaterThan(0);
    const after = linesOf(await main.innerText());
    expect(
      before.filter((line) => !after.includes(line)),
      name,
    ).toEqual([]);
    await page.context().setOffline(false);
    await banner.waitFor({ state: 'detached' });
  }
});

/** Adds a lead that has been changed, and its payment. @returns the paths of pages by name. */
async function pagesOfChangedLead(workspace: TestWorkspace): Promise<ReadonlyMap<string, string>> {
  const [lead = ''] = await addLeads(website, workspace, workspace.owner, 1);
  await website.fixture.sql(
    `INSERT INTO lead_change (lead_id, version, user_id, fields, created_at) VALUES ($1, 2, $2, '{"city":{}}', now())`,
    [lead, workspace.owner.userId],
  );
  return new Map((await pagesAfterSignIn(website, workspace)).map(({ name, path }) => [name, path]));
}

test('a part of a page that cannot be loaded again says so, and keeps what it shows', async () => {
  const workspace = await website.fixture.createWorkspace();
  const { page } = await website.openSignedIn({ workspace });
  const pages = new Map(await pagesOfChangedLead(workspace));
  for (const { name, path } of await pagesBeforeSignIn(website, workspace)) pages.set(name, path);
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const section = (name: string) =>
    page.locator('section', { has: page.getByRole('heading', { name }) }).last();
  await page.clock.install();
  const running = runningRequests(page);
  for (const [name, request, part] of [
    ['integrations', /\/webhooks$/, region('Webhooks')],
    ['integrations', /\/postbacks$/, region('Postbacks')],
    ['integrations', /\/status-aliases$/, region('Status aliases')],
    ['campaign', /\/campaign-figures$/, page.getByRole('main')],
    ['campaign', /\/landing-pages\?/, region('Landing pages')],
    ['campaign', /\/publishers$/, page.locator('div:has(> section[aria-label="Publishers"])')],
    ['campaign', /\/payouts$/, region('Payouts of publishers')],
    ['campaign', /\/webhooks$/, region('Integrations')],
    ['payments', /\/payments\?/, page.getByRole('main')],
    ['lead', /\/deliveries\?/, section('Deliveries')],
    ['lead', /\/history$/, section('History')],
    ['integration', /\/console\/integration\//, page.getByRole('main')],
    ['invitation', /\/console\/invitations\//, page.getByRole('main')],
  ] as const) {
    await page.goto(pages.get(name) ?? '');
    await part.waitFor();
    await expect.poll(() => part.locator('.mantine-Loader-root').count()).toBe(0);
    // A name can replace an id that the part shows.
    await expect.poll(() => running.size).toBe(0);
    const before = linesOf(await part.innerText());
    await page.route(request, (route) => route.fulfill({ status: 403, json: { detail: 'Not read again' } }));
    // The page reloads data of this age when the user returns to its tab.
    await page.clock.fastForward(6_000);
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await part.getByRole('alert').getByText('Not read again').waitFor();
    const after = linesOf(await part.innerText());
    expect(
      before.filter((line) => !after.includes(line)),
      `${name} ${request}`,
    ).toEqual([]);
    await page.unroute(request);
    await part.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => part.getByText('Not read again').count()).toBe(0);
  }
});

test('the page of a campaign does not say that it has no integrations while they cannot be loaded', async () => {
  const { page, workspace } = await website.openSignedIn();
  await page.route(/\/console\/webhooks$/, (route) => route.fulfill({ status: 403, json: {} }));
  await page.goto(`/campaigns/${workspace.demoCampaignId}`);
  const part = page.getByRole('region', { name: 'Integrations' });
  await part.getByRole('alert').waitFor();
  const none = part.getByText('No webhook or postback is limited to this campaign.');
  expect(await none.count()).toBe(0);
  await page.unroute(/\/console\/webhooks$/);
  await part.getByRole('button', { name: 'Try again' }).click();
  await none.waitFor();
});

test('leads can be assigned only after the members are loaded, and the user can load them again after a failure', async () => {
  const { page, workspace, member } = await website.openSignedIn();
  const [lead] = await addLeads(website, workspace, member, 1);
  await page.route(/\/console\/members$/, (route) => route.fulfill({ status: 403, json: {} }));
  await page.goto(`/leads?lead=${lead}`);
  await panelOf(page).getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
  await page.goto('/leads');
  await page.getByLabel('Select all loaded leads').check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Assign' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('alert').waitFor();
  const submit = dialog.getByRole('button', { name: 'Assign' });
  expect(await submit.count()).toBe(0);
  await page.unroute(/\/console\/members$/);
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByLabel('Assignee').selectOption(member.userId);
  await submit.click();
  await page.getByText('1 lead assigned').waitFor();
});

test('pages show the id of a user until the members are loaded, and only then say that one is a former member', async () => {
  const { page, workspace } = await website.openSignedIn();
  const pages = await pagesOfChangedLead(workspace);
  const { userId: former } = (await website.fixture.createWorkspace()).owner;
  await website.fixture.sql('UPDATE payment SET created_by_id = $1 WHERE workspace_id = $2', [
    former,
    workspace.id,
  ]);
  const main = page.getByRole('main');
  const shortId = (id: string) => `…${id.slice(-8)}`;
  for (const name of ['payments', 'payment']) {
    const members = await hold(page, /\/console\/members$/);
    await page.goto(pages.get(name) ?? '');
    await main.getByText(shortId(former), { exact: true }).waitFor();
    await main.getByText(shortId(workspace.owner.userId), { exact: true }).waitFor();
    expect(await main.getByText('Former member').count()).toBe(0);
    members.release();
    await main.getByText(`Former member ${shortId(former)}`).waitFor();
    expect(await main.getByText('Former member').count()).toBe(1);
    await page.unroute(/\/console\/members$/);
  }
});

test('the overview shows its figures, and says that what needs attention cannot be loaded', async () => {
  const { page, workspace } = await website.openSignedIn();
  await addLeads(website, workspace, workspace.owner, 1);
  await page.route(/\/console\/attention$/, (route) =>
    route.fulfill({ status: 403, json: { detail: 'Not read' } }),
  );
  await page.goto('/overview');
  const failure = page.getByRole('alert').filter({ hasText: 'Not read' });
  await failure.waitFor();
  await page.getByRole('region', { name: 'Totals' }).waitFor();
  await page.unroute(/\/console\/attention$/);
  await failure.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('1 lead is on hold.').waitFor();
  await expect.poll(() => failure.count()).toBe(0);
});

test('the page of campaigns shows them, and says that the landing pages cannot be loaded', async () => {
  const { page } = await website.openSignedIn();
  await page.route(/\/console\/landing-pages\?.*mapped=true/, (route) =>
    route.fulfill({ status: 403, json: { detail: 'Not read' } }),
  );
  await page.goto('/campaigns');
  await page.getByRole('region', { name: 'Landing pages' }).getByText('Not read').waitFor();
  await page
    .getByRole('region', { name: 'Campaigns', exact: true })
    .getByRole('link', { name: 'DEMO' })
    .waitFor();
  await waitForFrames(page);
  expect(await page.getByRole('region', { name: 'Landing pages' }).getByText('Not read').count()).toBe(1);
});

test('an invitation says that the user cannot be read, and opens when the user tries again', async () => {
  const { page, workspace } = await website.openSignedIn();
  const invitation = (await pagesBeforeSignIn(website, workspace)).find(({ name }) => name === 'invitation');
  await page.route('**/api/console/me', (route) => route.abort());
  await page.goto(invitation?.path ?? '');
  const failure = page.getByRole('alert').filter({ hasText: 'The server cannot be reached' });
  await failure.waitFor();
  await page.unroute('**/api/console/me');
  await failure.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: `Join ${workspace.slug}` }).waitFor();
  expect(await failure.count()).toBe(0);
});

describe('code that is not loaded', () => {
  const failureOf = (page: Page) =>
    page.getByRole('alert').filter({ hasText: 'A part of the page was not loaded' });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true });
  /** Opens the leads. @returns the number of times that the page has been loaded since then. */
  async function openLeads(page: Page): Promise<() => number> {
    await page.goto('/leads');
    await heading(page, 'Leads').waitFor();
    let loads = 0;
    page.on('load', () => (loads += 1));
    return () => loads;
  }

  test('leaves the page as it is without a connection, and is loaded when the connection returns', async () => {
    const { page } = await website.openSignedIn();
    const failure = failureOf(page);
    const loads = await openLeads(page);
    const banner = page.getByRole('alert').filter({ hasText: 'There is no connection to the server' });
    const loseConnection = async () => {
      await page.context().setOffline(true);
      await banner.waitFor();
    };
    await loseConnection();

    await button(page, 'New lead').click();
    await failure.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await failure.getByRole('button', { name: 'Close' }).click();
    await failure.waitFor({ state: 'detached' });
    await heading(page, 'Leads').waitFor();

    // The keys are for the page, not for the palette that is missing.
    await page.keyboard.press('Control+K');
    await failure.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Enter');
    await failure.waitFor({ state: 'detached' });

    await button(page, 'New lead').click();
    await failure.waitFor();
    await page.context().setOffline(false);
    await page.getByRole('dialog', { name: 'New lead' }).waitFor();
    await page.keyboard.press('Escape');

    await loseConnection();
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await failure.waitFor();
    await page.getByRole('link', { name: 'Leads', exact: true }).waitFor();
    await page.context().setOffline(false);
    await heading(page, 'Members').waitFor();
    expect(loads()).toBe(0);
  });

  test('reloads the page at the second attempt if the service has no such file', async () => {
    const { page } = await website.openSignedIn();
    const loads = await openLeads(page);
    const files = '**/assets/new-lead-dialog*';
    await page.route(files, (route) => route.fulfill({ status: 404 }));
    await button(page, 'New lead').click();
    await failureOf(page).waitFor();
    expect(loads()).toBe(0);
    await failureOf(page).getByRole('button', { name: 'Try again' }).click();
    await expect.poll(loads).toBe(1);
    await page.unroute(files);
    await button(page, 'New lead').click();
    await page.getByRole('dialog', { name: 'New lead' }).waitFor();
  });

  test('reloads the page that is opened once if the service has no such file', async () => {
    const { page } = await website.openSignedIn();
    const loads = await openLeads(page);
    const files = '**/assets/members-page*';
    await page.route(files, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await expect.poll(loads).toBe(1);
    await failureOf(page).waitFor();
    await page.unroute(files);
    await failureOf(page).getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Members').waitFor();
    expect(loads()).toBeLessThanOrEqual(2);
  });
});

/** The lines of a text without times, which change. */
const linesOf = (text: string) => text.split('\n').filter((line) => !/ ago|in \d/.test(line));
