import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Invalidation } from '@leads/core/invalidation';
import { Broker, Invalidations } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import type { TestMember } from '@leads/test-kit/fixture';
import type { RunningService } from '@leads/test-kit/running-service';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { runLeads } from './command-line.ts';
import { type Crm, startCrm, startCrmService } from './crm.ts';
import { signInAs } from './visitor.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'leads-changes-'));
let binary: string;
let nats: LocalNats;
let crm: Crm;
let other: RunningService;
let listener: Broker;
const received: Invalidation[] = [];

beforeAll(async () => {
  binary = await findNatsServer();
  nats = await startNats({ binary, dataDir });
  crm = await startCrm({ NATS_URL: nats.url });
  other = await startCrmService(crm.databaseUrl, { NATS_URL: nats.url });
  listener = new Broker({ url: nats.url, name: 'test' });
  new Invalidations(listener, () => undefined).subscribe((change) => received.push(change));
  await listener.connected(60_000);
});
afterAll(async () => {
  await listener[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await crm[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Stops the clock of the caches until the end of the test. A cached answer then ends by an invalidation only. */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
}
const soon = { interval: 50 };
const logged = ({ logs }: RunningService, text: string) =>
  logs.entries().filter(({ msg }) => String(msg).startsWith(text));
const list = ({ headers }: TestMember) => other.send({ path: '/api/v1/order/leads', headers });
const statusOf = async (member: TestMember) => (await list(member)).status;

test('other instances reject a revoked API key, a revoked token and a removed member once the invalidation is published', async () => {
  const workspace = await crm.fixture.createWorkspace();
  const owner = await signInAs(crm.service, workspace, 'owner');
  const own = await signInAs(crm.service, workspace, 'manager');
  const leaving = await signInAs(crm.service, workspace, 'publisher');
  const [byKey, byToken] = [own.member, await workspace.addMember('publisher')];
  const removed = await workspace.addMember('publisher');
  stopClock();
  for (const member of [byKey, byToken, removed, leaving.member]) expect(await statusOf(member)).toBe(200);

  expect((await own.visitor.send('DELETE', `/console/api-keys/${byKey.apiKeyId}`)).status).toBe(200);
  await expect.poll(() => statusOf(byKey), soon).toBe(401);

  const env = { DATABASE_URL: crm.databaseUrl, NATS_URL: nats.url };
  const args = ['token', 'revoke', byToken.accessTokenId, '--workspace', workspace.slug];
  expect(await runLeads(args, env)).toMatchObject({ code: 0 });
  await expect.poll(() => statusOf(byToken), soon).toBe(401);

  const members = (await owner.visitor.get('/members')).json<{ id: string; userId: string }[]>();
  const memberIdOrEmail = members.find(({ userId }) => userId === removed.userId)?.id;
  const answer = await owner.visitor.account('/organization/remove-member', {
    memberIdOrEmail,
    organizationId: workspace.id,
  });
  expect(answer.status).toBe(200);
  await expect.poll(() => statusOf(removed), soon).toBe(401);

  await leaving.visitor.account('/organization/leave', { organizationId: workspace.id });
  await expect.poll(() => statusOf(leaving.member), soon).toBe(401);
});

test('other instances apply a changed role once the invalidation is published', async () => {
  const workspace = await crm.fixture.createWorkspace();
  const owner = await signInAs(crm.service, workspace, 'owner');
  const manager = await workspace.addMember('manager');
  const postStatus = async () =>
    (await other.send({ path: '/api/v1/campaigns', method: 'POST', headers: manager.headers, body: {} }))
      .status;
  stopClock();
  expect(await postStatus()).toBe(400);
  const members = (await owner.visitor.get('/members')).json<{ id: string; userId: string }[]>();
  const memberId = members.find(({ userId }) => userId === manager.userId)?.id;
  const role = { memberId, role: 'publisher', organizationId: workspace.id };
  expect((await owner.visitor.account('/organization/update-member-role', role)).status).toBe(200);
  await expect.poll(postStatus, soon).toBe(403);
});

test('a change of a campaign or of a landing page publishes one invalidation of the routes of its workspace', async () => {
  const workspace = await crm.fixture.createWorkspace();
  const { headers } = workspace.owner;
  received.length = 0;
  const campaign = { method: 'PATCH', path: `/api/v1/campaigns/${workspace.demoCampaignId}`, headers };
  expect((await crm.service.send({ ...campaign, body: { status: 'paused' } })).status).toBe(200);
  const routes = { kind: 'routes', workspaceId: workspace.id };
  await expect.poll(() => received).toEqual([routes]);
  const refused = await crm.service.send({ ...campaign, body: { status: 'unknown' } });
  expect(refused.status).toBe(400);
  const page = { method: 'POST', path: '/api/v1/landing-pages', headers };
  expect((await crm.service.send({ ...page, body: { name: 'quiz' } })).status).toBe(200);
  await expect.poll(() => received).toEqual([routes, routes]);
});

test('a revocation does not wait for a frozen broker, and invalidations are delivered again after its restart', async () => {
  const workspace = await crm.fixture.createWorkspace();
  const [first, second] = [await workspace.addMember('manager'), await workspace.addMember('manager')];
  const own = await signInAs(crm.service, workspace, 'manager');
  for (const member of [first, second, own.member]) expect(await statusOf(member)).toBe(200);
  const { port } = nats;
  // On a busy machine, the first connection of an instance may fail before it is connected.
  const unavailable = logged(crm.service, 'NATS is unavailable');
  // The broker stops answering, but its connections stay open.
  process.kill(nats.pid, 'SIGSTOP');
  expect((await own.visitor.send('DELETE', `/console/api-keys/${own.member.apiKeyId}`)).status).toBe(200);
  expect(logged(crm.service, 'NATS is unavailable')).toEqual(unavailable);
  // The other instance refreshes the API key on its own, as without a broker.
  await expect.poll(() => statusOf(own.member), soon).toBe(401);

  await nats.kill();
  const connections = logged(other, 'NATS is connected').length;
  nats = await startNats({ binary, dataDir, port });
  const env = { DATABASE_URL: crm.databaseUrl, NATS_URL: nats.url };
  const connectedAgain = () => logged(other, 'NATS is connected').length > connections;
  await expect.poll(connectedAgain, soon).toBe(true);
  stopClock();
  // Its previous answer has expired, so that this one is cached.
  expect(await statusOf(first)).toBe(200);
  const args = ['key', 'revoke', first.apiKeyId, '--workspace', workspace.slug];
  expect(await runLeads(args, env)).toMatchObject({ code: 0 });
  await expect.poll(() => statusOf(first), soon).toBe(401);
  expect(await statusOf(second)).toBe(200);
});
