import { randomUUID } from 'node:crypto';
import type { DeliveryView, WebhookRequest, WebhookView } from '@leads/core/delivery';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { statusOfTime, unrepresentableTimes } from '@leads/test-kit/suites/hostile-input';
import {
  answering,
  type Received,
  startReceiver,
  verified,
  type WebhookReceiver,
} from '@leads/test-kit/webhook-receiver';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { apiCalls, leadsApi, problem } from './leads-api.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const leads = leadsApi(service);

let workspace: TestWorkspace;
let owner: TestMember;
let receiver: WebhookReceiver;
beforeEach(async () => {
  workspace = await fixture.createWorkspace();
  owner = workspace.owner;
  receiver = await startReceiver();
});
afterEach(() => receiver[Symbol.asyncDispose]());

const call = apiCalls(service);
const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(owner, method, path, body, headers);

interface Shown {
  readonly webhook: WebhookView;
  readonly secret: string;
}

async function createWebhook(fields: object = {}): Promise<Shown> {
  const answer = await send('POST', '/webhooks', {
    url: `${receiver.url}/hook`,
    events: ['lead.created', 'lead.updated', 'lead.status_changed'],
    ...fields,
  });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json<Shown>();
}
async function createLead(fields: object = {}): Promise<string> {
  const { name, phone } = personalData;
  const answer = await leads.create(owner, { name, phone, ...fields });
  return answer.json<{ lead: { id: string } }>().lead.id;
}
const getWebhook = async ({ webhook }: Shown) =>
  (await send('GET', `/webhooks/${webhook.id}`)).json<{ webhook: WebhookView }>().webhook;
const deliveriesOf = async ({ webhook }: Shown, query = '') =>
  (await send('GET', `/webhooks/${webhook.id}/deliveries${query}`)).json<DeliveryView[]>();
const idOf = ({ headers }: Received) => headers['webhook-id'] ?? '';
async function requests(count: number): Promise<void> {
  await expect.poll(() => receiver.received.length).toBe(count);
}
/** Makes deliveries due that wait for their next attempt. */
const skipPauses = () => fixture.sql(`UPDATE delivery SET next_attempt_at = now() WHERE state = 'waiting'`);

