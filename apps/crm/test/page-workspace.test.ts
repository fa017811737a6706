import { randomUUID } from 'node:crypto';
import { fillPath } from '@leads/test-kit/openapi-document';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { signInAs } from './visitor.ts';
import { signedInRoutesOf } from './website-routes.ts';

/* Each page of the website shows the workspace in its address, whichever workspaces other tabs of the session show. */

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

const unknownWorkspace = {
  success: false,
  error: 'error',
  message: 'There is no such workspace, or you are not a member of it: nothing was changed',
};

const own = await fixture.createWorkspace();
const { visitor, member: user } = await signInAs(service, own, 'owner');
const foreign = await fixture.createWorkspace();

test.for(await signedInRoutesOf(service))(
  '$method $path answers 404 to a page of a workspace without the user, unless it concerns only the user',
  async ({ method, path, permission }) => {
    const send = (workspace: string) =>
      visitor.send(
        method,
        fillPath(path).slice('/api'.length),
        method === 'GET' || method === 'DELETE' ? undefined : {},
        { 'Workspace-Id': workspace },
      );
    for (const workspace of [randomUUID(), foreign.slug, 'x', '', `${own.slug}, ${own.slug}`]) {
      const answer = await send(workspace);
      const isRejected = answer.status === 404 && answer.text === JSON.stringify(unknownWorkspace);
      expect([workspace, isRejected]).toEqual([workspace, permission !== 'signedIn']);
    }
    // Pages of the previous release name the workspace by its id.
    for (const workspace of [own.slug, own.id])
      expect((await send(workspace)).text).not.toContain(unknownWorkspace.message);
  },
);

test('each request of a page acts in the workspace that it names, whichever the session opened last', async () => {
  const [first, second] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  const { visitor: browser, member } = await signInAs(service, first, 'owner');
  await second.addMember('owner', { email: member.email });
  const open = (organizationId: string) => browser.account('/organization/set-active', { organizationId });
  const lead = { name: 'A Lead', phone: '1', campaignCode: 'DEMO' };
  const requests: [method: string, path: string, body?: unknown][] = [
    ['POST', '/console/api-keys', { name: 'A key' }],
    ['POST', '/console/access-tokens', { name: 'A token' }],
    ['POST', '/console/campaigns', { code: 'NEW', name: 'New' }],
    ['POST', '/console/landing-pages', { name: 'new-page' }],
    ['POST', '/console/order/leads', lead],
    ['PATCH', '/console/workspace', { name: 'Renamed' }],
  ];
  const stored = async (id: string) => [
    ...(await Promise.all(
      ['api_key', 'access_token', 'campaign', 'landing_page', 'lead'].map((table) =>
        fixture.sql(`SELECT id FROM ${table} WHERE workspace_id = $1 ORDER BY id`, [id]),
      ),
    )),
    await fixture.sql('SELECT name FROM workspace WHERE id = $1', [id]),
  ];

  await open(second.id);
  const [ofFirst, ofSecond] = [await stored(first.id), await stored(second.id)];
  for (const [method, path, body] of requests) {
    const answer = await browser.send(method, path, body, { 'Workspace-Id': first.slug });
    expect([path, answer.status]).toEqual([path, 200]);
  }
  expect(await stored(second.id)).toEqual(ofSecond);
  const changed = await stored(first.id);
  for (const [index, rows] of changed.entries()) expect(rows).not.toEqual(ofFirst[index]);
  for (const [workspace, names] of [
    [first, ['A Lead']],
    [second, []],
  ] as const) {
    const file = await browser.get(`/order/leads.csv?workspaceId=${workspace.slug}`);
    expect(file.text.match(/A Lead/g) ?? []).toEqual(names);
    const me = await browser.send('GET', '/console/me', undefined, { 'Workspace-Id': workspace.slug });
    expect(me.json()).toMatchObject({ workspace: { slug: workspace.slug }, lastWorkspaceId: second.id });
  }
  expect((await browser.get('/me')).json()).toMatchObject({ workspace: { slug: second.slug } });
});

test('a page of an unknown workspace gets the problem type unknown_workspace, and its user without a workspace', async () => {
  const headers = { Accept: 'application/problem+json', 'Workspace-Id': foreign.slug };
  const answer = await visitor.send('GET', '/console/order/leads', undefined, headers);
  expect(answer.json()).toMatchObject({ type: 'urn:leads:error:unknown_workspace', status: 404 });
  const me = (await visitor.send('GET', '/console/me', undefined, headers)).json();
  expect(me).toMatchObject({ workspaces: [expect.anything(), { slug: own.slug }] });
  expect(me).not.toHaveProperty('workspace');
});

test.for([
  ['invite-member', { email: 'ada@example.com', role: 'owner' }],
  ['update-member-role', { memberId: randomUUID(), role: 'owner' }],
  ['remove-member', { memberIdOrEmail: randomUUID() }],
  ['leave', {}],
] as const)('/organization/%s rejects a request that names no workspace with 400', async ([path, body]) => {
  const headers = { Accept: 'application/problem+json' };
  const answer = await visitor.send('POST', `/auth/organization/${path}`, body, headers);
  expect(answer.json()).toMatchObject({
    status: 400,
    type: 'urn:leads:error:invalid_input',
    errors: [{ pointer: '#/organizationId', detail: 'is required' }],
  });
  const members = await fixture.sql('SELECT role FROM member WHERE user_id = $1', [user.userId]);
  expect(members).toHaveLength(2);
  expect(await fixture.sql('SELECT FROM invitation WHERE email = $1', ['ada@example.com'])).toEqual([]);
});
