import { constants, getPriority } from 'node:os';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryView, PostbackView, WebhookView } from '@leads/core/delivery';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startTcpProxy } from '@leads/local-stack/processes/tcp-proxy';
import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import { createServiceRoles } from '@leads/test-kit/service-roles';
import { createEmptyDatabase } from '@leads/test-kit/test-database';
import {
  answering,
  type Received,
  startReceiver,
  verified,
  type WebhookReceiver,
} from '@leads/test-kit/webhook-receiver';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { runLeads, startLeads } from './command-line.ts';
import { startCrm } from './crm.ts';
import { leadsApi } from './leads-api.ts';

const secret = 'a secret of the command line, of more than 32 characters';
const deliveries = {
  DELIVERIES_SECRET: secret,
  DELIVERIES_ALLOW_HTTP: 'true',
  DELIVERIES_ALLOW_NETWORKS: '127.0.0.1',
};
const crm = await startCrm({ ...deliveries, CRM_DELIVERIES: 'false' });
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture, databaseUrl } = crm;
const leads = leadsApi(service);
const env = { ...deliveries, DATABASE_URL: databaseUrl };

const workspace = await fixture.createWorkspace();
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await fixture.sql('DELETE FROM delivery_endpoint');
  await receiver[Symbol.asyncDispose]();
});

async function json<Value>(...args: string[]): Promise<Value> {
  const { code, stdout, stderr } = await runLeads([...args, '--workspace', workspace.slug, '--json'], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Value;
}
const failure = (...args: string[]) => failureOf(1, args);
const usageError = (...args: string[]) => failureOf(2, args);
async function failureOf(expected: number, args: readonly string[]): Promise<string> {
  const { code, stderr } = await runLeads([...args, '--workspace', workspace.slug], env);
  expect(code).toBe(expected);
  return stderr;
}
const create = (...args: string[]) =>
  json<WebhookView & { secret: string }>('webhook', 'create', '--url', `${receiver.url}/hook`, ...args);
const listed = (id: string, ...args: string[]) => json<DeliveryView[]>('webhook', 'deliveries', id, ...args);

async function createLead(): Promise<string> {
  const { name, phone } = personalData;
  const answer = await leads.create(workspace.owner, { name, phone });
  return answer.json<{ lead: { id: string } }>().lead.id;
}

function isVerified(request: Received, signing: string): boolean {
  try {
    verified(request, signing);
    return true;
  } catch {
    return false;
  }
}

/** Starts `leads deliver`, and waits until it runs. */
async function startDeliverer(more: NodeJS.ProcessEnv = {}) {
  const process = startLeads(['deliver'], { ...env, ...more });
  await expect.poll(process.stderr).toContain('Sending webhooks');
  return process;
}

test('`leads webhook` creates, lists, tests and recovers, and `leads deliver` sends until SIGTERM', async () => {
  const { id, secret: signing } = await create('--event', 'lead.created', '--campaign', 'DEMO', '--imports');
  expect(await json<WebhookView[]>('webhook', 'list')).toMatchObject([
    {
      id,
      url: `${receiver.url}/hook`,
      events: ['lead.created'],
      campaignCodes: ['DEMO'],
      includesImports: true,
    },
  ]);
  // A single delivery: the answer of another one could disable the webhook again.
  const tested = await json<DeliveryView>('webhook', 'test', id);
  expect(tested).toMatchObject({ event: 'webhook.test', state: 'waiting' });
  receiver.answer = answering(410);
  const process = await startDeliverer();
  expect(getPriority(process.child.pid)).toBe(constants.priority.PRIORITY_BELOW_NORMAL);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await expect
    .poll(async () => (await json<WebhookView[]>('webhook', 'list'))[0]?.disabledReason)
    .toBe('receiver');
  for (const request of receiver.received) {
    expect(verified(request, signing)).toMatchObject({ type: 'webhook.test' });
  }
  expect(await failure('webhook', 'recover', id, '--since', '1d')).toContain('The webhook is disabled');
  await fixture.sql('UPDATE delivery_endpoint SET disabled_at = NULL, disabled_reason = NULL');
  receiver.answer = answering(200);
  const lead = await createLead();
  await json('webhook', 'recover', id, '--since', '1d');
  await expect
    .poll(async () => (await listed(id)).map(({ event, state }) => `${event} ${state}`).toSorted())
    .toEqual(['lead.created delivered', 'webhook.test delivered']);
  expect(await listed(id, '--lead', lead)).toMatchObject([{ leadId: lead, statusCode: 200 }]);
  process.child.kill('SIGTERM');
  const { code, stderr } = await process.ended;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/Disabled webhook .*\nStopping\n$/s)]);
  const entries = await service.send({ path: '/api/v1/audit', headers: { ...workspace.owner.headers } });
  expect(entries.json<{ action: string; source: string }[]>()).toMatchObject([
    { action: 'webhook.recovered', source: 'cli', targetId: id },
    { action: 'webhook.created', source: 'cli', targetId: id },
  ]);
});

