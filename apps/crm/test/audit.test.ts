import { request } from 'node:http';
import { jwtSecret, type TestMember } from '@leads/test-kit/fixture';
import { extremeTimes, statusOfTime } from '@leads/test-kit/suites/hostile-input';
import { afterAll, describe, expect, test } from 'vitest';
import { runLeads } from './command-line.ts';
import { startCrm } from './crm.ts';
import { password, signInAs, Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly source: string;
  readonly actorId?: string;
  readonly actorEmail?: string;
  readonly apiKeyId?: string;
  readonly address?: string;
  readonly userAgent?: string;
  readonly targetId?: string;
  readonly details: Readonly<Record<string, unknown>>;
}
const logOf = async (owner: TestMember, query = '') => {
  const answer = await service.send({ path: `/api/v1/audit${query}`, headers: owner.headers });
  expect(answer.status).toBe(200);
  return answer.json<Entry[]>();
};
/** Starts a workspace with a signed-in owner. */
const start = async () => {
  const workspace = await fixture.createWorkspace();
  return { workspace, ...(await signInAs(service, workspace, 'owner')) };
};
const created = async (visitor: Visitor, path: string, body: object) => {
  const answer = await visitor.send('POST', `/console${path}`, body, { 'User-Agent': 'A browser' });
  expect(answer.status).toBe(200);
  return answer.json<{ record: { id: string; prefix?: string } }>().record;
};

