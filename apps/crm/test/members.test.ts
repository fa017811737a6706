import { randomUUID } from 'node:crypto';
import type { MemberRole } from '@leads/core/credential';
import { createAccountStore, openDatabase } from '@leads/core/db';
import type { TestWorkspace } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import { afterAll, expect, test, vi } from 'vitest';
import { runLeads } from './command-line.ts';
import { startCrm } from './crm.ts';
import { signInAs, Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { fixture, service } = crm;

/** Creates a workspace whose only owner is signed in. */
async function openWorkspace() {
  const workspace = await fixture.createWorkspace();
  const owner = await addSignedIn(workspace, 'owner');
  await fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
    workspace.id,
    workspace.owner.userId,
  ]);
  return { workspace, owner };
}

async function addSignedIn(workspace: TestWorkspace, role: MemberRole) {
  const { visitor, member } = await signInAs(service, workspace, role);
  const [row] = await fixture.sql<{ id: string }>(
    'SELECT id FROM member WHERE workspace_id = $1 AND user_id = $2',
    [workspace.id, member.userId],
  );
  return {
    visitor,
    email: member.email,
    memberId: row?.id ?? '',
    callOrganization: (path: string, body: object) =>
      visitor.account(`/organization/${path}`, { organizationId: workspace.id, ...body }),
  };
}

type SignedIn = Awaited<ReturnType<typeof addSignedIn>>;

test('an owner can change to another role only if the workspace has another owner', async () => {
  const { workspace, owner } = await openWorkspace();
  const second = await addSignedIn(workspace, 'manager');
  const change = (memberId: string, role: MemberRole) =>
    owner.callOrganization('update-member-role', { memberId, role });
  expect((await change(owner.memberId, 'publisher')).status).toBe(400);
  expect((await change(second.memberId, 'owner')).status).toBe(200);
  expect((await change(owner.memberId, 'publisher')).status).toBe(200);
  expect((await second.callOrganization('leave', { organizationId: workspace.id })).status).toBe(400);
});

test('a workspace keeps one owner if 2 owners demote or remove each other at the same time', async () => {
  const pairs = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { workspace, owner } = await openWorkspace();
      return { workspace, owner, second: await addSignedIn(workspace, 'owner') };
    }),
  );
  const actions = [
    (memberId: string) => ['update-member-role', { memberId, role: 'publisher' }] as const,
    (memberIdOrEmail: string) => ['remove-member', { memberIdOrEmail }] as const,
  ] as const;
  for (const [i, { owner, second, workspace }] of pairs.entries()) {
    const action = actions[i % actions.length] ?? actions[0];
    const [path, body] = action(second.memberId);
    const [, other] = action(owner.memberId);
    const answers = await Promise.all([
      owner.callOrganization(path, body),
      second.callOrganization(path, other),
    ]);
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, expect.toSatisfy((each) => each >= 400 && each < 500)]);
    expect(
      await fixture.sql(`SELECT role FROM member WHERE workspace_id = $1 AND role = 'owner'`, [workspace.id]),
    ).toHaveLength(1);
  }
});

test('requests without a session do not wait for a change of members', async () => {
  const { workspace, owner } = await openWorkspace();
  const second = await addSignedIn(workspace, 'owner');
  const release = await fixture.holdTable('member');
  const leaving = second.callOrganization('leave', {});
  const stranger = new Visitor(service);
  try {
    await expect
      .poll(() => fixture.sql(`SELECT FROM pg_locks WHERE relation = 'member'::regclass AND NOT granted`))
      .toHaveLength(1);
    const body = { memberId: owner.memberId, role: 'publisher', organizationId: workspace.id };
    expect((await stranger.account('/organization/update-member-role', body)).status).toBe(401);
  } finally {
    await release();
  }
  expect((await leaving).status).toBe(200);
});

test('requests of an owner of another workspace do not wait for a change of members', async () => {
  const { workspace } = await openWorkspace();
  const second = await addSignedIn(workspace, 'owner');
  const stranger = (await openWorkspace()).owner;
  const release = await fixture.holdTable('member');
  const leaving = second.callOrganization('leave', {});
  try {
    await expect.poll(() => fixture.countBlocked('DELETE FROM %member%')).toBe(1);
    const answer = await stranger.callOrganization('leave', { organizationId: workspace.id });
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { message: expect.stringContaining('no longer a member') },
    ]);
  } finally {
    await release();
  }
  expect((await leaving).status).toBe(200);
});