test('a killed `leads deliver` loses no event, and what it sent twice has the same webhook-id', async () => {
  const { id, secret: signing } = await create();
  // No answer before the process is killed.
  receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 200);
  const first = await startDeliverer();
  const created: string[] = [];
  for (let i = 0; i < 40; i++) created.push(await createLead());
  await expect.poll(() => receiver.received.length).toBeGreaterThan(4);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const [before] = await fixture.sql<{ leased: number; unplanned: number }>(
    `SELECT count(lease_id)::int AS leased, count(*)::int AS waiting FROM delivery WHERE state = 'waiting'`,
  );
  expect(before?.leased).toBeGreaterThan(0);
  // Also a change of a lead after the worker was killed.
  const [changed = ''] = created;
  await leads.edit(workspace.owner, changed, { status: 'Approved' });
  receiver.answer = answering(204);
  const second = await startDeliverer();
  await sleep(500);
  // The lease of the killed process ends.
  await fixture.sql('UPDATE delivery SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
  const expected = [...created.map((lead) => `evt_${lead}_1`), `evt_${changed}_2`].toSorted();
  await expect
    .poll(async () => (await listed(id, '--state', 'delivered', '--limit', '100')).length)
    .toBe(expected.length);
  const sent = receiver.received.map(({ headers }) => headers['webhook-id'] ?? '');
  expect([...new Set(sent)].toSorted()).toEqual(expected);
  expect(sent.length).toBeGreaterThan(expected.length);
  for (const request of receiver.received) verified(request, signing);
  second.child.kill('SIGTERM');
  expect((await second.ended).code).toBe(0);
});

test('`leads deliver` without a port outlasts an outage of Postgres, and sends again after it', async () => {
  const { id } = await create();
  const url = new URL(databaseUrl);
  const postgresPort = Number(url.port);
  await using proxy = await startTcpProxy({ port: postgresPort });
  url.port = String(proxy.port);
  const process = await startDeliverer({ DATABASE_URL: url.href });
  // Nothing listens on this port.
  proxy.leadTo(await freePort());
  proxy.cut();
  await expect.poll(process.stderr).toContain('Deliveries failed in the database; retrying');
  const lead = await createLead();
  proxy.leadTo(postgresPort);
  await expect.poll(async () => listed(id, '--lead', lead)).toMatchObject([{ state: 'delivered' }]);
  proxy.leadTo(await freePort());
  proxy.cut();
  process.child.kill('SIGTERM');
  expect((await process.ended).code).toBe(0);
});

test('`leads deliver` names `leads migrate` while the database has no tables', async () => {
  await using empty = await createEmptyDatabase();
  const process = await startDeliverer({ DATABASE_URL: empty.url });
  await expect.poll(process.stderr).toContain('run `leads migrate`');
  process.child.kill('SIGTERM');
  expect((await process.ended).code).toBe(0);
});

