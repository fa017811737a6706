import { randomUUID } from 'node:crypto';
import { fillPath } from '@leads/test-kit/openapi-document';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { signInAs } from './visitor.ts';
import { signedInRoutesOf } from './website-routes.ts';

/* A page of the website is for one workspace, while the session of its browser may have gone on to another. */

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

const otherWorkspace = {
  success: false,
  error: 'validation',
  message: 'This page belongs to another workspace than your current one: nothing was changed',
};

const own = await fixture.createWorkspace();
const { visitor } = await signInAs(service, own, 'owner');

test.for(await signedInRoutesOf(service))(
  '$method $path: nothing for a page of another workspace',
  async ({ method, path }) => {
    const send = (workspaceId: string) =>
      visitor.send(
        method,
        fillPath(path).slice('/api'.length),
        method === 'GET' || method === 'DELETE' ? undefined : {},
        { 'Workspace-Id': workspaceId },
      );
    for (const workspaceId of [randomUUID(), 'x', '', `${own.id}, ${own.id}`]) {
      const answer = await send(workspaceId);
      expect([answer.status, answer.json()]).toEqual([409, otherWorkspace]);
    }
    expect((await send(own.id)).status).not.toBe(409);
  },
);

test('what a page asks for in a workspace that was left is not done in the one that was entered', async () => {
  const [left, entered] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  const { visitor: both, member } = await signInAs(service, left, 'owner');
  const lead = { name: 'Left Lead', phone: '1', campaignCode: 'DEMO' };
  await both.send('POST', '/console/order/leads', lead);
  await entered.addMember('owner', { email: member.email });
  const enter = (organizationId: string) => both.account('/organization/set-active', { organizationId });
  const attempts: [method: string, path: string, body?: unknown][] = [
    ['POST', '/console/api-keys', { name: 'A key' }],
    ['POST', '/console/access-tokens', { name: 'A token' }],
    ['POST', '/console/campaigns', { code: 'NEW', name: 'New' }],
    ['POST', '/console/landing-pages', { name: 'new-page' }],
    ['POST', '/console/order/leads', lead],
    ['PATCH', '/console/workspace', { name: 'Renamed' }],
    ['GET', '/console/order/leads'],
    ['GET', `/console/order/leads.csv?workspaceId=${left.id}`],
    ['GET', `/console/order/leads.ndjson?workspaceId=${left.id}`],
  ];
  const fromLeft = ([method, path, body]: (typeof attempts)[number]) =>
    both.send(method, path, body, path.includes('?') ? {} : { 'Workspace-Id': left.id });
  const stored = () =>
    Promise.all(
      ['api_key', 'access_token', 'campaign', 'landing_page', 'lead'].map((table) =>
        fixture.sql(`SELECT * FROM ${table} WHERE workspace_id = ANY ($1) ORDER BY id`, [
          [left.id, entered.id],
        ]),
      ),
    );

  await enter(entered.id);
  const before = await stored();
  for (const attempt of attempts) {
    const answer = await fromLeft(attempt);
    expect([...attempt, answer.status, answer.json()]).toEqual([...attempt, 409, otherWorkspace]);
  }
  expect(await stored()).toEqual(before);
  expect((await both.get('/me')).json()).toMatchObject({
    workspace: { id: entered.id, name: entered.slug },
    workspaces: [expect.anything(), { id: left.id, name: left.slug }, { id: entered.id }],
  });

  await enter(left.id);
  for (const attempt of attempts) {
    const answer = await fromLeft(attempt);
    expect([...attempt, answer.status]).toEqual([...attempt, 200]);
  }
});

test('which of the refusals it is, its problem type tells', async () => {
  const answer = await visitor.send('GET', '/console/me', undefined, {
    Accept: 'application/problem+json',
    'Workspace-Id': randomUUID(),
  });
  expect(answer.json()).toMatchObject({ type: 'urn:leads:error:other_workspace', status: 409 });
});