describe('requests', () => {
  test('are the CloudEvents of the stream, signed by Standard Webhooks, with the headers of the webhook', async () => {
    const { secret, webhook } = await createWebhook({ headers: { 'X-Key': 'opaque value' } });
    const id = await createLead();
    await leads.edit(owner, id, { status: 'Approved' });
    await requests(2);
    const events = receiver.received.map((request) => verified(request, secret));
    expect(events.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toMatchObject([
      {
        specversion: '1.0',
        id: `${id}.1`,
        source: `/workspaces/${workspace.id}`,
        type: 'lead.created',
        subject: id,
        data: { lead: { id, status: 'OnHold', version: 1 }, change: { version: 1, to: 'OnHold' } },
      },
      {
        id: `${id}.2`,
        type: 'lead.status_changed',
        data: { lead: { status: 'Approved', version: 2 }, change: { from: 'OnHold', to: 'Approved' } },
      },
    ]);
    for (const { path, headers } of receiver.received) {
      expect(path).toBe('/hook');
      expect(headers).toMatchObject({
        'x-key': 'opaque value',
        'content-type': 'application/cloudevents+json',
      });
    }
    expect(receiver.received.map(idOf).toSorted()).toEqual([`evt_${id}_1`, `evt_${id}_2`]);
    await expect
      .poll(async () => (await deliveriesOf({ secret, webhook }, `?leadId=${id}`)).map(({ state }) => state))
      .toEqual(['delivered', 'delivered']);
    const [delivery] = await deliveriesOf({ secret, webhook }, '?state=delivered&statusCode=204');
    expect(delivery).toMatchObject({ webhookId: webhook.id, attempts: 1, statusCode: 204, leadId: id });
    expect(delivery).not.toHaveProperty('answer');
  });

  test('are in the answer for a delivery as they were sent, also after later changes, but not for a key that cannot read leads', async () => {
    const hook = await createWebhook();
    const leadId = await createLead({ city: 'Rome' });
    await leads.edit(owner, leadId, { status: 'Approved' });
    await leads.edit(owner, leadId, { city: 'Paris' });
    await requests(3);
    const deliveries = await deliveriesOf(hook);
    expect(new Set(deliveries.map(({ version }) => version))).toEqual(new Set([1, 2, 3]));
    const withoutLeads = await workspace.addMember('owner', { scope: ['admin'] });
    for (const { id, messageId, request } of deliveries) {
      const sent = receiver.received.find((each) => idOf(each) === messageId);
      expect(request).toBeUndefined();
      const path = `/deliveries/${id}`;
      expect((await send('GET', path)).json()).toMatchObject({
        delivery: { request: `POST ${hook.webhook.url}\n\n${sent?.body}` },
      });
      const shown = (await send('GET', path, undefined, withoutLeads.headers)).json();
      expect(shown).toMatchObject({ delivery: { id } });
      expect(shown).not.toHaveProperty('delivery.request');
    }
  });

  test('are shown by the preview as they are sent, without the signature and the values of additional headers', async () => {
    const { webhook } = await createWebhook({ headers: { 'X-Key': 'opaque value' } });
    const leadId = await createLead();
    await leads.edit(owner, leadId, { status: 'Approved' });
    await requests(2);
    const preview = (fields: object) =>
      send(
        'POST',
        '/webhooks/preview',
        { url: webhook.url, headerNames: ['X-Key'], leadId, ...fields },
        problem,
      );
    const { request } = (await preview({})).json<{ request: WebhookRequest }>();
    const sent = receiver.received.find((each) => idOf(each).endsWith('_2'));
    expect([request.method, request.url, request.body]).toEqual(['POST', webhook.url, sent?.body]);
    const {
      'X-Key': key,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
      ...same
    } = request.headers as Record<string, string>;
    expect(sent?.headers).toMatchObject(same);
    expect([key, signature]).toEqual(['(hidden)', 'v1,(signature)']);
    expect(Number(timestamp)).toBeGreaterThanOrEqual(Number(sent?.headers['webhook-timestamp']));
    expect((await preview({ leadId: randomUUID() })).status).toBe(404);
    expect((await preview({ url: 'ftp://example.com', headerNames: ['Host'] })).json()).toMatchObject({
      status: 400,
      errors: [{ pointer: '#/url' }, { pointer: '#/headerNames' }],
    });
  });

  test('are signed with both secrets during the overlap of a rotation, and then with the new one only', async () => {
    const { secret, webhook } = await createWebhook();
    const rotate = async (body: object) => {
      const answer = await send('POST', `/webhooks/${webhook.id}/rotate-secret`, body);
      expect(answer.status).toBe(200);
      return answer.json<Shown>();
    };
    const rotated = await rotate({});
    expect(rotated.secret).not.toBe(secret);
    const overlapMs = Date.parse(rotated.webhook.previousSecretUntil ?? '') - Date.now();
    expect(overlapMs).toBeGreaterThan(86_000_000);
    await createLead();
    await requests(1);
    const [both] = receiver.received as [Received];
    expect(verified(both, secret)).toEqual(verified(both, rotated.secret));
    const last = await rotate({ overlapSeconds: 0 });
    await createLead();
    await requests(2);
    const [, one] = receiver.received as [Received, Received];
    expect(verified(one, last.secret)).toMatchObject({ type: 'lead.created' });
    expect(() => verified(one, rotated.secret)).toThrow('No matching signature found');
  });

  test('are limited to the event types, statuses and campaigns of the webhook, and to its workspace', async () => {
    const hook = await createWebhook({
      events: ['lead.created', 'lead.status_changed'],
      statuses: ['Approved'],
      campaignCodes: ['DEMO'],
    });
    await workspace.addCampaign('OTHER');
    const other = await fixture.createWorkspace();
    await fixture.leads.insert([other.lead(other.owner)]);
    await createLead({ campaignCode: 'OTHER' });
    const id = await createLead();
    await leads.edit(owner, id, { city: 'Paris' });
    await leads.edit(owner, id, { status: 'Trashed', reason: 'Wrong number' });
    await leads.edit(owner, id, { status: 'OnHold' });
    await leads.edit(owner, id, { status: 'Approved' });
    await requests(2);
    expect(receiver.received.map(idOf).toSorted()).toEqual([`evt_${id}_1`, `evt_${id}_5`]);
    expect(await deliveriesOf(hook)).toHaveLength(2);
  });

  test('report a duplicate, which is created as Trashed, as created only, because its status has not changed', async () => {
    const created = await createWebhook({
      events: ['lead.created', 'lead.status_changed'],
      statuses: ['Trashed'],
    });
    const changed = await createWebhook({ events: ['lead.status_changed'], statuses: ['Trashed'] });
    const first = workspace.lead(owner);
    const duplicate = { ...workspace.lead(owner), status: 'Trashed' as const, duplicateOf: first.id };
    await fixture.leads.insert([first, duplicate]);
    await requests(2);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { data: { lead: object } });
    expect(bodies.find(({ data }) => 'duplicateOf' in data.lead)).toMatchObject({
      type: 'lead.created',
      data: { lead: { id: duplicate.id, status: 'Trashed', duplicateOf: first.id } },
    });
    await leads.edit(owner, first.id, { status: 'Trashed', reason: 'Wrong number' });
    await requests(4);
    expect([(await deliveriesOf(created)).length, (await deliveriesOf(changed)).length]).toEqual([3, 1]);
  });

  test('report the creation of imported leads only if the webhook includes imports', async () => {
    const without = await createWebhook({ events: ['lead.created'] });
    const including = await createWebhook({ events: ['lead.created'], includesImports: true });
    const { name, phone } = personalData;
    const answer = await send(
      'POST',
      '/order/leads/import',
      `campaignCode,name,phone\r\nDEMO,${name},${phone}\r\nDEMO,${name},${phone}\r\n`,
      { 'Content-Type': 'text/csv' },
    );
    expect(answer.json()).toMatchObject({ accepted: 2 });
    await requests(2);
    await createLead();
    await requests(4);
    expect([(await deliveriesOf(without)).length, (await deliveriesOf(including)).length]).toEqual([1, 3]);
  });
});