test('`leads deliver` needs only the database role of the CRM, and serves health and metrics on DELIVER_PORT', async () => {
  await using roles = await createServiceRoles(databaseUrl);
  const port = String(await freePort());
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await create('--event', 'lead.status_changed', '--status', 'Approved');
  const process = await startDeliverer({ DATABASE_URL: roles.crm, DELIVER_PORT: port });
  for (const path of ['/health/live', '/health/ready']) expect((await get(path)).status).toBe(200);
  expect((await get('/api/v1/webhooks')).status).toBe(404);
  const lead = await createLead();
  await leads.edit(workspace.owner, lead, { status: 'Approved' });
  await expect
    .poll(() => receiver.received.map(({ headers }) => headers['webhook-id']))
    .toEqual([`evt_${lead}_2`]);
  const metrics = async () => parseMetrics(await (await get('/metrics')).text());
  await expect
    .poll(async () => sumOf((await metrics()).samples, 'delivery_attempts_total', { result: 'delivered' }))
    .toBe(1);
  const { samples, families } = await metrics();
  expect(sumOf(samples, 'delivery_attempt_duration_seconds_count')).toBe(1);
  expect([...families.keys()]).toEqual(
    expect.arrayContaining(['deliveries_waiting', 'delivery_lag_seconds', 'db_client_connections']),
  );
  process.child.kill('SIGTERM');
  expect(await process.ended).toMatchObject({ code: 0, stderr: 'Sending webhooks\nStopping\n' });
});

test('`leads webhook reencrypt` replaces DELIVERIES_SECRET, also after an interruption, and names the webhooks that need another secret', async () => {
  const rotated = { ...env, DELIVERIES_SECRET: 'the next secret of the command line, 32 characters' };
  const both = { ...rotated, DELIVERIES_PREVIOUS_SECRET: secret };
  const run = async (settings: NodeJS.ProcessEnv, ...args: string[]) => {
    const { code, stdout, stderr } = await runLeads(['webhook', 'reencrypt', '--json', ...args], settings);
    return { code, stderr, ...(JSON.parse(stdout) as object) };
  };
  const { headers } = workspace.owner;
  const send = (path: string, body: object) =>
    service.send({ method: 'POST', path: `/api/v1/webhooks${path}`, headers: { ...headers }, body });
  const created = await send('', {
    url: receiver.url,
    events: ['lead.created'],
    headers: { 'X-Key': 'opaque value' },
  });
  const { webhook, secret: signing } = created.json<{ webhook: WebhookView; secret: string }>();
  expect((await send(`/${webhook.id}/rotate-secret`, {})).status).toBe(200);
  const others = [await create(), await create()];
  const ids = [webhook.id, ...others.map(({ id }) => id)].toSorted();

  const refused = await run(rotated);
  expect(refused).toMatchObject({ code: 1, current: 0, reencrypted: 0, unreadable: ids });
  expect(refused.stderr).toContain(
    'DELIVERIES_SECRET and DELIVERIES_PREVIOUS_SECRET do not decrypt 3 webhooks',
  );
  expect(await run(both, '--check')).toMatchObject({
    code: 1,
    outdated: 3,
    stderr: 'error: 3 webhooks need DELIVERIES_PREVIOUS_SECRET: keep it, and run `leads webhook reencrypt`\n',
  });
  // As after an interruption: one webhook is encrypted again, the others are not.
  const [kept] = await fixture.sql<{ secret: string }>('SELECT secret FROM delivery_endpoint WHERE id = $1', [
    webhook.id,
  ]);
  expect(await run(both)).toMatchObject({ code: 0, current: 3, reencrypted: 3, outdated: 0, unreadable: [] });
  await fixture.sql('UPDATE delivery_endpoint SET secret = $2 WHERE id = $1', [webhook.id, kept?.secret]);
  expect(await run(both)).toMatchObject({ code: 0, current: 3, reencrypted: 1 });
  expect(await run(both)).toMatchObject({ code: 0, current: 3, reencrypted: 0 });
  expect(await run(rotated, '--check')).toMatchObject({ code: 0, current: 3, outdated: 0 });

  await createLead();
  const process = await startDeliverer({ DELIVERIES_SECRET: rotated.DELIVERIES_SECRET });
  await expect.poll(() => receiver.received.length).toBe(3);
  const sent = receiver.received.find((request) => request.headers['x-key'] === 'opaque value');
  // The old signing secret is in its overlap.
  expect(sent && verified(sent, signing)).toMatchObject({ type: 'lead.created' });
  for (const other of others) {
    expect(receiver.received.some((request) => isVerified(request, other.secret))).toBe(true);
  }
  process.child.kill('SIGTERM');
  await process.ended;
});

