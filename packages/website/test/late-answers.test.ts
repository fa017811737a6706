import { totp } from '@leads/test-kit/totp';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addLeads } from './leads-page.ts';
import {
  hold,
  openWebsite,
  password,
  type SignedInPage,
  storePayment,
  waitForFrames,
  type Website,
} from './website.ts';

let website: Website;
beforeAll(async () => {
  website = await openWebsite();
});
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

/** A dialog or a form whose request is answered after the user has closed and opened it again. */
interface Form {
  readonly name: string;
  /** The path of the request. */
  readonly request: RegExp;
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  /** Opens the page. */
  readonly visit: (signedIn: SignedInPage) => Promise<unknown>;
  /** The label of the button that opens the form, and of the one that sends it. */
  readonly buttons: readonly [open: string, submit: string];
  readonly part: (page: Page) => Locator;
  /** The label of a field. */
  readonly field: string;
  readonly fill: (part: Locator, text: string) => Promise<unknown>;
  /** What appears after the answer. */
  readonly done: (page: Page) => Locator;
}

const dialog = (title: string | RegExp) => (page: Page) => page.getByRole('dialog', { name: title });
const fillIn = (...labels: string[]) =>
  async function fill(part: Locator, text: string) {
    for (const label of labels) await part.getByLabel(label).first().fill(text);
  };
const withPassword = (part: Locator) => part.getByLabel('Current password').first().fill(password);

