import { addDemoLeads } from '@leads/local-stack/demo-leads';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectGoodInBothColors } from './page-checks.ts';
import { type Website, startWebsite } from './website.ts';

/* Checks every page on a desktop and on a phone, in light and in dark mode. */

let website: Website;
let workspace: TestWorkspace;
beforeAll(async () => {
  website = await startWebsite();
  workspace = await website.fixture.createWorkspace();
  await website.fixture.sql(`UPDATE workspace SET name = 'Acme' WHERE id = $1`, [workspace.id]);
  await addDemoLeads(website.databaseUrl, workspace.slug, new Date());
}, 400_000);
afterEach(() => website.closePages());
afterAll(() => website?.[Symbol.asyncDispose]());

describe.for([1440, 390])('at a width of %d pixels', (width) => {
  test('pages after sign-in have no accessibility violations and do not overflow', async () => {
    const { page } = await website.openSignedIn({ width, workspace });
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
      ['audit', '/audit', 'Audit log'],
      ['profile-credentials', '/profile', 'Profile'],
      ['profile-account', '/profile?tab=account', 'Profile'],
      ['profile-sessions', '/profile?tab=sessions', 'Profile'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { name: seen, level: 1, includeHidden: true }).waitFor();
      await expect.poll(() => page.locator('.mantine-Loader-root').count(), { timeout: 15_000 }).toBe(0);
      await expectGoodInBothColors(page, `${name}-${width}`);
      expect(await page.title()).toContain('Leads');
    }
  }, 240_000);

  test('pages before sign-in have no accessibility violations and do not overflow', async () => {
    const page = await website.openPage({ width });
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
      await expectGoodInBothColors(page, `${name}-${width}`);
    }
  }, 240_000);

  test('error pages have no accessibility violations and offer a next step', async () => {
    const { page } = await website.openSignedIn({ width, workspace });
    expect((await page.goto('/Campaigns/'))?.url()).toMatch(/\/campaigns$/);
    await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
    expect((await page.goto('/no/such/page'))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await expectGoodInBothColors(page, `not-found-${width}`);
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // For this page, the service is unavailable.
    await page.route('**/api/console/**', (route) => route.abort());
    await page.reload();
    await page.getByRole('alert').getByText('The server cannot be reached').waitFor();
    await expectGoodInBothColors(page, `unreachable-${width}`);
    await page.unroute('**/api/console/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });
});