test('`leads postback` manages the postbacks of a workspace and of its members', async () => {
  const { email } = await workspace.addMember('publisher');
  const createPostback = (...args: string[]) => json<PostbackView>('postback', 'create', ...args);
  const options =
    '--form name={name} --status OnHold Paid --campaign DEMO --imports --without-s1 --answer-contains OK --description T';
  const ofWorkspace = await createPostback('--url', `${receiver.url}/p?cid={s1}`, ...options.split(' '));
  expect(ofWorkspace).toMatchObject({
    owner: 'workspace',
    method: 'POST',
    bodyFormat: 'form',
    body: 'name={name}',
    statuses: ['OnHold', 'Paid'],
    campaignCode: 'DEMO',
    includesImports: true,
    sendsWithoutS1: true,
    answerContains: 'OK',
    description: 'T',
  });
  const ofUser = await createPostback('--user', email, '--url', `${receiver.url}/mine?cid={s1}`);
  expect(ofUser).toMatchObject({ owner: 'user', method: 'GET', statuses: ['Approved'] });
  const idsOf = async (...args: string[]) =>
    (await json<PostbackView[]>('postback', 'list', ...args)).map(({ id }) => id);
  expect(await idsOf()).toEqual([ofWorkspace.id, ofUser.id]);
  expect(await idsOf('--user', email)).toEqual([ofUser.id]);
  const table = await runLeads(['postback', 'list', '--workspace', workspace.slug], env);
  expect(table.stdout).toContain(`${ofUser.id}, of ${email}, Approved`);
  expect(table.stdout).toContain(`${ofWorkspace.id}, of the workspace, OnHold, Paid`);
  const refused = ['postback', 'create', '--user', email, '--url', `${receiver.url}/?n={name}`];
  expect(await usageError(...refused)).toMatch(/^error: url must not have \{name\}: only postbacks of the w/);
  expect(await usageError('postback', 'create', '--url', `${receiver.url}/?n={x}`)).toContain(
    'url has the unknown macro {x}; the known macros are {order_id}',
  );
});