const forms: readonly Form[] = [
  {
    name: 'a new campaign',
    request: /\/console\/campaigns$/,
    visit: ({ page }) => page.goto('/campaigns'),
    buttons: ['New campaign', 'Create'],
    part: dialog('New campaign'),
    field: 'Name',
    fill: fillIn('Name', 'Code'),
    done: (page) => page.getByRole('link', { name: 'first', exact: true }),
  },
  {
    name: 'a landing page',
    request: /\/console\/landing-pages$/,
    visit: ({ page }) => page.goto('/campaigns'),
    buttons: ['Register a landing page', 'Create'],
    part: dialog('Register a landing page'),
    field: 'Name (lp_name)',
    fill: fillIn('Name (lp_name)'),
    done: (page) => page.getByRole('combobox', { name: 'Campaign of first' }),
  },
  {
    name: 'an API key',
    request: /\/console\/api-keys$/,
    visit: ({ page }) => page.goto('/profile'),
    buttons: ['Create an API key', 'Create'],
    part: dialog('Create an API key'),
    field: 'Name',
    fill: fillIn('Name'),
    done: (page) => page.getByLabel('Secret of first'),
  },
  {
    name: 'an access token',
    request: /\/console\/access-tokens$/,
    visit: ({ page }) => page.goto('/profile'),
    buttons: ['Create an access token', 'Create'],
    part: dialog('Create an access token'),
    field: 'Name',
    fill: fillIn('Name'),
    done: (page) => page.getByLabel('Secret of first'),
  },
  {
    name: 'a key for the examples',
    request: /\/console\/api-keys$/,
    async visit({ page, member }) {
      await website.fixture.sql('UPDATE api_key SET revoked_at = now() WHERE user_id = $1', [member.userId]);
      await page.goto('/developers?tab=examples');
    },
    buttons: ['Create a key', 'Create'],
    part: dialog('Create an API key'),
    field: 'Name',
    fill: fillIn('Name'),
    done: (page) => page.getByLabel('Secret of first'),
  },
  {
    name: 'a webhook',
    request: /\/console\/webhooks$/,
    visit: ({ page }) => page.goto('/integrations'),
    buttons: ['New webhook', 'Create'],
    part: dialog(/^New webhook$/),
    field: 'URL',
    fill: (part, text) => part.getByLabel('URL').fill(`https://hooks.example.com/${text}`),
    done: (page) => page.getByRole('link', { name: 'https://hooks.example.com/first' }),
  },
  {
    name: 'a postback',
    request: /\/console\/postbacks$/,
    visit: ({ page }) => page.goto('/integrations'),
    buttons: ['New postback', 'Create'],
    part: dialog('New postback'),
    field: 'URL',
    fill: (part, text) => part.getByLabel('URL').fill(`https://track.example.com/${text}?s={s1}`),
    done: (page) => page.getByRole('link', { name: 'https://track.example.com/first?s={s1}' }),
  },
  {
    name: 'a status alias',
    request: /\/console\/status-aliases$/,
    method: 'PUT',
    visit: ({ page }) => page.goto('/integrations'),
    buttons: ['New status alias', 'Create'],
    part: dialog('New status alias'),
    field: 'Alias',
    fill: fillIn('Alias'),
    done: (page) => page.getByRole('button', { name: 'Edit the status alias first' }),
  },
  {
    name: 'a new lead',
    request: /\/console\/order\/leads$/,
    visit: ({ page }) => page.goto('/leads'),
    buttons: ['New lead', 'Create'],
    part: dialog('New lead'),
    field: 'City',
    async fill(part, text) {
      await part.getByLabel('Name').fill('Ada Lovelace');
      await part.getByLabel('Phone').fill('+442079460958');
      await part.getByLabel('City').fill(text);
    },
    done: (page) => page.getByRole('alert').filter({ hasText: 'Lead created' }),
  },
  {
    name: 'the payout of a lead',
    request: /\/console\/order\/leads\/[^/]+$/,
    method: 'PATCH',
    async visit({ page, workspace, member }) {
      const [id] = await addLeads(website, workspace, member, 1);
      await page.goto(`/leads?lead=${id}`);
    },
    buttons: ['Set the payout', 'Set the payout'],
    part: (page) =>
      page.getByRole('dialog', { name: 'Lead', exact: true }).locator('form:has-text("Reason")'),
    field: 'Reason',
    async fill(part, text) {
      await part.getByLabel('Amount').fill('5');
      await part.getByLabel('Reason').fill(text);
    },
    done: (page) => page.getByText('€5.00 expected'),
  },
  {
    name: 'an assignment',
    request: /\/console\/order\/leads\/assignment$/,
    async visit({ page, workspace, member }) {
      await addLeads(website, workspace, member, 1);
      await page.goto('/leads');
      await page.getByLabel('Select all loaded leads').check();
    },
    buttons: ['Assign', 'Assign'],
    part: dialog(/^Assign 1 lead/),
    field: 'Assignee',
    fill: (part, text) => part.getByLabel('Assignee').selectOption({ index: text === 'first' ? 1 : 2 }),
    done: (page) => page.getByRole('alert').filter({ hasText: '1 lead assigned' }),
  },
  {
    name: 'a change of all leads that match',
    request: /\/console\/jobs$/,
    async visit({ page, workspace, member }) {
      await addLeads(website, workspace, member, 201);
      await page.goto('/leads?status=OnHold');
      await page.getByLabel('Select all loaded leads').check();
      await page.getByRole('button', { name: 'Select all 201 leads that match' }).click();
    },
    buttons: ['Mark as Trashed', 'Mark as Trashed'],
    part: dialog(/^Mark all/),
    field: 'Reason',
    fill: fillIn('Reason'),
    done: (page) => page.getByText('201 leads marked as Trashed').last(),
  },
  {
    name: 'the cancellation of a payment',
    request: /\/console\/payments\/[^/]+\/cancel$/,
    async visit({ page, workspace, member }) {
      const id = await storePayment(website, { workspace, member });
      await page.goto(`/payments/${id}`);
    },
    buttons: ['Cancel payment', 'Cancel payment'],
    part: dialog('Cancel payment 1?'),
    field: 'Reason',
    fill: fillIn('Reason'),
    done: (page) => page.getByText('first', { exact: true }),
  },
  {
    name: 'the end of the second factor',
    request: /\/two-factor\/disable$/,
    async visit({ page }) {
      await page.goto('/profile?tab=account');
      await page.getByRole('button', { name: 'Turn on' }).click();
      const enable = page.getByRole('dialog');
      await withPassword(enable);
      await page.keyboard.press('Enter');
      await enable.getByLabel('Current code of the app').fill(totp(await enable.locator('pre').innerText()));
      await page.keyboard.press('Enter');
      await enable.waitFor({ state: 'detached' });
    },
    buttons: ['Turn off', 'Turn off'],
    part: dialog('Turn off two-factor authentication?'),
    field: 'Current password',
    fill: withPassword,
    done: (page) => page.getByText('Off. Signing in needs your password only'),
  },
];

test.each(forms)(
  'a form that is opened again before the answer to its first request keeps its input: $name',
  async ({ request, method = 'POST', visit, buttons: [open, submit], part: partOf, field, fill, done }) => {
    const signedIn = await website.openSignedIn();
    const { page } = signedIn;
    await visit(signedIn);
    const answer = await hold(page, request, method);
    const part = partOf(page);
    const openForm = async (text: string) => {
      await page.getByRole('button', { name: open, exact: true }).first().click();
      await part.waitFor();
      await fill(part, text);
    };
    await openForm('first');
    await part.getByRole('button', { name: submit, exact: true }).click();
    await part.locator('button[data-loading]').waitFor();
    const dismiss = part.getByRole('button', { name: /^Cancel$|^Keep/ });
    await dismiss.click();
    await part.waitFor({ state: 'detached' });
    await openForm('next');
    const input = part.getByLabel(field).first();
    const entered = await input.inputValue();
    answer.release();
    await done(page).waitFor();
    await waitForFrames(page);
    expect(await part.count()).toBe(1);
    expect(await input.inputValue()).toBe(entered);
  },
);