describe('failed attempts', () => {
  test('are repeated with the same webhook-id and pauses of the schedule, and their answers are kept', async () => {
    const hook = await createWebhook({ events: ['lead.created'] });
    receiver.answer = answering(500, {}, `broken \0 ${'x'.repeat(2_000)}`);
    const id = await createLead();
    await requests(1);
    const waiting = async () => {
      const [delivery] = await deliveriesOf(hook);
      return delivery;
    };
    await expect.poll(waiting).toMatchObject({ state: 'waiting', attempts: 1, statusCode: 500 });
    const first = (await waiting()) as DeliveryView;
    expect(first.answer).toMatch(/^broken {2}x{900,}$/);
    expect(first.answer?.length).toBe(1_024);
    const pauseMs = Date.parse(first.nextAttemptAt ?? '') - Date.parse(first.lastAttemptAt ?? '');
    expect(pauseMs).toBeGreaterThanOrEqual(4_000);
    expect(pauseMs).toBeLessThanOrEqual(6_000);
    receiver.answer = answering(503, { 'Retry-After': '7200' });
    await skipPauses();
    await requests(2);
    await expect.poll(waiting).toMatchObject({ attempts: 2, statusCode: 503 });
    const second = (await waiting()) as DeliveryView;
    const longPauseMs = Date.parse(second.nextAttemptAt ?? '') - Date.parse(second.lastAttemptAt ?? '');
    expect(Math.round(longPauseMs / 1_000)).toBe(7_200);
    expect(await getWebhook(hook)).toMatchObject({ failures: 2, failingSince: expect.any(String) });
    receiver.answer = answering(200);
    await skipPauses();
    await requests(3);
    await expect.poll(waiting).toMatchObject({ state: 'delivered', attempts: 3, statusCode: 200 });
    expect(await waiting()).not.toHaveProperty('answer');
    expect(await getWebhook(hook)).toMatchObject({ failures: 0, lastSuccessAt: expect.any(String) });
    expect(new Set(receiver.received.map(idOf))).toEqual(new Set([`evt_${id}_1`]));
  });

  test('end after 10 attempts, and a failed delivery can be sent again', async () => {
    const hook = await createWebhook({ events: ['lead.created'] });
    receiver.answer = answering(302, { Location: '/elsewhere' });
    await createLead();
    await requests(1);
    await fixture.sql(
      `UPDATE delivery SET attempts = 9, lease_id = NULL, next_attempt_at = now() WHERE state = 'waiting'`,
    );
    await requests(2);
    await expect
      .poll(() => deliveriesOf(hook))
      .toMatchObject([{ state: 'failed', attempts: 10, statusCode: 302 }]);
    const [failed] = (await deliveriesOf(hook)) as [DeliveryView];
    expect(failed).not.toHaveProperty('nextAttemptAt');
    expect(receiver.received.every(({ path }) => path === '/hook')).toBe(true);
    receiver.answer = answering(200);
    const answer = await send('POST', `/deliveries/${failed.id}/resend`);
    expect(answer.json()).toMatchObject({ success: true, delivery: { id: failed.id, state: 'waiting' } });
    await requests(3);
    await expect
      .poll(async () => (await send('GET', `/deliveries/${failed.id}`)).json())
      .toMatchObject({ delivery: { state: 'delivered', attempts: 1 } });
    expect(new Set(receiver.received.map(idOf)).size).toBe(1);
  });

  test.each([
    ['410', answering(410)],
    ['webhook-delivery: disable', answering(200, { 'webhook-delivery': 'disable' })],
  ])(
    'with the answer %s disable the webhook; what it misses is skipped until it is recovered',
    async (_, answer) => {
      const hook = await createWebhook({ events: ['lead.created'] });
      receiver.answer = answer;
      await createLead();
      await requests(1);
      await expect.poll(() => getWebhook(hook)).toMatchObject({ enabled: false, disabledReason: 'receiver' });
      const missed = await createLead();
      await expect
        .poll(async () => (await deliveriesOf(hook, '?state=skipped')).map(({ leadId }) => leadId))
        .toEqual([missed]);
      receiver.answer = answering(200);
      const path = `/webhooks/${hook.webhook.id}`;
      const since = '2026-01-01T00:00:00Z';
      for (const refused of [
        await send('POST', `${path}/test`),
        await send('POST', `${path}/recover`, { since }),
      ]) {
        expect([refused.status, refused.json<{ message: string }>().message]).toEqual([
          409,
          'The webhook is disabled: enable it first',
        ]);
      }
      const enabled = await send('PATCH', path, { enabled: true });
      expect(enabled.json()).toMatchObject({ webhook: { enabled: true, failures: 0 } });
      const later = await createLead();
      await requests(2);
      expect(idOf(receiver.received[1] as Received)).toBe(`evt_${later}_1`);
      const recovered = await send('POST', `${path}/recover`, { since });
      expect(recovered.json()).toMatchObject({ success: true });
      await expect.poll(() => receiver.received.map(idOf)).toContain(`evt_${missed}_1`);
    },
  );

  test('disable a webhook after 3 days without a success, 20 failures and 12 hours of failures', async () => {
    const hook = await createWebhook({ events: ['lead.created'] });
    // On a busy machine, the default pause ends before the last round. A retry would count as another failure.
    receiver.answer = answering(500, { 'Retry-After': '86400' });
    let count = 0;
    const state = async (failures: number, successDays: number, failingHours: number) => {
      await fixture.sql(
        `UPDATE delivery_endpoint SET failures = $2, enabled_at = now() - interval '30 days',
           last_success_at = now() - $3 * interval '1 day', failing_since = now() - $4 * interval '1 hour' WHERE id = $1`,
        [hook.webhook.id, failures, successDays, failingHours],
      );
      await createLead();
      count += 1;
      await requests(count);
      await expect.poll(async () => (await getWebhook(hook)).failures).toBe(failures + 1);
      return (await getWebhook(hook)).disabledReason;
    };
    expect(await state(18, 4, 13)).toBeUndefined();
    expect(await state(19, 2, 13)).toBeUndefined();
    expect(await state(19, 4, 11)).toBeUndefined();
    expect(await state(19, 4, 13)).toBe('failing');
    // The waiting deliveries of a disabled webhook end as skipped.
    await expect.poll(async () => (await deliveriesOf(hook, '?state=skipped')).length).toBe(4);
  });

  test('of a receiver that refuses connections are listed with a short code', async () => {
    const closed = await startReceiver();
    const hook = await createWebhook({ url: closed.url, events: ['lead.created'] });
    await closed[Symbol.asyncDispose]();
    await createLead();
    await expect
      .poll(() => deliveriesOf(hook))
      .toMatchObject([{ state: 'waiting', attempts: 1, error: 'connection_refused' }]);
  });
});