test.each(['webhook', 'postback'])(
  '`leads %s` sends again, disables, enables and deletes, in its workspace only',
  async (kind) => {
    const { id } = await json<WebhookView>(kind, 'create', '--url', `${receiver.url}/hook`);
    const tested = await json<DeliveryView>(kind, 'test', id);
    expect(tested).toMatchObject({ event: `${kind}.test`, state: 'waiting', [`${kind}Id`]: id });
    const fail = () =>
      fixture.sql(`UPDATE delivery SET state = 'failed', next_attempt_at = NULL, lease_id = NULL`);
    await fail();
    expect(await json(kind, 'deliveries', id)).toMatchObject([{ id: tested.id, state: 'failed' }]);
    expect(await json(kind, 'resend', tested.id)).toMatchObject({ id: tested.id, state: 'waiting' });
    const other = kind === 'webhook' ? 'postback' : 'webhook';
    expect(await failure(other, 'resend', tested.id)).toBe(
      `error: The workspace has no such delivery of a ${other}: see \`leads ${other} deliveries\`\n`,
    );
    await fail();
    expect(await json(kind, 'recover', id, '--since', '1d')).toEqual({ deliveries: 1 });

    expect(await json(kind, 'disable', id)).toMatchObject({ id, enabled: false, disabledReason: 'user' });
    expect(await failure(kind, 'resend', tested.id)).toContain(`The ${kind} is disabled: enable it first`);
    expect(await json(kind, 'enable', id)).toMatchObject({ id, enabled: true });

    const { slug } = await fixture.createWorkspace();
    for (const [command = '', ...args] of [
      ['test', id],
      ['deliveries', id],
      ['resend', tested.id],
      ['recover', id, '--since', '1d'],
      ['disable', id],
      ['delete', id, '--yes'],
    ]) {
      const { code, stderr } = await runLeads([kind, command, ...args, '--workspace', slug], env);
      expect([command, code, stderr]).toEqual([
        command,
        1,
        expect.stringContaining('The workspace has no such'),
      ]);
    }

    expect(await failure(kind, 'delete', id)).toContain(`No ${kind} was deleted; use --yes`);
    expect(await json(kind, 'delete', id, '--yes')).toMatchObject({ id });
    expect(await json(kind, 'list')).toEqual([]);
    const entries = await service.send({ path: '/api/v1/audit', headers: { ...workspace.owner.headers } });
    const ofEndpoint = entries
      .json<{ action: string; source: string; targetId: string }[]>()
      .filter(({ targetId }) => targetId === id);
    expect(ofEndpoint.map(({ action, source }) => `${source} ${action}`)).toEqual(
      ['deleted', 'changed', 'changed', 'recovered', 'created'].map((action) => `cli ${kind}.${action}`),
    );
  },
);

test('`leads webhook rotate-secret` prints a new secret, and the old one signs during the overlap', async () => {
  const { id, secret: before } = await create();
  const rotate = ['webhook', 'rotate-secret', id, '--overlap'] as const;
  const rotated = await json<WebhookView & { secret: string }>(...rotate, '2h');
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(before);
  const minutes = (Date.parse(rotated.previousSecretUntil ?? '') - Date.now()) / 60_000;
  expect(Math.ceil(minutes / 10)).toBe(12);
  expect(await usageError(...rotate, '8d')).toBe('error: --overlap must be at most 7d\n');
});

test('`leads webhook create` exits with 1 and names the command for a new secret, if its secret cannot be printed', async () => {
  const { child, ended } = startLeads(
    ['webhook', 'create', '--workspace', workspace.slug, '--url', `${receiver.url}/lost`],
    env,
  );
  child.stdout?.destroy();
  const { code, stderr } = await ended;
  expect(code).toBe(1);
  const [, rotate = ''] =
    /^error: The secret is lost: run `leads (webhook rotate-secret \S+ --workspace \S+)`\n$/.exec(stderr) ??
    [];
  expect(await json(...rotate.split(' '))).toMatchObject({ url: `${receiver.url}/lost` });
});

test('names what is wrong with a webhook, and the setting that is missing', async () => {
  expect(await usageError('webhook', 'create', '--url', 'ftp://example.com')).toBe(
    'error: url must have the scheme https or http\n',
  );
  expect(await usageError('webhook', 'create', '--url', receiver.url, '--campaign', 'NONE')).toBe(
    'error: campaignCodes must be the code of a campaign of the workspace\n',
  );
  for (const command of ['test', 'deliveries']) {
    expect(await failure('webhook', command, '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f')).toBe(
      'error: The workspace has no such webhook: see `leads webhook list`\n',
    );
  }
  const without = { DATABASE_URL: databaseUrl };
  const created = await runLeads(
    ['webhook', 'create', '--url', 'https://example.com/', '--workspace', workspace.slug],
    without,
  );
  expect([created.code, created.stderr]).toEqual([
    1,
    'error: Webhooks are not available: the operator must set DELIVERIES_SECRET\n',
  ]);
  const delivering = await runLeads(['deliver'], without);
  expect([delivering.code, delivering.stderr]).toEqual([
    2,
    'error: DELIVERIES_SECRET is required: set it to the value of the CRM service\n',
  ]);
});
