import { randomUUID } from 'node:crypto';
import { problemMediaType } from '@leads/http/server/problem';
import type { Answer } from '@leads/test-kit/http-client';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { signInAs } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { visitor, member } = await signInAs(service, workspace, 'owner');
const asProblem = { Accept: problemMediaType };

const post = (path: string, body: object) => visitor.send('POST', path, body, asProblem);
const typeOf = (answer: Answer) => [answer.status, answer.json<{ type?: string }>().type];
const refused = [409, 'urn:leads:error:limit_reached'];
const countRows = async (from: string) => (await fixture.sql(`SELECT FROM ${from}`)).length;
/** Stores rows directly, since creating them one by one takes too long. */
const addRows = (into: string, rows: string, count: number) =>
  fixture.sql(`INSERT INTO ${into} SELECT ${rows} FROM generate_series(1, ${count}) AS number`);

test('a workspace has 1,000 active API keys at most, and creates 1,000 a day at most', async () => {
  const create = async () => typeOf(await post('/console/api-keys', { name: 'One more' }));
  const count = await countRows(`api_key WHERE workspace_id = '${workspace.id}'`);
  await addRows(
    'api_key (id, workspace_id, user_id, name, hash, prefix, scope)',
    `gen_random_uuid(), '${workspace.id}', '${member.userId}', 'Key', sha256(gen_random_uuid()::text::bytea), 'lk_aaaaaaaa', 'full'`,
    999 - count,
  );
  expect(await create()).toEqual([200, undefined]);
  expect(await create()).toEqual(refused);
  const keys = `api_key WHERE workspace_id = '${workspace.id}' AND name = 'Key'`;
  await fixture.sql(
    `UPDATE api_key SET revoked_at = now() FROM (SELECT id FROM ${keys}) AS old WHERE api_key.id = old.id`,
  );
  expect(await create()).toEqual(refused);
  await fixture.sql(
    `UPDATE api_key SET created_at = now() - interval '2 days' FROM (SELECT id FROM ${keys}) AS old WHERE api_key.id = old.id`,
  );
  expect(await create()).toEqual([200, undefined]);
});

test('a workspace has 1,000 active access tokens at most', async () => {
  const create = async () => typeOf(await post('/console/access-tokens', { name: 'One more' }));
  const count = await countRows(`access_token WHERE workspace_id = '${workspace.id}'`);
  await addRows(
    'access_token (id, workspace_id, user_id, name, expires_at)',
    `gen_random_uuid(), '${workspace.id}', '${member.userId}', 'Token', now() + interval '1 day'`,
    999 - count,
  );
  expect(await create()).toEqual([200, undefined]);
  expect(await create()).toEqual(refused);
});

test('a publisher has 100 active API keys and access tokens at most and creates 100 a day, so others can create more', async () => {
  const shared = await fixture.createWorkspace();
  const publisher = await signInAs(service, shared, 'publisher');
  const owner = await signInAs(service, shared, 'owner');
  const { userId } = publisher.member;
  for (const [path, table, into, values] of [
    [
      '/console/api-keys',
      'api_key',
      'hash, prefix, scope',
      "sha256(gen_random_uuid()::text::bytea), 'lk_aaaaaaaa', 'full'::api_key_scope",
    ],
    ['/console/access-tokens', 'access_token', 'expires_at', "now() + interval '1 day'"],
  ] as const) {
    const create = async ({ visitor: creator }: typeof publisher) =>
      typeOf(await creator.send('POST', path, { name: 'One more' }, asProblem));
    const ofPublisher = `${table} WHERE user_id = '${userId}'`;
    await addRows(
      `${table} (id, workspace_id, user_id, name, ${into})`,
      `gen_random_uuid(), '${shared.id}', '${userId}', 'Old', ${values}`,
      99 - (await countRows(ofPublisher)),
    );
    expect([path, await create(publisher)]).toEqual([path, [200, undefined]]);
    expect([path, await create(publisher)]).toEqual([path, refused]);
    await fixture.sql(`UPDATE ${table} SET revoked_at = now() WHERE user_id = '${userId}' AND name = 'Old'`);
    expect([path, await create(publisher)]).toEqual([path, refused]);
    expect([path, await create(owner)]).toEqual([path, [200, undefined]]);
  }
});

test('a workspace has 5,000 campaigns at most, also if requests arrive at once', async () => {
  const { id, owner } = await fixture.createWorkspace();
  await addRows(
    'campaign (id, workspace_id, code, name, updated_at)',
    `gen_random_uuid(), '${id}', 'C' || number, 'Campaign', now()`,
    4_997,
  );
  const create = (code: string) =>
    service.send({
      method: 'POST',
      path: '/api/v1/campaigns',
      headers: { ...owner.headers, ...asProblem },
      body: { code, name: 'One more' },
    });
  const answers = await Promise.all(['X1', 'X2', 'X3', 'X4'].map(create));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  expect(typeOf(await create('X5'))).toEqual(refused);
});

test('a workspace has 20,000 landing pages at most, its leads from further pages are stored, and a dismissed page leaves room', async () => {
  const { id, owner } = await fixture.createWorkspace();
  await addRows(
    'landing_page (id, workspace_id, name, updated_at)',
    `gen_random_uuid(), '${id}', 'page-' || number, now()`,
    19_999,
  );
  await fixture.landingPages.add([
    { workspaceId: id, name: 'last' },
    { workspaceId: id, name: 'beyond' },
  ]);
  const names = await fixture.sql<{ name: string }>(
    `SELECT name FROM landing_page WHERE workspace_id = '${id}' AND name IN ('last', 'beyond')`,
  );
  expect(names).toEqual([{ name: 'last' }]);
  const send = async (path: string, body: object) =>
    typeOf(await service.send({ method: 'POST', path, headers: { ...owner.headers, ...asProblem }, body }));
  const register = () => send('/api/v1/landing-pages', { name: 'by hand' });
  expect(await register()).toEqual(refused);
  const last = await fixture.landingPages.find(id, { name: 'last' });
  expect(await send(`/api/v1/landing-pages/${last?.id}/dismissal`, { dismissed: true })).toEqual([
    200,
    undefined,
  ]);
  expect(await register()).toEqual([200, undefined]);
});

test('a workspace has 100 pending invitations at most', async () => {
  await addRows(
    'invitation (id, workspace_id, email, role, status, inviter_id, expires_at)',
    `gen_random_uuid(), '${workspace.id}', 'person-' || number || '@example.com', 'publisher', 'pending', '${member.userId}', now() + interval '1 day'`,
    99,
  );
  const invite = async () =>
    typeOf(
      await post('/auth/organization/invite-member', {
        email: `${randomUUID()}@example.com`,
        role: 'publisher',
        organizationId: workspace.id,
      }),
    );
  expect(await invite()).toEqual([200, undefined]);
  expect(await invite()).toEqual(refused);
});

test('a user owns 50 workspaces at most, also if requests arrive at once', async () => {
  const create = async () => typeOf(await post('/console/workspaces', { name: 'One more' }));
  const count = await countRows(`member WHERE user_id = '${member.userId}' AND role = 'owner'`);
  for (let owned = count; owned < 49; owned++) expect(await create()).toEqual([200, undefined]);
  const answers = await Promise.all([create(), create(), create()]);
  expect(answers.map(([status]) => status === 200).filter(Boolean)).toHaveLength(1);
  expect(await create()).toEqual(refused);
});