describe('the audit log', () => {
  test('records keys, tokens and settings of the website with actor, address and user agent', async () => {
    const { member, visitor } = await start();
    const key = await created(visitor, '/api-keys', { name: 'Shop' });
    const rotated = await created(visitor, `/api-keys/${key.id}/rotate`, {});
    await visitor.send('DELETE', `/console/api-keys/${key.id}`);
    const token = await created(visitor, '/access-tokens', { name: 'Shop token' });
    await visitor.send('DELETE', `/console/access-tokens/${token.id}`);
    await visitor.send('PATCH', '/console/workspace', { name: 'Renamed' });

    const entries = (await logOf(member)).filter(({ actorId }) => actorId === member.userId);
    expect(entries.slice(0, 6).map(({ action, targetId }) => [action, targetId])).toEqual([
      ['workspace.renamed', undefined],
      ['access_token.revoked', token.id],
      ['access_token.created', token.id],
      ['api_key.revoked', key.id],
      ['api_key.rotated', rotated.id],
      ['api_key.created', key.id],
    ]);
    expect(entries[5]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      action: 'api_key.created',
      source: 'website',
      actorId: member.userId,
      actorEmail: member.email,
      address: '127.0.0.1',
      userAgent: 'A browser',
      targetId: key.id,
      details: { name: 'Shop', scope: 'full', prefix: key.prefix },
    });
  });

  test('records the single scopes and the networks of a key', async () => {
    const { member, visitor } = await start();
    const networks = Array.from({ length: 20 }, (_, i) => `2001:db8:ffff:ffff:ffff:ffff:ffff:ff${i + 10}`);
    const scope = ['leads:read', 'events'];
    const key = await created(visitor, '/api-keys', { name: 'Shop', scope, allowedNetworks: networks });
    const rotated = await created(visitor, `/api-keys/${key.id}/rotate`, {});
    const limits = { name: 'Shop', scope: 'leads:read, events', allowedFrom: networks.join(', ') };
    const [rotation, creation] = await logOf(member);
    expect(creation?.details).toEqual({ ...limits, prefix: key.prefix });
    expect(rotation?.details).toEqual({ ...limits, prefix: rotated.prefix, replacesId: key.id });
  });

  test('records exports, imports and changes of campaigns by API key', async () => {
    const { workspace } = await start();
    const { owner } = workspace;
    const send = (method: string, path: string, more: object) =>
      service.send({ method, path: `/api/v1${path}`, headers: owner.headers, ...more });
    const csv = { ...owner.headers, 'Content-Type': 'text/csv' };
    await send('POST', '/order/leads/import', {
      headers: csv,
      body: 'campaignCode,name,phone\r\nDEMO,A,1\r\n',
    });
    await send('POST', '/order/leads/status/import', { headers: csv, body: 'id,status\r\nx,Paid\r\n' });
    await send('GET', '/order/leads?q=secret-text', { headers: { ...owner.headers, Accept: 'text/csv' } });
    await send('POST', '/campaigns', { body: { code: 'NEW', name: 'New' } });
    const payouts = `/campaigns/${workspace.demoCampaignId}/payouts/${owner.userId}`;
    await send('PUT', payouts, { body: { amount: '12.50', currency: 'EUR' } });
    await send('DELETE', payouts, {});
    const payout = { amount: '1', currency: 'USD' };
    await send('PATCH', `/campaigns/${workspace.demoCampaignId}`, { body: { status: 'paused', payout } });
    await send('PATCH', `/campaigns/${workspace.demoCampaignId}`, { body: { payout: null } });

    const entries = await logOf(owner);
    expect(entries.splice(0, 1)).toMatchObject([{ details: { code: 'DEMO', payout: 'none' } }]);
    expect(entries.splice(1, 2)).toMatchObject(
      ['removed', 'changed'].map((change) => ({
        action: `publisher_payout.${change}`,
        targetId: workspace.demoCampaignId,
        details: { userId: owner.userId, payout: '12.5 EUR' },
      })),
    );
    expect(entries.map(({ action }) => action)).toEqual([
      'campaign.changed',
      'campaign.created',
      'leads.exported',
      'statuses.imported',
      'leads.imported',
    ]);
    expect(entries[0]).toMatchObject({
      source: 'api',
      actorId: owner.userId,
      apiKeyId: owner.apiKeyId,
      targetId: workspace.demoCampaignId,
      details: { code: 'DEMO', status: 'paused', payout: '1 USD' },
    });
    // Search texts are data of leads.
    expect(entries[2]?.details).toEqual({ format: 'csv', filters: 'q' });
    expect(entries[3]?.details).toMatchObject({ changed: 0, rejected: 1 });
    expect(entries[4]?.details).toMatchObject({ accepted: 1, rejected: 0 });
  });

  test('records the stored lines of an import whose client disconnects', async () => {
    const { workspace } = await start();
    const { id, owner } = workspace;
    const interrupt = async (path: string, csv: string, stored: string) => {
      const upload = request({
        host: '127.0.0.1',
        port: service.port,
        method: 'POST',
        path: `/api/v1/order/leads/${path}`,
        headers: { ...owner.headers, 'Content-Type': 'text/csv' },
      }).on('error', () => undefined);
      upload.write(csv);
      await expect.poll(() => fixture.sql(stored, [id]), { timeout: 30_000 }).not.toHaveLength(0);
      upload.destroy();
    };
    // The size of a batch. The second batch remains incomplete.
    const batch = 500;
    await interrupt(
      'import',
      `campaignCode,name,phone\r\n${'DEMO,A,1\r\n'.repeat(batch + 1)}`,
      'SELECT id FROM lead WHERE workspace_id = $1',
    );
    const leads = await fixture.sql<{ id: string }>('SELECT id FROM lead WHERE workspace_id = $1', [id]);
    await interrupt(
      'status/import',
      `id,status\r\n${leads.map((lead) => `${lead.id},Approved\r\n`).join('')}x,Approved\r\n`,
      `SELECT id FROM lead WHERE workspace_id = $1 AND status = 'Approved'`,
    );

    const actions = async () => {
      const entries = await logOf(owner);
      return entries.map(({ action, address, details }) => [action, address, details]);
    };
    await expect.poll(actions, { timeout: 30_000 }).toEqual([
      [
        'statuses.imported',
        '127.0.0.1',
        { changed: batch, unchanged: 0, repeated: 0, rejected: 0, isComplete: false },
      ],
      [
        'leads.imported',
        '127.0.0.1',
        { accepted: batch, duplicates: 0, repeated: 0, rejected: 0, isComplete: false },
      ],
    ]);
  });

  test('records landing pages by API key', async () => {
    const { owner, id: workspaceId } = await fixture.createWorkspace();
    await fixture.landingPages.add(
      ['first', 'junk'].map((name) => ({ workspaceId, name, apiKeyId: workspaceId })),
      1,
    );
    const idOf = async (name: string) => (await fixture.landingPages.find(workspaceId, { name }))?.id ?? '';
    const junk = await idOf('junk');
    const send = async (method: string, path: string, body: object) => {
      const answer = await service.send({
        method,
        path: `/api/v1${path}`,
        headers: owner.headers,
        body,
      });
      expect(answer.status).toBe(200);
    };
    await send('PUT', '/status-aliases', { aliases: [{ alias: 'Junk', status: 'Trashed' }] });
    await send('POST', '/landing-pages', { name: 'spring', campaignCode: 'DEMO' });
    const spring = await idOf('spring');
    await send('PATCH', `/landing-pages/${spring}`, { campaignCode: '' });
    await send('POST', `/landing-pages/${junk}/dismissal`, { dismissed: true });
    await send('POST', `/landing-pages/${junk}/dismissal`, { dismissed: false });
    const entries = await logOf(owner);
    expect(entries.map(({ action, targetId, details }) => [action, targetId, details])).toEqual([
      ['landing_page.restored', junk, { name: 'junk' }],
      ['landing_page.dismissed', junk, { name: 'junk' }],
      ['landing_page.mapped', spring, { name: 'spring', campaignCode: '' }],
      ['landing_page.created', spring, { name: 'spring', campaignCode: 'DEMO' }],
      ['status_aliases.changed', undefined, { aliases: 'junk: Trashed' }],
    ]);
    for (const { apiKeyId } of entries) expect(apiKeyId).toBe(owner.apiKeyId);
  });

  test('records users, campaigns and landing pages of the command line', async () => {
    const { owner, slug, id: workspaceId } = await fixture.createWorkspace();
    await fixture.landingPages.add(
      ['first', 'junk'].map((name) => ({ workspaceId, name, apiKeyId: workspaceId })),
      1,
    );
    const run = async (command: string) => {
      const { code, stderr } = await runLeads(command.split(' '), { DATABASE_URL: crm.databaseUrl });
      expect([command, code, stderr]).toEqual([command, 0, '']);
    };
    await run(`user create --email new-user@example.com --name New --workspace ${slug} --role publisher`);
    await run(`campaign create --workspace ${slug} --code SPRING --name Spring`);
    await run(`campaign update SPRING --workspace ${slug} --status paused`);
    await run(`landing-page map quiz --workspace ${slug} --campaign DEMO`);
    await run(`landing-page dismiss junk --workspace ${slug}`);
    await run(`landing-page restore junk --workspace ${slug}`);
    const entries = await logOf(owner);
    expect(entries.map(({ action, source, details }) => [action, source, details])).toEqual([
      ['landing_page.restored', 'cli', { name: 'junk' }],
      ['landing_page.dismissed', 'cli', { name: 'junk' }],
      ['landing_page.mapped', 'cli', { name: 'quiz', campaignCode: 'DEMO' }],
      ['campaign.changed', 'cli', { code: 'SPRING', status: 'paused' }],
      ['campaign.created', 'cli', { code: 'SPRING' }],
      ['member.added', 'cli', { role: 'publisher', email: 'new-user@example.com' }],
    ]);
  });

  test('records integration links, and the credentials of a member that another member revokes', async () => {
    const { workspace, member, visitor } = await start();
    const campaignId = workspace.demoCampaignId;
    const link = `/console/campaigns/${campaignId}/integration-link`;
    await visitor.send('POST', link);
    await visitor.send('DELETE', link);
    const publisher = await signInAs(service, workspace, 'publisher');
    const key = await created(publisher.visitor, '/api-keys', { name: 'Key' });
    const token = await created(publisher.visitor, '/access-tokens', { name: 'Token' });
    await visitor.send('DELETE', `/console/members/api-keys/${key.id}`);
    await visitor.send('DELETE', `/console/members/access-tokens/${token.id}`);

    const { userId } = publisher.member;
    const entries = await logOf(member, `?actorId=${member.userId}&limit=4`);
    expect(entries.map(({ action, targetId, details }) => [action, targetId, details])).toEqual([
      ['access_token.revoked', token.id, { name: 'Token', userId }],
      ['api_key.revoked', key.id, { name: 'Key', prefix: key.prefix, userId }],
      ['integration_link.removed', campaignId, {}],
      ['integration_link.created', campaignId, {}],
    ]);
  });

  test('has no entries of another workspace', async () => {
    const [one, two] = [await start(), await start()];
    await created(one.visitor, '/api-keys', { name: 'Mine' });
    expect(JSON.stringify(await logOf(two.member))).not.toContain('Mine');
    expect(await logOf(two.member, `?actorId=${one.member.userId}`)).toEqual([]);
  });

  test('is paged and filtered, and rejects other cursors', async () => {
    const { member, visitor } = await start();
    for (const name of ['a', 'b', 'c']) await created(visitor, '/access-tokens', { name });
    const path = '/api/v1/audit?action=access_token.created&limit=2';
    const first = await service.send({ path, headers: member.headers });
    const next = /<[^>]*(\/api\/v1\/audit[^>]*)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? '';
    const second = await service.send({ path: next, headers: member.headers });
    const names = [first, second].flatMap((page) =>
      page.json<Entry[]>().map(({ details }) => details['name']),
    );
    expect(names).toEqual(['c', 'b', 'a']);
    expect(second.headers['link']).toBeUndefined();
    const [newest] = await logOf(member, '?action=access_token.created');
    expect(await logOf(member, `?to=${newest?.at}&action=access_token.created`)).toHaveLength(2);
    expect(await logOf(member, `?from=${newest?.at}&action=access_token.created`)).toHaveLength(1);
    for (const query of ['cursor=x', 'cursor=1.2', 'action=x', 'actorId=x', 'from=x', 'limit=0', 'x=1']) {
      const answer = await service.send({ path: `/api/v1/audit?${query}`, headers: member.headers });
      expect([query, answer.status]).toEqual([query, 400]);
    }
  });

  test('rejects a time that cannot be represented with 400 and accepts every year, as a page and as CSV', async () => {
    const { member } = await start();
    for (const accept of ['application/json', 'text/csv']) {
      for (const name of ['from', 'to']) {
        for (const [time, status] of statusOfTime) {
          const path = `/api/v1/audit?${name}=${encodeURIComponent(time)}`;
          const answer = await service.send({ path, headers: { ...member.headers, Accept: accept } });
          expect([accept, name, time, answer.status]).toEqual([accept, name, time, status]);
        }
      }
    }
    // A rejected export is not recorded.
    expect(await logOf(member, '?action=audit.exported')).toHaveLength(2 * extremeTimes.length);
  });

  test('is exported as CSV by the API and by the website, and the export is recorded', async () => {
    const { member, visitor } = await start();
    await created(visitor, '/api-keys', { name: '=1+1' });
    const headers = { ...member.headers, Accept: 'text/csv' };
    const answers = [
      await service.send({ path: '/api/v1/audit?action=api_key.created', headers }),
      await visitor.send('GET', '/console/audit.csv?action=api_key.created'),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers['content-type']]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
      ]);
      expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="audit-[\d-]+\.csv"$/);
      const [header, entry, ...rest] = answer.text.split('\r\n');
      expect(header).toBe(
        'id,at,action,source,actorId,actorEmail,apiKeyId,address,userAgent,targetId,details',
      );
      expect(entry).toContain(`,api_key.created,website,${member.userId},${member.email},`);
      expect(rest).toEqual(['']);
    }
    expect(await logOf(member, '?action=audit.exported')).toHaveLength(2);
    const limited = await service.send({ path: '/api/v1/audit?limit=5', headers });
    expect(limited.status).toBe(400);
  });
});