test('the changes of a workspace with many changes take turns with those of other workspaces', async () => {
  await using database = openDatabase({
    url: crm.databaseUrl,
    poolSize: 2,
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 30_000,
    applicationName: 'members-test',
  });
  const store = createAccountStore(database);
  const done: string[] = [];
  await Promise.all(
    ['busy', 'busy', 'busy', 'other'].map((workspaceId) =>
      store.withMembersLocked(workspaceId, async () => done.push(workspaceId)),
    ),
  );
  expect(done).toEqual(['busy', 'busy', 'other', 'busy']);
});

test.each<[how: string, end: (owner: SignedIn, sender: SignedIn) => Promise<Answer>]>([
  [
    'is removed',
    (owner, { memberId }) => owner.callOrganization('remove-member', { memberIdOrEmail: memberId }),
  ],
  ['leaves', (_owner, sender) => sender.callOrganization('leave', {})],
  [
    'becomes a manager',
    (owner, { memberId }) => owner.callOrganization('update-member-role', { memberId, role: 'manager' }),
  ],
])('an invitation is canceled if its sender %s', async (_how, end) => {
  const { workspace, owner } = await openWorkspace();
  const sender = await addSignedIn(workspace, 'owner');
  const guest = await addSignedIn(await fixture.createWorkspace(), 'owner');
  const invite = async ({ callOrganization }: SignedIn, email: string) =>
    (await callOrganization('invite-member', { email, role: 'owner' })).json<{ id: string }>().id;
  const invitationId = await invite(sender, guest.email);
  const otherId = await invite(owner, `${randomUUID()}@example.com`);
  expect((await guest.visitor.get(`/invitations/${invitationId}`)).status).toBe(200);

  expect((await end(owner, sender)).status).toBe(200);
  expect((await guest.visitor.get(`/invitations/${invitationId}`)).status).toBe(404);
  expect((await guest.visitor.account('/organization/accept-invitation', { invitationId })).status).toBe(400);
  const pending = await fixture.sql(
    `SELECT id FROM invitation WHERE workspace_id = $1 AND status = 'pending'`,
    [workspace.id],
  );
  expect(pending).toEqual([{ id: otherId }]);
});