test('a test event has no lead, and its delivery shows the result', async () => {
  const { secret, webhook } = await createWebhook();
  const answer = await send('POST', `/webhooks/${webhook.id}/test`);
  const { delivery } = answer.json<{ delivery: DeliveryView }>();
  expect(delivery).toMatchObject({
    event: 'webhook.test',
    state: 'waiting',
    messageId: `evt_${delivery.id}`,
  });
  await requests(1);
  const [request] = receiver.received as [Received];
  expect(verified(request, secret)).toEqual({
    specversion: '1.0',
    id: delivery.id,
    source: `/workspaces/${workspace.id}`,
    type: 'webhook.test',
    time: expect.any(String),
    datacontenttype: 'application/json',
    data: {},
  });
  await expect
    .poll(async () => (await send('GET', `/deliveries/${delivery.id}`)).json())
    .toMatchObject({ delivery: { state: 'delivered', statusCode: 204 } });
});

test('an erased lead has no waiting deliveries and no log', async () => {
  const hook = await createWebhook({ events: ['lead.created'] });
  const sent = await createLead();
  await requests(1);
  receiver.answer = answering(500, {}, 'echo');
  const erased = await createLead();
  await requests(2);
  await expect
    .poll(async () => (await deliveriesOf(hook, `?leadId=${erased}`))[0])
    .toMatchObject({ state: 'waiting', answer: 'echo' });
  receiver.answer = answering(200);
  await fixture.sql('SELECT FROM erase_leads($1)', [[erased, sent]]);
  await skipPauses();
  expect(await deliveriesOf(hook)).toEqual([]);
  const last = await createLead();
  await requests(3);
  expect(idOf(receiver.received[2] as Received)).toBe(`evt_${last}_1`);
});

