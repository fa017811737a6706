import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeadEvent } from '@leads/core/event';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type Service, type ServiceName, startService } from '@leads/local-stack/processes/services';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../src/otlp-receiver.ts';
import { createPath, Gateway, type Ground, leadBody, prepareGround } from '../src/running-stack.ts';
import { createServiceRoles, type ServiceRoles } from '../src/service-roles.ts';
import { readStream } from '../src/stream.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-tracing-'));
const soon = { timeout: 30_000, interval: 50 };
const kinds = { server: 2, client: 3, producer: 4 };

let ground: Ground;
let nats: LocalNats;
let gateway: Gateway;
/** What each service may do in Postgres: a trace takes no more. */
let roles: ServiceRoles;
let receiver: OtlpReceiver;
let env: Record<string, string>;
/** Both services, with traces. */
let pair: Readonly<Record<ServiceName, Service>>;

beforeAll(async () => {
  ground = await prepareGround();
  nats = await startNats({ binary: await findNatsServer(), dataDir: directory });
  gateway = new Gateway(ground.databaseUrl, await freePort());
  await gateway.open();
  roles = await createServiceRoles(gateway.url);
  receiver = await startOtlpReceiver();
  env = {
    ...ground.env,
    NATS_URL: nats.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  const [crm, intake] = await Promise.all([
    startService('crm', { env: { ...env, DATABASE_URL: roles.crm } }),
    startService('intake', { env: { ...env, DATABASE_URL: roles.intake } }),
  ]);
  pair = { crm, intake };
});
afterAll(async () => {
  await Promise.all([pair.crm.stop(), pair.intake.stop()]);
  await nats.kill();
  await roles[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function start(name: ServiceName, settings: Record<string, string | undefined> = {}): Promise<Service> {
  const service = await startService(name, { env: { ...env, DATABASE_URL: roles[name], ...settings } });
  onTestFinished(() => service.stop());
  return service;
}

/** A trace that a caller has begun. */
function newTrace(isSampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}` };
}

/** @returns the lead's id. */
async function create({ name, url }: Service, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${url}${createPath[name]}`, {
    method: 'POST',
    headers: { ...ground.workspace.owner.headers, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(leadBody(name)),
  });
  expect(response.status).toBe(200);
  const answer = (await response.json()) as { order_id: string; lead: { id: string } };
  return name === 'crm' ? answer.lead.id : answer.order_id;
}

const spansOf = (traceId: string) => receiver.spans().filter((span) => span.traceId === traceId);
const eventsOf = async (leadId: string) => {
  const messages = await readStream(nats.url, 'LEADS');
  return messages
    .map(({ data, traceparent }) => ({ event: data as LeadEvent, traceparent }))
    .filter(({ event }) => event.subject === leadId);
};

describe('traces', { timeout: 120_000 }, () => {
  test('go from a request to the intake through the outbox to its event, also through the buffer', async () => {
    const { crm, intake } = pair;
    const expectWhole = async (leadId: string, trace: ReturnType<typeof newTrace>) => {
      await expect
        .poll(
          () =>
            spansOf(trace.traceId)
              .map(({ name }) => name)
              .toSorted(),
          soon,
        )
        .toEqual(['INSERT lead', 'POST /api/v1/leads', 'send lead.created']);
      const spans = spansOf(trace.traceId);
      const server = spans.find(({ kind }) => kind === kinds.server);
      const under = { parentSpanId: server?.spanId };
      expect(server).toMatchObject({
        service: 'leads-intake',
        parentSpanId: trace.spanId,
        attributes: {
          'http.request.method': 'POST',
          'http.route': '/api/v1/leads',
          'http.response.status_code': 200,
        },
      });
      expect(spans.filter(({ kind }) => kind === kinds.client)).toMatchObject([
        { ...under, service: 'leads-intake' },
      ]);
      expect(spans.filter(({ kind }) => kind === kinds.producer)).toMatchObject([
        { ...under, service: 'leads-crm', attributes: { 'messaging.message.id': `${leadId}.1` } },
      ]);
      const carried = `00-${trace.traceId}-${server?.spanId}-01`;
      expect(
        (await eventsOf(leadId)).map(({ event, traceparent }) => [event.traceparent, traceparent]),
      ).toEqual([[carried, carried]]);
    };

    const traces = Array.from({ length: 20 }, () => newTrace());
    const ids = await Promise.all(traces.map(({ traceparent }) => create(intake, { traceparent })));
    for (const [at, trace] of traces.entries()) await expectWhole(ids[at] ?? '', trace);
    expect(receiver.received[0]).toContain('"x-key":"a key"');

    await gateway.close();
    const buffered = newTrace();
    const id = await create(intake, { traceparent: buffered.traceparent });
    await gateway.open();
    // Of the insert that failed there is a span as well.
    await expect
      .poll(() => spansOf(buffered.traceId).some(({ kind }) => kind === kinds.producer), soon)
      .toBe(true);
    const server = spansOf(buffered.traceId).find(({ kind }) => kind === kinds.server);
    expect((await eventsOf(id)).map(({ event }) => event.traceparent)).toEqual([
      `00-${buffered.traceId}-${server?.spanId}-01`,
    ]);

    // What the CRM is told to do as well.
    const [creating, changing] = [newTrace(), newTrace()];
    const made = await create(crm, { traceparent: creating.traceparent });
    const changed = await fetch(`${crm.url}/api/v1/order/leads/${made}`, {
      method: 'PATCH',
      headers: {
        ...ground.workspace.owner.headers,
        'Content-Type': 'application/json',
        traceparent: changing.traceparent,
      },
      body: '{"status":"Approved"}',
    });
    expect(changed.status).toBe(200);
    await expect
      .poll(async () => (await eventsOf(made)).map(({ event }) => event.traceparent), soon)
      .toEqual([expect.stringContaining(creating.traceId), expect.stringContaining(changing.traceId)]);
  });

  test('begin where none comes with a request, and follow what was decided about sampling', async () => {
    const { intake } = pair;
    const unsampled = newTrace(false);
    const ofNone = await create(intake);
    const ofWrong = await create(intake, { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` });
    const ofUnsampled = await create(intake, { traceparent: unsampled.traceparent });
    const ofOther = await fetch(`${intake.url}/health/ready`, {
      headers: { traceparent: newTrace().traceparent },
    });
    expect(ofOther.status).toBe(200);
    for (const id of [ofNone, ofWrong]) {
      await expect.poll(() => eventsOf(id), soon).toHaveLength(1);
      const [{ event } = {}] = await eventsOf(id);
      expect(event?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      const [, traceId = ''] = event?.traceparent?.split('-') ?? [];
      await expect.poll(() => spansOf(traceId), soon).toHaveLength(3);
      const server = spansOf(traceId).find(({ kind }) => kind === kinds.server);
      expect(server?.parentSpanId || undefined).toBeUndefined();
      await expect
        .poll(
          () =>
            intake
              .output()
              .split('\n')
              .filter((line) => line.includes(`"trace_id":"${traceId}"`)),
          soon,
        )
        .toEqual([expect.stringContaining('"msg":"Request"')]);
    }
    await expect.poll(() => eventsOf(ofUnsampled), soon).toHaveLength(1);
    expect(
      (await eventsOf(ofUnsampled)).map(({ event, traceparent }) => [event.traceparent, traceparent]),
    ).toEqual([[undefined, undefined]]);
    expect(spansOf(unsampled.traceId)).toEqual([]);
    expect(receiver.spans().filter(({ name }) => name.includes('health'))).toEqual([]);
  });

  test('are not without the setting', async () => {
    const intake = await start('intake', { OTEL_EXPORTER_OTLP_ENDPOINT: undefined });
    const trace = newTrace();
    const id = await create(intake, { traceparent: trace.traceparent });
    await expect.poll(() => eventsOf(id), soon).toHaveLength(1);
    expect((await eventsOf(id)).map(({ event, traceparent }) => [event.traceparent, traceparent])).toEqual([
      [undefined, undefined],
    ]);
    await intake.stop();
    expect(spansOf(trace.traceId)).toEqual([]);
    expect(intake.output()).not.toContain('trace_id');
  });

  test('that cannot be told hold up no request and no end, and are told of once', async () => {
    const intake = await start('intake');
    const told = (text: string) =>
      intake
        .output()
        .split('\n')
        .filter((line) => line.includes(text)).length;
    receiver.status = 400;
    onTestFinished(() => {
      receiver.status = 200;
    });
    await expect
      .poll(async () => {
        await create(intake);
        return told('Trace export failed');
      }, soon)
      .toBe(1);
    const before = receiver.received.length;
    await expect
      .poll(async () => {
        await create(intake);
        return receiver.received.length;
      }, soon)
      .toBeGreaterThan(before + 2);
    expect([told('Trace export failed'), told('Trace export works again')]).toEqual([1, 0]);
    receiver.status = 200;
    await expect
      .poll(async () => {
        await create(intake);
        return told('Trace export works again');
      }, soon)
      .toBe(1);
    expect(told('Trace export failed')).toBe(1);

    const nobody = await start('intake', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    });
    await create(nobody);
    await nobody.stop();
    expect(await nobody.exited).toEqual({ code: 0, signal: null });
  });
});
