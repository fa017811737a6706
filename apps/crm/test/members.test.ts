import { randomUUID } from 'node:crypto';
import type { TestWorkspace } from '@leads/local-stack/testing/fixture';
import type { MemberRole } from '@leads/core/credential';
import { afterAll, expect, test } from 'vitest';
import { type ConsoleClient, signUp } from './console-client.ts';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { fixture, service } = crm;

/** A workspace whose only owner is signed in. */
async function openWorkspace() {
  const workspace = await fixture.createWorkspace();
  const owner = await enter(workspace, 'owner');
  await fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
    workspace.id,
    workspace.owner.userId,
  ]);
  return { workspace, owner };
}

async function enter(workspace: TestWorkspace, role: MemberRole) {
  const email = `${randomUUID()}@example.com`;
  const client = await signUp(crm, email);
  const member = await workspace.addMember(role, { email });
  await client.call('POST', '/auth/organization/set-active', { organizationId: workspace.id });
  const [row] = await fixture.sql<{ id: string }>(
    'SELECT id FROM member WHERE workspace_id = $1 AND user_id = $2',
    [workspace.id, member.userId],
  );
  return { client, member, memberId: row?.id ?? '', email };
}

const post = ({ client }: { client: ConsoleClient }, path: string, body: object) =>
  client.call('POST', `/auth/organization/${path}`, body);

test('the last owner is neither demoted nor removed, and does not leave', async () => {
  const { workspace, owner } = await openWorkspace();
  const manager = await enter(workspace, 'manager');
  const tries = [
    ['update-member-role', { memberId: owner.memberId, role: 'manager' }],
    ['remove-member', { memberIdOrEmail: owner.memberId }],
    ['leave', { organizationId: workspace.id }],
  ] as const;
  for (const [path, body] of tries) {
    expect([path, (await post(owner, path, body)).status]).toEqual([path, 400]);
  }
  // Nor by someone who is no owner.
  for (const [path, body] of tries.slice(0, 2)) {
    expect((await post(manager, path, body)).status).toBeGreaterThanOrEqual(400);
  }
  expect((await owner.client.call('GET', '/console/me')).body['workspace']).toMatchObject({ role: 'owner' });
});

test('an owner steps down once there is another', async () => {
  const { workspace, owner } = await openWorkspace();
  const second = await enter(workspace, 'manager');
  expect((await post(owner, 'update-member-role', { memberId: second.memberId, role: 'owner' })).status).toBe(
    200,
  );
  expect(
    (await post(owner, 'update-member-role', { memberId: owner.memberId, role: 'publisher' })).status,
  ).toBe(200);
  expect((await post(second, 'leave', { organizationId: workspace.id })).status).toBe(400);
});

test('a member who is removed loses the workspace at once, and its keys and tokens within 10 s', async () => {
  const { workspace, owner } = await openWorkspace();
  const { client, member, memberId } = await enter(workspace, 'manager');
  const list = () =>
    fetch(`http://127.0.0.1:${service.port}/api/v1/order/leads`, { headers: member.headers });
  expect((await list()).status).toBe(200);
  expect((await client.call('GET', '/console/campaigns')).body).toContainEqual(
    expect.objectContaining({ id: workspace.demoCampaignId }),
  );

  expect((await post(owner, 'remove-member', { memberIdOrEmail: memberId })).status).toBe(200);
  const removedAt = Date.now();
  const { body: me } = await client.call('GET', '/console/me');
  expect(me['workspaces']).not.toContainEqual(expect.objectContaining({ id: workspace.id }));
  expect(JSON.stringify((await client.call('GET', '/console/campaigns')).body)).not.toContain(
    workspace.demoCampaignId,
  );
  await expect.poll(async () => (await list()).status, { timeout: 10_000, interval: 500 }).toBe(401);
  expect(Date.now() - removedAt).toBeLessThan(10_000);
}, 20_000);

test('what owners do is about the workspace that the page shows, if they own it', async () => {
  const { workspace, owner } = await openWorkspace();
  const other = await openWorkspace();
  const stranger = await enter(other.workspace, 'publisher');
  // Another tab has gone on to the owner's own first workspace.
  const { body: me } = await owner.client.call('GET', '/console/me');
  const first = (me['workspaces'] as { id: string }[]).find(({ id }) => id !== workspace.id);
  await post(owner, 'set-active', { organizationId: first?.id });

  const email = `${randomUUID()}@example.com`;
  const invitation = { email, role: 'manager', organizationId: workspace.id };
  expect((await post(owner, 'invite-member', invitation)).status).toBe(200);
  expect(
    await fixture.sql('SELECT role FROM invitation WHERE workspace_id = $1 AND email = $2', [
      workspace.id,
      email,
    ]),
  ).toEqual([{ role: 'manager' }]);

  const elsewhere = { organizationId: other.workspace.id };
  for (const [path, body] of [
    ['invite-member', { email, role: 'owner' }],
    ['update-member-role', { memberId: stranger.memberId, role: 'manager' }],
    ['remove-member', { memberIdOrEmail: stranger.memberId }],
  ] as const) {
    expect((await post(owner, path, { ...body, ...elsewhere })).status).toBeGreaterThanOrEqual(400);
    expect((await post(owner, path, { ...body, organizationId: workspace.id })).status).toBe(
      path === 'invite-member' ? 200 : path === 'remove-member' ? 400 : 403,
    );
  }
  expect(await fixture.sql('SELECT role FROM member WHERE id = $1', [stranger.memberId])).toEqual([
    { role: 'publisher' },
  ]);
});

test('a default campaign that takes no leads, and an end that is past, are named as what is wrong', async () => {
  const { workspace, owner } = await openWorkspace();
  await workspace.addCampaign('PAUSED', 'paused');
  for (const [field, value] of [
    ['defaultCampaignCode', 'PAUSED'],
    ['defaultCampaignCode', 'NONE'],
    ['expiresAt', '2020-01-31T09:30:00.000Z'],
  ] as const) {
    const { status, body } = await owner.client.call('POST', '/console/api-keys', {
      name: 'A key',
      [field]: value,
    });
    expect(status).toBe(400);
    expect(body['errors']).toEqual([expect.objectContaining({ pointer: `#/${field}` })]);
  }
});
