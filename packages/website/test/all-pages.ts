import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Website } from './website.ts';

export interface WebsitePage {
  /** The name of its screenshots. */
  readonly name: string;
  /** The address, in the workspace if a user must be signed in. */
  readonly path: string;
  /** The heading of the page. Absent if it depends on the data. */
  readonly heading?: string;
}

/** The pages and tabs after sign-in, with the data of a workspace on each of them. */
export async function pagesAfterSignIn(
  { fixture }: Website,
  workspace: TestWorkspace,
): Promise<readonly WebsitePage[]> {
  const { id: workspaceId, owner, demoCampaignId } = workspace;
  const idOf = async (query: string) =>
    (await fixture.sql<{ id: string }>(query, [workspaceId]))[0]?.id ?? '';
  const lead = await idOf(
    'SELECT lead.id FROM lead JOIN lead_change ON lead_id = lead.id WHERE workspace_id = $1 LIMIT 1',
  );
  const [webhook, postback] = await Promise.all(
    ['webhook', 'postback'].map((kind) =>
      idOf(
        `INSERT INTO delivery_endpoint (id, workspace_id, kind, method, secret, url, event_types, statuses, campaign_ids)
         VALUES (gen_random_uuid(), $1, '${kind}', ${kind === 'webhook' ? `NULL, 'x'` : `'GET', NULL`},
           'https://hooks.example.com/${kind}', '{lead.created}', '{Approved}', '{}') RETURNING id`,
      ),
    ),
  );
  for (const endpoint of [webhook, postback]) {
    await fixture.sql(
      `INSERT INTO delivery (id, workspace_id, endpoint_id, type, lead_id, version, state, attempts, last_attempt_at,
         duration_ms, status_code, answer)
       SELECT gen_random_uuid(), $1, $2, 'lead.created', $3, n, CASE n WHEN 1 THEN 'failed' ELSE 'delivered' END, n,
         now(), 40, CASE n WHEN 1 THEN 503 ELSE 200 END, 'Service unavailable' FROM generate_series(1, 2) n`,
      [workspaceId, endpoint, lead],
    );
  }
  const payment = randomUUID();
  await fixture.sql(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, note,
       state, total, leads, amount)
     VALUES ($1, $2, 1, $3, $3, now() - interval '30 days', now(), 'EUR', now(), 'Invoice 4711', 'paid', 1, 1, 12.5)`,
    [payment, workspaceId, owner.userId],
  );
  await fixture.sql(
    `INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount, state, version)
     VALUES ($1, $2, $3, 12.5, 'paid', 2)`,
    [payment, lead, workspaceId],
  );
  await fixture.sql(
    `INSERT INTO api_request (api_key_id, at, id, workspace_id, service, method, route, status, code, duration_ms)
     SELECT $1, now() - n * interval '1 second', gen_random_uuid(), $2, 'intake', 'POST', '/api/v1/leads',
       CASE n WHEN 1 THEN 400 ELSE 200 END, CASE n WHEN 1 THEN 'invalid_input' END, 2 FROM generate_series(1, 3) n`,
    [owner.apiKeyId, workspaceId],
  );
  await fixture.sql(
    `INSERT INTO api_usage (api_key_id, day, workspace_id, success, client_errors, server_errors, unlisted)
     VALUES ($1, current_date, $2, 2, 1, 0, 0)`,
    [owner.apiKeyId, workspaceId],
  );
  const key = `key=${owner.apiKeyId}`;
  return [
    { name: 'overview', path: '/overview', heading: 'Overview' },
    { name: 'leads', path: '/leads', heading: 'Leads' },
    { name: 'lead', path: `/leads?lead=${lead}`, heading: 'Leads' },
    { name: 'campaigns', path: '/campaigns', heading: 'Campaigns' },
    { name: 'campaign', path: `/campaigns/${demoCampaignId}` },
    { name: 'statements', path: '/statements', heading: 'Statements' },
    { name: 'payments', path: '/payments', heading: 'Payments' },
    { name: 'payment', path: `/payments/${payment}`, heading: 'Payment 1' },
    { name: 'members', path: '/members', heading: 'Members' },
    { name: 'integrations', path: '/integrations', heading: 'Integrations' },
    { name: 'webhook', path: `/webhooks/${webhook}` },
    { name: 'postback', path: `/postbacks/${postback}` },
    { name: 'developers', path: '/developers', heading: 'Developers' },
    { name: 'developers-examples', path: '/developers?tab=examples', heading: 'Developers' },
    { name: 'developers-requests', path: `/developers?tab=requests&${key}`, heading: 'Developers' },
    { name: 'developers-usage', path: `/developers?tab=usage&${key}`, heading: 'Developers' },
    { name: 'developers-integrations', path: '/developers?tab=integrations', heading: 'Developers' },
    { name: 'audit', path: '/audit', heading: 'Audit log' },
    { name: 'profile-credentials', path: '/profile', heading: 'Profile' },
    { name: 'profile-account', path: '/profile?tab=account', heading: 'Profile' },
    { name: 'profile-sessions', path: '/profile?tab=sessions', heading: 'Profile' },
  ];
}

/** The pages that need no session. */
export async function pagesBeforeSignIn(
  { fixture }: Website,
  { id, demoCampaignId, owner }: TestWorkspace,
): Promise<readonly WebsitePage[]> {
  const token = randomBytes(32).toString('base64url');
  await fixture.sql('UPDATE campaign SET integration_token = $1 WHERE id = $2', [token, demoCampaignId]);
  const [invitation] = await fixture.sql<{ id: string }>(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     VALUES (gen_random_uuid(), $1, 'guest@example.com', 'manager', $2, now() + interval '1 day') RETURNING id`,
    [id, owner.userId],
  );
  return [
    { name: 'sign-in', path: '/sign-in' },
    { name: 'sign-up', path: '/sign-up' },
    { name: 'forgot-password', path: '/forgot-password' },
    { name: 'reset-password', path: '/reset-password?token=x' },
    { name: 'verify-email', path: '/verify-email?token=x' },
    { name: 'invitation', path: `/invitations/${invitation?.id}` },
    { name: 'integration', path: `/integration/${token}` },
  ];
}

/** Returns the paths of the router that no page of a list has. */
export function routesWithout(pages: readonly WebsitePage[]): string[] {
  const source = readFileSync(new URL('../src/router.tsx', import.meta.url), 'utf8');
  const routes = [...source.matchAll(/ path: '(.+)',/g)].map(([, path = '']) => path);
  const hasPage = (route: string) => {
    const pattern = new RegExp(`^${route.replace(/\$\w+/g, '[^/?]+')}(\\?|$)`);
    return pages.some(({ path }) => pattern.test(path));
  };
  // The root opens the overview.
  return routes.filter((route) => route !== '/' && !hasPage(route));
}