test('a deleted webhook gets nothing more, and its log is deleted', async () => {
  const hook = await createWebhook({ events: ['lead.created'] });
  receiver.answer = answering(500);
  await createLead();
  await requests(1);
  const [delivery] = (await deliveriesOf(hook)) as [DeliveryView];
  expect((await send('DELETE', `/webhooks/${hook.webhook.id}`)).status).toBe(200);
  await skipPauses();
  await createLead();
  for (const path of [`/webhooks/${hook.webhook.id}`, `/deliveries/${delivery.id}`]) {
    expect((await send('GET', path)).status).toBe(404);
  }
  expect((await send('GET', '/webhooks')).json()).toEqual([]);
  const rows = () =>
    fixture.sql(
      `SELECT id FROM delivery WHERE endpoint_id = $1 UNION ALL SELECT id FROM delivery_endpoint WHERE id = $1`,
      [hook.webhook.id],
    );
  await expect.poll(rows).toEqual([]);
  expect(receiver.received).toHaveLength(1);
});

describe('the secret and the headers of a webhook', () => {
  test('are encrypted in Postgres, and shown by no other answer', async () => {
    const { secret, webhook } = await createWebhook({ headers: { 'X-Key': 'opaque value' } });
    const [row] = await fixture.sql<{ row: string }>(
      'SELECT to_jsonb(endpoint)::text AS row FROM delivery_endpoint AS endpoint WHERE id = $1',
      [webhook.id],
    );
    const answers = [
      row?.row,
      (await send('GET', '/webhooks')).text,
      (await send('GET', `/webhooks/${webhook.id}`)).text,
      (await send('PATCH', `/webhooks/${webhook.id}`, { description: 'CRM' })).text,
      (await send('GET', '/audit')).text,
    ];
    for (const text of answers) {
      expect(text).toContain(webhook.id);
      expect(text).not.toContain(secret.slice(6));
      expect(text).not.toContain('opaque value');
    }
    expect(webhook.headerNames).toEqual(['X-Key']);
  });
});

