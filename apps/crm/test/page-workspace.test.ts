import { randomUUID } from 'node:crypto';
import { fillPath } from '@leads/test-kit/openapi-document';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { signInAs } from './visitor.ts';
import { signedInRoutesOf } from './website-routes.ts';

/* A page of the website shows one workspace, although another tab may have switched the session to another one. */

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
  '$method $path answers 409 to a page of another workspace',
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

test('requests of a page of the previous workspace change nothing after the session switches to another', async () => {
  const [previous, current] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
  const { visitor: browser, member } = await signInAs(service, previous, 'owner');
  const lead = { name: 'Previous Lead', phone: '1', campaignCode: 'DEMO' };
  await browser.send('POST', '/console/order/leads', lead);
  await current.addMember('owner', { email: member.email });
  const switchTo = (organizationId: string) =>
    browser.account('/organization/set-active', { organizationId });
  const attempts: [method: string, path: string, body?: unknown][] = [
    ['POST', '/console/api-keys', { name: 'A key' }],
    ['POST', '/console/access-tokens', { name: 'A token' }],
    ['POST', '/console/campaigns', { code: 'NEW', name: 'New' }],
    ['POST', '/console/landing-pages', { name: 'new-page' }],
    ['POST', '/console/order/leads', lead],
    ['PATCH', '/console/workspace', { name: 'Renamed' }],
    ['GET', '/console/order/leads'],
    ['GET', `/console/order/leads.csv?workspaceId=${previous.id}`],
    ['GET', `/console/order/leads.ndjson?workspaceId=${previous.id}`],
  ];
  const sendFromPrevious = ([method, path, body]: (typeof attempts)[number]) =>
    browser.send(method, path, body, path.includes('?') ? {} : { 'Workspace-Id': previous.id });
  const stored = () =>
    Promise.all(
      ['api_key', 'access_token', 'campaign', 'landing_page', 'lead'].map((table) =>
        fixture.sql(`SELECT * FROM ${table} WHERE workspace_id = ANY ($1) ORDER BY id`, [
          [previous.id, current.id],
        ]),
      ),
    );

  await switchTo(current.id);
  const before = await stored();
  for (const attempt of attempts) {
    const answer = await sendFromPrevious(attempt);
    expect([...attempt, answer.status, answer.json()]).toEqual([...attempt, 409, otherWorkspace]);
  }
  expect(await stored()).toEqual(before);
  expect((await browser.get('/me')).json()).toMatchObject({
    workspace: { id: current.id, name: current.slug },
    workspaces: [expect.anything(), { id: previous.id, name: previous.slug }, { id: current.id }],
  });

  await switchTo(previous.id);
  for (const attempt of attempts) {
    const answer = await sendFromPrevious(attempt);
    expect([...attempt, answer.status]).toEqual([...attempt, 200]);
  }
});

test('a page of another workspace gets the problem type other_workspace', async () => {
  const answer = await visitor.send('GET', '/console/me', undefined, {
    Accept: 'application/problem+json',
    'Workspace-Id': randomUUID(),
  });
  expect(answer.json()).toMatchObject({ type: 'urn:leads:error:other_workspace', status: 409 });
});