test('an invitation is stored as canceled if its sender is not an owner any more', async () => {
  const { workspace } = await openWorkspace();
  const sender = await workspace.addMember('manager');
  const [invitation] = await fixture.sql(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     VALUES (gen_random_uuid(), $1, 'guest@example.com', 'owner', $2, now() + interval '1 day') RETURNING status`,
    [workspace.id, sender.userId],
  );
  expect(invitation).toEqual({ status: 'canceled' });
});

test('an invitation that is accepted several times at once adds one member, and the other requests get 400', async () => {
  const { owner } = await openWorkspace();
  const email = `${randomUUID()}@example.com`;
  const guest = new Visitor(service);
  await guest.signUp(email);
  const invited = await owner.callOrganization('invite-member', { email, role: 'publisher' });
  const { id: invitationId } = invited.json<{ id: string }>();
  // All of them read the pending invitation before one of them changes it.
  const release = await fixture.holdTable('invitation');
  const answers = [1, 2, 3].map(() => guest.account('/organization/accept-invitation', { invitationId }));
  await expect.poll(() => fixture.countBlocked('%invitation%'), { timeout: 30_000 }).toBe(3);
  await release();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 400, 400]);
});

test('an accepted invitation cannot be canceled, because its user is a member', async () => {
  const { workspace, owner } = await openWorkspace();
  const email = `${randomUUID()}@example.com`;
  const guest = new Visitor(service);
  await guest.signUp(email);
  const invited = await owner.callOrganization('invite-member', { email, role: 'publisher' });
  const { id: invitationId } = invited.json<{ id: string }>();
  const accepted = await guest.account('/organization/accept-invitation', { invitationId });
  expect(accepted.status).toBe(200);
  // The page of the owner still shows the invitation.
  const canceled = await owner.visitor.account('/organization/cancel-invitation', { invitationId });
  expect([canceled.status, canceled.json()]).toMatchObject([
    400,
    { message: 'The invitation was accepted: remove the member instead' },
  ]);
  const statuses = await fixture.sql('SELECT status FROM invitation WHERE workspace_id = $1', [workspace.id]);
  expect(statuses).toEqual([{ status: 'accepted' }]);
});

test('invitations that are accepted and canceled at once are either accepted or canceled', async () => {
  const invitations = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { workspace, owner } = await openWorkspace();
      const email = `${randomUUID()}@example.com`;
      const guest = new Visitor(service);
      await guest.signUp(email);
      const invited = await owner.callOrganization('invite-member', { email, role: 'publisher' });
      return { workspace, owner, guest, email, invitationId: invited.json<{ id: string }>().id };
    }),
  );
  // All requests read a pending invitation. Postgres then decides which of two changes comes first.
  const release = await fixture.holdTable('invitation');
  const answers = invitations.map(({ owner, guest, invitationId }) =>
    Promise.all([
      guest.account('/organization/accept-invitation', { invitationId }),
      owner.visitor.account('/organization/cancel-invitation', { invitationId }),
    ]),
  );
  await expect.poll(() => fixture.countBlocked('%invitation%')).toBe(2 * invitations.length);
  await release();
  for (const [i, { workspace, email }] of invitations.entries()) {
    const [accepted, canceled] = (await answers[i]) ?? [];
    const members = await fixture.sql(
      'SELECT FROM member JOIN "user" ON "user".id = user_id WHERE workspace_id = $1 AND email = $2',
      [workspace.id, email],
    );
    expect([accepted?.status, canceled?.status, members.length]).toEqual(
      accepted?.status === 200 ? [200, 400, 1] : [400, 200, 0],
    );
  }
});

test('a user that accepts one of two invitations to a workspace has no pending invitation to it any more', async () => {
  const { workspace, owner } = await openWorkspace();
  const email = `${randomUUID()}@example.com`;
  const guest = new Visitor(service);
  await guest.signUp(email);
  const invited = await owner.callOrganization('invite-member', { email, role: 'publisher' });
  const { id } = invited.json<{ id: string }>();
  // Two owners who invite the same address at once create two invitations.
  const [second] = await fixture.sql<{ id: string }>(
    `INSERT INTO invitation (id, workspace_id, email, role, inviter_id, expires_at)
     SELECT gen_random_uuid(), workspace_id, email, role, inviter_id, expires_at FROM invitation WHERE id = $1
     RETURNING id`,
    [id],
  );
  const accept = (invitationId = '') => guest.account('/organization/accept-invitation', { invitationId });
  expect((await accept(id)).status).toBe(200);
  expect((await accept(second?.id)).status).toBe(400);
  const statuses = await fixture.sql(
    'SELECT status FROM invitation WHERE workspace_id = $1 ORDER BY status',
    [workspace.id],
  );
  expect(statuses).toEqual([{ status: 'accepted' }, { status: 'canceled' }]);
});

test('a user that an operator adds to a workspace has no pending invitation to it any more', async () => {
  const { workspace, owner } = await openWorkspace();
  const other = await openWorkspace();
  const email = `${randomUUID()}@example.com`;
  const guest = new Visitor(service);
  await guest.signUp(email);
  const invite = async (by: SignedIn) =>
    (await by.callOrganization('invite-member', { email, role: 'publisher' })).json<{ id: string }>().id;
  const [invitationId, otherId] = [await invite(owner), await invite(other.owner)];
  const args = ['user', 'create', '--email', email, '--name', 'Guest', '--workspace', workspace.slug];
  const added = await runLeads([...args, '--role', 'manager'], { DATABASE_URL: crm.databaseUrl });
  expect(added.code).toBe(0);
  const accepted = await guest.account('/organization/accept-invitation', { invitationId });
  expect([accepted.status, accepted.json()]).toMatchObject([
    400,
    { message: expect.stringContaining('The invitation was accepted, declined or canceled') },
  ]);
  const others = await guest.account('/organization/accept-invitation', { invitationId: otherId });
  expect(others.status).toBe(200);
});

test('an owner changes members of the workspace in the request, not of the active workspace of the session', async () => {
  const { workspace, owner } = await openWorkspace();
  const other = await openWorkspace();
  const stranger = await addSignedIn(other.workspace, 'publisher');
  // Another tab has switched the session to the owner's first workspace.
  const me = (await owner.visitor.get('/me')).json<{ workspaces: { id: string }[] }>();
  const first = me.workspaces.find(({ id }) => id !== workspace.id);
  await owner.callOrganization('set-active', { organizationId: first?.id });

  const email = `${randomUUID()}@example.com`;
  const invitation = { email, role: 'manager', organizationId: workspace.id };
  expect((await owner.callOrganization('invite-member', invitation)).status).toBe(200);
  expect(
    await fixture.sql('SELECT role FROM invitation WHERE workspace_id = $1 AND email = $2', [
      workspace.id,
      email,
    ]),
  ).toEqual([{ role: 'manager' }]);

  for (const [path, body, status] of [
    ['invite-member', { email, role: 'owner' }, 200],
    ['update-member-role', { memberId: stranger.memberId, role: 'manager' }, 403],
    ['remove-member', { memberIdOrEmail: stranger.memberId }, 400],
  ] as const) {
    const elsewhere = await owner.callOrganization(path, { ...body, organizationId: other.workspace.id });
    expect([path, elsewhere.status]).toEqual([path, expect.toSatisfy((each) => each >= 400 && each < 500)]);
    const here = await owner.callOrganization(path, { ...body, organizationId: workspace.id });
    expect([path, here.status]).toEqual([path, status]);
  }
  expect(await fixture.sql('SELECT role FROM member WHERE id = $1', [stranger.memberId])).toEqual([
    { role: 'publisher' },
  ]);
});

test('owners and managers see the keys and tokens of all members, and their revocation is in force', async () => {
  const workspace = await fixture.createWorkspace();
  const other = await fixture.createWorkspace();
  const limits = { scope: ['leads:read'] as const, allowedNetworks: ['127.0.0.1'] };
  const publisher = await workspace.addMember('publisher', limits);
  const list = { path: '/api/v1/order/leads', headers: publisher.headers };
  expect((await service.send(list)).status).toBe(200);
  const { visitor } = await signInAs(service, workspace, 'manager');

  const answer = await visitor.get('/members/credentials');
  const { apiKeys, accessTokens } = answer.json<Record<string, Record<string, unknown>[]>>();
  const userEmail = publisher.email;
  expect(apiKeys).toContainEqual(
    expect.objectContaining({ id: publisher.apiKeyId, userEmail, ...limits, state: 'active' }),
  );
  expect(apiKeys?.find(({ id }) => id === publisher.apiKeyId)?.['prefix']).toBe(
    publisher.apiKey.slice(0, 11),
  );
  expect(accessTokens).toContainEqual(expect.objectContaining({ id: publisher.accessTokenId, userEmail }));
  expect(answer.text).not.toContain(publisher.apiKey);
  expect(answer.text).not.toContain(other.owner.apiKeyId);

  for (const [kind, foreign, own] of [
    ['api-keys', other.owner.apiKeyId, publisher.apiKeyId],
    ['access-tokens', other.owner.accessTokenId, publisher.accessTokenId],
  ]) {
    const path = `/console/members/${kind}`;
    expect((await visitor.send('DELETE', `${path}/${foreign}`)).status).toBe(404);
    const revoked = await visitor.send('DELETE', `${path}/${own}`);
    expect(revoked.json()).toMatchObject({ success: true, record: { id: own, state: 'revoked' } });
  }
  await vi.waitFor(async () => expect((await service.send(list)).status).toBe(401), { timeout: 60_000 });
  const entries = await fixture.sql<{ action: string; target_id: string }>(
    `SELECT action, target_id FROM audit_entry WHERE workspace_id = $1 AND action LIKE '%.revoked' ORDER BY at`,
    [workspace.id],
  );
  expect(entries).toEqual([
    { action: 'api_key.revoked', target_id: publisher.apiKeyId },
    { action: 'access_token.revoked', target_id: publisher.accessTokenId },
  ]);
});

test('the first steps of a member are ticked by its own keys and leads and by the landing pages and members of its workspace', async () => {
  const workspace = await fixture.createWorkspace();
  const { visitor: owner } = await signInAs(service, workspace, 'owner');
  const { visitor: publisher, member } = await signInAs(service, workspace, 'publisher');
  await fixture.leads.insert([workspace.lead(workspace.owner)]);
  await fixture.sql('DELETE FROM api_key WHERE user_id = $1', [member.userId]);
  const stepsOf = async (visitor: typeof owner) => (await visitor.get('/first-steps')).json<object>();
  expect(await stepsOf(owner)).toEqual({
    isNew: true,
    apiKey: true,
    lead: true,
    landingPage: false,
    invitation: true,
  });
  // A publisher sees no lead of others, and cannot map and invite.
  expect(await stepsOf(publisher)).toEqual({ isNew: true, apiKey: false, lead: false });
  await workspace.mapLandingPage('unmapped', null);
  expect(await stepsOf(owner)).toMatchObject({ landingPage: false });
  await workspace.mapLandingPage('mapped', workspace.demoCampaignId);
  expect(await stepsOf(owner)).toMatchObject({ landingPage: true });
  await fixture.leads.insert(Array.from({ length: 99 }, () => workspace.lead(workspace.owner)));
  expect(await stepsOf(owner)).toMatchObject({ isNew: false });

  const alone = await openWorkspace();
  expect(await stepsOf(alone.owner.visitor)).toMatchObject({
    lead: false,
    landingPage: false,
    invitation: false,
  });
  await alone.owner.callOrganization('invite-member', {
    email: `${randomUUID()}@example.com`,
    role: 'manager',
  });
  expect(await stepsOf(alone.owner.visitor)).toMatchObject({ invitation: true });
});