test('the audit log names who created, changed, rotated, recovered and deleted a webhook', async () => {
  const { webhook } = await createWebhook({ url: `${receiver.url}/hook?token=hidden` });
  const path = `/webhooks/${webhook.id}`;
  await send('PATCH', path, { description: 'CRM', enabled: true });
  await send('POST', `${path}/rotate-secret`, {});
  await send('POST', `${path}/recover`, { since: '2026-01-01T00:00:00Z' });
  await send('DELETE', path);
  const entries = (await send('GET', '/audit')).json<{ action: string; details: object }[]>();
  expect(entries.filter(({ action }) => action.startsWith('webhook.'))).toMatchObject([
    { action: 'webhook.deleted', actorId: owner.userId, targetId: webhook.id },
    { action: 'webhook.recovered', details: { since: '2026-01-01T00:00:00Z', deliveries: 0 } },
    { action: 'webhook.secret_rotated' },
    { action: 'webhook.changed', details: { changed: 'description, enabled' } },
    { action: 'webhook.created', details: { host: new URL(receiver.url).host } },
  ]);
  expect(JSON.stringify(entries)).not.toContain('hidden');
});

describe('an invalid webhook is rejected with 400, which names the field', () => {
  test.each<[string, object]>([
    ['#/url', { url: 'not a URL' }],
    ['#/url', { url: 'ftp://127.0.0.1/' }],
    ['#/url', { url: 'http://192.168.1.1/' }],
    ['#/url', { url: 'https://user:password@example.com/' }],
    ['#/url', { url: 'https://example.com/a\nb' }],
    ['#/url', { url: 'https://example.com/a\tb' }],
    ['#/events', { events: [] }],
    ['#/events/0', { events: ['lead.deleted'] }],
    ['#/statuses/0', { statuses: ['Unknown'] }],
    ['#/campaignCodes/1', { campaignCodes: ['DEMO', 'UNKNOWN'] }],
    ['#/headers', { headers: { 'Webhook-Id': 'x' } }],
    ['#/headers', { headers: { Host: 'x' } }],
    ['#/headers', { headers: { 'X Y': 'x' } }],
    ['#/headers', { headers: { 'X-Key': 'x', 'x-key': 'y' } }],
    ['#/headers/X-Key', { headers: { 'X-Key': 'a\nb' } }],
    ['#/headers', { headers: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`X-${i}`, 'x'])) }],
    ['#/description', { description: 'a\u0000b' }],
    ['#/secret', { secret: 'mine' }],
  ])('%s in %j', async (pointer, fields) => {
    const { webhook } = await createWebhook();
    const body = { url: `${receiver.url}/hook`, events: ['lead.created'], ...fields };
    for (const answer of [
      await send('POST', '/webhooks', body, problem),
      await send('PATCH', `/webhooks/${webhook.id}`, fields, problem),
    ]) {
      const { status, errors } = answer.json<{ status: number; errors: { pointer: string }[] }>();
      expect([status, errors.map((each) => each.pointer)]).toEqual([400, [pointer]]);
    }
  });
});

