import { randomUUID } from 'node:crypto';
import { addDemoLeads } from '@leads/local-stack/demo-leads';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectGoodAtBothWidths, expectGoodInBothColors, lookOf, oneLook } from './page-checks.ts';
import { type Website, openWebsite } from './website.ts';

/* Checks every page on a desktop and on a phone, in light and in dark mode. */

let website: Website;
let workspace: TestWorkspace;
beforeAll(async () => {
  website = await openWebsite();
  workspace = await website.fixture.createWorkspace();
  await website.fixture.sql(`UPDATE workspace SET name = 'Acme' WHERE id = $1`, [workspace.id]);
  await addDemoLeads(website.databaseUrl, workspace.slug, new Date());
}, 400_000);
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

describe('on a desktop and on a phone', () => {
  test('pages after sign-in have no accessibility violations and do not overflow', async () => {
    const { page } = await website.openSignedIn({ workspace });
    const [lead] = await website.fixture.sql<{ id: string }>(
      `SELECT lead.id FROM lead JOIN lead_change ON lead_id = lead.id WHERE workspace_id = $1 LIMIT 1`,
      [workspace.id],
    );
    for (const [name, path, seen] of [
      ['overview', '/overview', 'Overview'],
      ['leads', '/leads', 'Leads'],
      ['lead', `/leads?lead=${lead?.id}`, 'Leads'],
      ['campaigns', '/campaigns', 'Campaigns'],
      ['members', '/members', 'Members'],
      ['integrations', '/integrations', 'Integrations'],
      ['developers', '/developers', 'Developers'],
      ['developers-examples', '/developers?tab=examples', 'Developers'],
      ['audit', '/audit', 'Audit log'],
      ['profile-credentials', '/profile', 'Profile'],
      ['profile-account', '/profile?tab=account', 'Profile'],
      ['profile-sessions', '/profile?tab=sessions', 'Profile'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { name: seen, level: 1, includeHidden: true }).waitFor();
      await expect.poll(() => page.locator('.mantine-Loader-root').count(), { timeout: 15_000 }).toBe(0);
      await expectGoodAtBothWidths(page, name);
      expect([path, await lookOf(page)]).toEqual([path, oneLook]);
      expect(await page.title()).toContain('Leads');
    }
    // An error of the download of the audit log is shown, and does not replace the page.
    await page.goto('/audit');
    await page.route('**/api/console/audit.csv', (route) => route.abort());
    const download = page.getByRole('button', { name: 'Download CSV' });
    await download.click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    await page.unroute('**/api/console/audit.csv');
    const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
    expect(file.suggestedFilename()).toMatch(/^audit-[-\d]{10}\.csv$/);
  }, 240_000);

  test('pages before sign-in have no accessibility violations and do not overflow', async () => {
    const page = await website.openPage();
    const token = 'x'.repeat(43);
    await website.fixture.sql('UPDATE campaign SET integration_token = NULL WHERE integration_token = $1', [
      token,
    ]);
    await website.fixture.sql('UPDATE campaign SET integration_token = $1 WHERE id = $2', [
      token,
      workspace.demoCampaignId,
    ]);
    const [invitation] = await website.fixture.sql<{ id: string }>(
      `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
       VALUES (gen_random_uuid(), $1, 'guest@example.com', 'manager', $2, now() + interval '1 day') RETURNING id`,
      [workspace.id, workspace.owner.userId],
    );
    for (const [name, path] of [
      ['sign-in', '/sign-in'],
      ['sign-up', '/sign-up'],
      ['forgot-password', '/forgot-password'],
      ['reset-password', '/reset-password?token=x'],
      ['verify-email', '/verify-email?token=x'],
      ['invitation', `/invitations/${invitation?.id}`],
      ['integration', `/integration/${token}`],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect.poll(() => page.locator('.mantine-Loader-root').count(), { timeout: 15_000 }).toBe(0);
      await expectGoodAtBothWidths(page, name);
    }
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
  }, 240_000);

  test('error pages have no accessibility violations and offer a next step', async () => {
    const { page } = await website.openSignedIn({ workspace });
    expect((await page.goto('/Campaigns/'))?.url()).toMatch(/\/campaigns$/);
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    expect((await page.goto('/no/such/page'))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectGoodAtBothWidths(page, 'not-found');
    await page.getByRole('link', { name: 'Go to the overview' }).click();
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
