import { generateApiKey, issueApiKey } from '@leads/core/credential';
import type { Answer } from '@leads/test-kit/http-client';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startCrm } from './crm.ts';
import { signInAs } from './visitor.ts';

const crm = await startCrm({
  CRM_KEY_REQUESTS_PER_MINUTE: '3',
  CRM_WORKSPACE_REQUESTS_PER_MINUTE: '5',
  UNKNOWN_KEYS_PER_MINUTE: '4',
});
const byDefault = await startCrm({
  CRM_KEY_REQUESTS_PER_MINUTE: undefined,
  CRM_WORKSPACE_REQUESTS_PER_MINUTE: undefined,
});
afterAll(() => Promise.all([crm[Symbol.asyncDispose](), byDefault[Symbol.asyncDispose]()]));
const { service, fixture } = crm;

// The clock of the quotas stops during a test, because a quota of 5 a minute refills by one request in 12 s.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(performance.now()));
afterEach(() => void vi.restoreAllMocks());

const path = '/api/v1/campaigns';
const list = (headers: Readonly<Record<string, string>>) => service.send({ method: 'GET', path, headers });
const limitOf = ({ status, headers }: Answer) => [status, headers['ratelimit-policy'], headers['ratelimit']];
const policies = '"default";q=3;w=60, "workspace";q=5;w=60';

test('rejects an API key beyond its quota with 429 and Retry-After', async () => {
  const { owner } = await fixture.createWorkspace();
  expect(limitOf(await list({ ...owner.headers }))).toEqual([
    200,
    policies,
    '"default";r=2;t=20, "workspace";r=4;t=12',
  ]);
  await list({ ...owner.headers });
  await list({ ...owner.headers });
  const refused = await list({ ...owner.headers });
  expect(limitOf(refused)).toEqual([429, '"default";q=3;w=60', '"default";r=0;t=20']);
  expect(refused.headers['retry-after']).toBe('20');
  expect(refused.json()).toEqual({
    success: false,
    error: 'error',
    message: 'Too many requests with this API key: try again later',
  });
});

test('rejects the keys of a workspace beyond its quota, and not those of another workspace', async () => {
  const workspace = await fixture.createWorkspace();
  const other = await fixture.createWorkspace();
  const { owner } = workspace;
  const { apiKey } = await issueApiKey(fixture.credentials, owner, { name: 'Second' });
  const second = { ...owner.headers, API_KEY: apiKey };
  const statuses = [];
  for (const headers of [owner.headers, owner.headers, owner.headers, second, second]) {
    statuses.push((await list({ ...headers })).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
  const refused = await list(second);
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '12']);
  expect(refused.json()).toMatchObject({ message: 'Too many requests of this workspace: try again later' });
  expect((await list({ ...other.owner.headers })).status).toBe(200);
});

test('counts the requests of a signed-in user against the user and the workspace', async () => {
  const workspace = await fixture.createWorkspace();
  const { visitor, member } = await signInAs(service, workspace, 'owner');
  const answers = [];
  for (let i = 0; i < 4; i++) answers.push(await visitor.get('/campaigns'));
  expect(answers.map(({ status }) => status)).toContain(429);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.json()).toMatchObject({ message: 'Too many requests by this user: try again later' });
  const ofKey = await list({ ...member.headers });
  expect(ofKey.headers['ratelimit']).toMatch(/^"default";r=2;t=20, "workspace";r=1;/);
});

test('rejects the keys and the session of a publisher beyond half of the quota of the workspace, and not those of others', async () => {
  const workspace = await fixture.createWorkspace();
  const { visitor, member } = await signInAs(service, workspace, 'publisher');
  expect((await visitor.get('/campaigns')).status).toBe(200);
  const first = await list(member.headers);
  expect(first.headers['ratelimit-policy']).toBe(
    '"default";q=3;w=60, "publisher";q=3;w=60, "publishers";q=4;w=60, "workspace";q=5;w=60',
  );
  const answers = [];
  for (const name of ['Second', 'Third']) {
    const { apiKey } = await issueApiKey(fixture.credentials, member, { name });
    for (let i = 0; i < 3; i++) answers.push(await list({ ...member.headers, API_KEY: apiKey }));
  }
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.json()).toMatchObject({ message: 'Too many requests of this publisher: try again later' });
  expect((await list(workspace.owner.headers)).status).toBe(200);
});

test('rejects publishers that together exceed three quarters of the quota of the workspace, and not its owner', async () => {
  const workspace = await fixture.createWorkspace();
  const publishers = [await workspace.addMember('publisher'), await workspace.addMember('publisher')];
  const answers = [];
  for (const { headers } of publishers) for (let i = 0; i < 3; i++) answers.push(await list(headers));
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.json()).toMatchObject({
    message: 'Too many requests of the publishers of this workspace: try again later',
  });
  expect((await list(workspace.owner.headers)).status).toBe(200);
});

test('limits a key to 6,000 requests a minute and a workspace to 12,000 by default', async () => {
  const { owner } = await byDefault.fixture.createWorkspace();
  const answer = await byDefault.service.send({ method: 'GET', path, headers: { ...owner.headers } });
  expect(limitOf(answer)).toEqual([
    200,
    '"default";q=6000;w=60, "workspace";q=12000;w=60',
    '"default";r=5999;t=1, "workspace";r=11999;t=1',
  ]);
});

test('rejects unknown API keys of an address beyond their limit with 429, and accepts known keys', async () => {
  const { owner } = await fixture.createWorkspace();
  await list({ ...owner.headers });
  const unknown = () => list({ ...owner.headers, API_KEY: generateApiKey().apiKey });
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push((await unknown()).status);
  expect(statuses).toEqual([401, 401, 401, 401, 429]);
  const refused = await unknown();
  expect(refused.headers['retry-after']).toBe('15');
  expect(refused.json()).toMatchObject({
    message: 'Too many unknown API keys from this address: try again later',
  });
  expect((await list({ ...owner.headers })).status).toBe(200);
});