describe('the audit log of accounts', () => {
  test('records sign-ins, failed sign-ins, sign-outs and passwords', async () => {
    const { workspace, member, visitor } = await start();
    expect((await visitor.signIn(member.email)).status).toBe(200);
    const stranger = new Visitor(service);
    const wrong = { email: member.email, password: 'not the password' };
    expect((await stranger.account('/sign-in/email', wrong)).status).toBe(401);
    const changed = { currentPassword: password, newPassword: 'another correct horse' };
    expect((await visitor.account('/change-password', changed)).status).toBe(200);
    expect((await visitor.account('/sign-out')).status).toBe(200);

    const entries = await logOf(workspace.owner);
    expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
      ['sign_out', member.userId],
      ['password.changed', member.userId],
      ['sign_in.failed', undefined],
      ['sign_in', member.userId],
    ]);
    for (const { source, address } of entries) expect([source, address]).toEqual(['website', '127.0.0.1']);
    expect(JSON.stringify(entries)).not.toContain('correct horse');
  });

  test('records the keys and tokens that a change of the password revokes', async () => {
    const { workspace, member, visitor } = await start();
    const changed = {
      currentPassword: password,
      newPassword: 'another correct horse',
      revokeCredentials: true,
      revokeOtherSessions: true,
    };
    expect((await visitor.account('/change-password', changed)).status).toBe(200);
    const entries = (await logOf(workspace.owner)).filter(({ actorId }) => actorId === member.userId);
    expect(entries.map(({ action, targetId }) => [action, targetId])).toEqual([
      ['password.changed', undefined],
      ['access_token.revoked', expect.any(String)],
      ['api_key.revoked', member.apiKeyId],
    ]);
    expect(entries[0]?.details).toEqual({ revokeOtherSessions: true });
  });

  test('records ended sessions, passwords that a link sets, and new workspaces', async () => {
    const { workspace, member, visitor } = await start();
    const other = new Visitor(service);
    await other.signIn(member.email);
    const sessions = (await visitor.get('/sessions')).json<{ id: string; current: boolean }[]>();
    const ended = sessions.find(({ current }) => !current)?.id;
    expect((await visitor.send('DELETE', `/console/sessions/${ended}`)).status).toBe(200);
    const { stdout } = await runLeads(['user', 'password-link', '--email', member.email, '--json'], {
      DATABASE_URL: crm.databaseUrl,
      JWT_SECRET: jwtSecret,
    });
    const token = new URL((JSON.parse(stdout) as { link: string }).link).searchParams.get('token');
    const reset = { token, newPassword: 'another good phrase' };
    expect((await other.account('/reset-password', reset)).status).toBe(200);
    await visitor.signIn(member.email, reset.newPassword);
    const opened = await visitor.send('POST', '/console/workspaces', { name: 'Second' });
    const { id } = opened.json<{ workspace: { id: string } }>().workspace;

    const entries = await logOf(workspace.owner);
    expect(entries.map(({ action, actorId, targetId }) => [action, actorId, targetId])).toEqual([
      ['sign_in', member.userId, undefined],
      ['password.reset', member.userId, undefined],
      ['session.ended', member.userId, ended],
      ['sign_in', member.userId, undefined],
    ]);
    expect(
      await fixture.sql('SELECT action, actor_id FROM audit_entry WHERE workspace_id = $1', [id]),
    ).toEqual([{ action: 'workspace.created', actor_id: member.userId }]);
  });

  test('records invitations, roles and removed members with their actor', async () => {
    const { workspace, member, visitor } = await start();
    const guest = await signInAs(service, await fixture.createWorkspace(), 'owner');
    const { email } = guest.member;
    const organizationId = workspace.id;
    const invite = { email, role: 'publisher', organizationId };
    const first = await visitor.account('/organization/invite-member', invite);
    await visitor.account('/organization/cancel-invitation', {
      invitationId: first.json<{ id: string }>().id,
    });
    const second = await visitor.account('/organization/invite-member', invite);
    const invitationId = second.json<{ id: string }>().id;
    expect((await guest.visitor.account('/organization/accept-invitation', { invitationId })).status).toBe(
      200,
    );
    const [row] = await fixture.sql<{ id: string }>(
      'SELECT id FROM member WHERE workspace_id = $1 AND user_id = $2',
      [workspace.id, guest.member.userId],
    );
    const memberId = row?.id ?? '';
    await visitor.account('/organization/update-member-role', { memberId, role: 'manager', organizationId });
    await visitor.account('/organization/remove-member', { memberIdOrEmail: memberId, organizationId });

    const entries = (await logOf(workspace.owner)).filter(({ action }) => action !== 'sign_in');
    const details = { email, role: 'publisher' };
    expect(entries.map((entry) => [entry.action, entry.actorId, entry.details])).toEqual([
      ['member.removed', member.userId, { role: 'manager', userId: guest.member.userId }],
      ['member.role_changed', member.userId, { role: 'manager', userId: guest.member.userId }],
      ['invitation.accepted', guest.member.userId, details],
      ['invitation.created', member.userId, details],
      ['invitation.canceled', member.userId, details],
      ['invitation.created', member.userId, details],
    ]);
  });

  test('records a rejected invitation and a member that leaves', async () => {
    const { workspace, visitor } = await start();
    const guest = await signInAs(service, await fixture.createWorkspace(), 'owner');
    const { userId, email } = guest.member;
    const organizationId = workspace.id;
    for (const answer of ['reject', 'accept']) {
      const invite = { email, role: 'publisher', organizationId };
      const invited = await visitor.account('/organization/invite-member', invite);
      const { id: invitationId } = invited.json<{ id: string }>();
      const path = `/organization/${answer}-invitation`;
      expect((await guest.visitor.account(path, { invitationId })).status).toBe(200);
    }
    expect((await guest.visitor.account('/organization/leave', { organizationId })).status).toBe(200);

    const entries = await logOf(workspace.owner, `?actorId=${userId}`);
    const role = 'publisher';
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['member.removed', { role, userId }],
      ['invitation.accepted', { role, email }],
      ['invitation.rejected', { role, email }],
    ]);
  });

  test('records a second factor, its failures, its removal, new recovery codes, and the sign-in after it', async () => {
    const { workspace, member, visitor } = await start();
    const { backupCodes } = await visitor.addSecondFactor();
    const again = new Visitor(service);
    await again.account('/sign-in/email', { email: member.email, password });
    expect((await again.account('/two-factor/verify-backup-code', { code: 'wrong-code' })).status).toBe(401);
    const [code] = backupCodes;
    expect((await again.account('/two-factor/verify-backup-code', { code })).status).toBe(200);

    expect((await again.account('/two-factor/generate-backup-codes', { password })).status).toBe(200);
    expect((await again.account('/two-factor/disable', { password })).status).toBe(200);

    const entries = await logOf(workspace.owner);
    expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
      ['two_factor.disabled', member.userId],
      ['two_factor.codes_renewed', member.userId],
      ['sign_in', member.userId],
      ['two_factor.failed', undefined],
      ['two_factor.enabled', member.userId],
    ]);
  });
});