test('a late answer to a question for the password leaves the next question open, so that its action does not wait forever', async () => {
  const { page, member } = await website.openSignedIn();
  await website.fixture.sql(
    `UPDATE session SET created_at = now() - interval '11 minutes' WHERE user_id = $1`,
    [member.userId],
  );
  await page.goto('/profile');
  const answer = await hold(page, /\/confirm-password$/);
  await page.getByRole('button', { name: 'Create an API key' }).click();
  const form = page.getByRole('dialog', { name: 'Create an API key' });
  await form.getByLabel('Name').fill('After a break');
  const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await form.getByRole('button', { name: 'Create' }).click();
  await withPassword(question);
  await question.getByRole('button', { name: 'Confirm' }).click();
  await question.locator('button[data-loading]').waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  const asked = page.waitForResponse(/\/console\/api-keys$/);
  await form.getByRole('button', { name: 'Create' }).click();
  await asked;
  await withPassword(question);
  const confirmed = page.waitForResponse(/\/confirm-password$/);
  answer.release();
  await (await confirmed).finished();
  await waitForFrames(page);
  expect(await question.count()).toBe(1);
  await question.getByRole('button', { name: 'Confirm' }).click();
  await page.getByLabel('Secret of After a break').waitFor();
});

test('a secret that arrives while another one is shown is shown after it, so that none is lost', async () => {
  const { page } = await website.openSignedIn();
  /** Creates one of two secrets whose answer comes last, and then the other one. */
  const createBoth = async (title: RegExp, request: RegExp, fill: Form['fill'], secondTitle = title) => {
    const first = await hold(page, request, 'POST');
    const create = async (each: RegExp, name: string) => {
      await page.getByRole('button', { name: each }).first().click();
      const form = page.getByRole('dialog', { name: each });
      await fill(form, name);
      await form.getByRole('button', { name: 'Create' }).click();
      return form;
    };
    const closed = await create(title, 'first');
    await closed.locator('button[data-loading]').waitFor();
    await page.keyboard.press('Escape');
    await closed.waitFor({ state: 'detached' });
    await page.route(request, (route) => route.continue());
    await create(secondTitle, 'second');
    await page.getByLabel(/^Secret of .*second/).waitFor();
    const answer = page.waitForResponse(
      (each) => request.test(each.url()) && each.request().method() === 'POST',
    );
    first.release();
    await (await answer).finished();
    await waitForFrames(page);
    expect(await page.getByLabel(/^Secret of /).getAttribute('aria-label')).toMatch(/second/);
    for (const name of ['second', 'first']) {
      await page.getByLabel(new RegExp(`^Secret of .*${name}`)).waitFor();
      await page.getByRole('button', { name: 'I have stored it' }).click();
    }
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  await page.goto('/profile');
  await createBoth(/^Create an API key$/, /\/console\/api-keys$/, fillIn('Name'), /^Create an access token$/);
  await page.goto('/integrations');
  await createBoth(/^New webhook$/, /\/console\/webhooks$/, (part, text) =>
    part.getByLabel('URL').fill(`https://hooks.example.com/${text}`),
  );
});

test('the secret of a rotation is shown before the list has loaded again, and the focus returns to the rotated entry', async () => {
  const { page } = await website.openSignedIn();
  /** Rotates a secret while the answers to later requests for the list are held. */
  const rotate = async (list: RegExp, button: RegExp, confirm: string, focused: () => Locator) => {
    await page.getByRole('button', { name: button }).click();
    const { release } = await hold(page, list, 'GET');
    const answer = page.waitForResponse((each) => each.request().method() === 'POST');
    await page.getByRole('dialog').getByRole('button', { name: confirm }).click();
    await (await answer).finished();
    await waitForFrames(page);
    expect(await page.getByLabel(/^Secret of /).count()).toBe(1);
    release();
    await focused().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused().evaluate((element) => element === document.activeElement)).toBe(true);
  };
  await page.goto('/profile');
  await rotate(/\/console\/api-keys$/, /^Rotate Test key/, 'Create the new key', () =>
    page.getByRole('listitem').filter({ hasText: 'Being replaced by Test key' }),
  );
  await page.goto('/integrations');
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('URL').fill('https://hooks.example.com/rotated');
  await form.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'https://hooks.example.com/rotated' }).first().click();
  const button = page.getByRole('button', { name: 'Rotate the secret' });
  await rotate(/\/console\/webhooks/, /^Rotate the secret$/, 'Rotate the secret', () => button);
});

test('the secret of a new webhook is shown before the list has loaded again', async () => {
  const { page } = await website.openSignedIn();
  await page.goto('/integrations');
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  const { release } = await hold(page, /\/console\/webhooks$/, 'GET');
  await page.getByRole('dialog').getByLabel('URL').fill('https://hooks.example.com/slow');
  const answer = page.waitForResponse((each) => each.request().method() === 'POST');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await (await answer).finished();
  await waitForFrames(page);
  expect(await page.getByLabel(/^Secret of /).count()).toBe(1);
  release();
});