test('a workspace has 20 webhooks at most; deleted ones do not count', async () => {
  const hooks = [];
  for (let i = 0; i < 20; i++) hooks.push(await createWebhook());
  const body = { url: `${receiver.url}/hook`, events: ['lead.created'] };
  expect((await send('POST', '/webhooks', body)).json()).toMatchObject({
    message: 'A workspace may have 20 webhooks',
  });
  await send('DELETE', `/webhooks/${hooks[0]?.webhook.id}`);
  expect((await send('POST', '/webhooks', body)).status).toBe(200);
});

test('an unknown webhook or delivery is answered with 404', async () => {
  for (const id of [randomUUID(), 'x']) {
    for (const [method, path, body] of [
      ['GET', `/webhooks/${id}`],
      ['PATCH', `/webhooks/${id}`, { description: 'x' }],
      ['DELETE', `/webhooks/${id}`],
      ['POST', `/webhooks/${id}/test`],
      ['POST', `/webhooks/${id}/rotate-secret`, {}],
      ['POST', `/webhooks/${id}/recover`, { since: '2026-01-01T00:00:00Z' }],
      ['GET', `/webhooks/${id}/deliveries`],
      ['GET', `/deliveries/${id}`],
      ['POST', `/deliveries/${id}/resend`],
    ] as const) {
      expect([path, (await send(method, path, body)).status]).toEqual([path, 404]);
    }
  }
});

test('a time that cannot be represented is rejected with 400 by the log and the recovery, which accept every year', async () => {
  const { webhook } = await createWebhook();
  const path = `/webhooks/${webhook.id}`;
  for (const [time, status] of statusOfTime) {
    for (const answer of [
      await send('GET', `${path}/deliveries?from=${encodeURIComponent(time)}`),
      await send('GET', `${path}/deliveries?to=${encodeURIComponent(time)}`),
      await send('POST', `${path}/recover`, { since: time }),
      await send('POST', `${path}/recover`, { since: '2026-01-01T00:00:00Z', until: time }),
    ]) {
      expect([time, answer.status, answer.text]).toEqual([time, status, answer.text]);
    }
  }
  const [since] = unrepresentableTimes;
  const refused = await send('POST', `${path}/recover`, { since }, problem);
  expect(refused.json()).toMatchObject({ errors: [{ pointer: '#/since' }] });
});

test('the log has pages, newest first', async () => {
  const hook = await createWebhook({ events: ['lead.created'] });
  for (let i = 0; i < 5; i++) await createLead();
  await expect.poll(async () => (await deliveriesOf(hook, '?state=delivered')).length).toBe(5);
  const all = await deliveriesOf(hook);
  const paged: string[] = [];
  let path: string | undefined = `/webhooks/${hook.webhook.id}/deliveries?limit=2`;
  while (path !== undefined) {
    const answer = await send('GET', path);
    paged.push(...answer.json<DeliveryView[]>().map(({ id }) => id));
    path = /\/api\/v1([^>]*)>; rel="next"/.exec(String(answer.headers['link']))?.[1];
  }
  expect(paged).toEqual(all.map(({ id }) => id));
  expect(all.map(({ createdAt }) => createdAt)).toEqual(
    all
      .map(({ createdAt }) => createdAt)
      .toSorted()
      .toReversed(),
  );
  const [first] = all as [DeliveryView];
  expect(await deliveriesOf(hook, `?from=${first.createdAt}&to=2100-01-01T00:00:00Z`)).toContainEqual(first);
  expect(await deliveriesOf(hook, `?to=${all.at(-1)?.createdAt}`)).toEqual([]);
  expect(await deliveriesOf(hook, '?from=2100-01-01T00:00:00Z')).toEqual([]);
  expect((await send('GET', `/webhooks/${hook.webhook.id}/deliveries?cursor=x`)).status).toBe(400);
});
