import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LeadEvent } from '@leads/core/event';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type Service, type ServiceName, startService } from '@leads/test-kit/services';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../src/otlp-receiver.ts';
import {
  createPath,
  DatabaseProxy,
  leadBody,
  prepareEnvironment,
  type TestEnvironment,
} from '../src/running-stack.ts';
import { createServiceRoles, type ServiceRoles } from '../src/service-roles.ts';
import { readStream } from '../src/stream.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-tracing-'));
const pollOptions = { interval: 50 };
const kinds = { server: 2, client: 3, producer: 4 };

let environment: TestEnvironment;
let nats: LocalNats;
let databaseProxy: DatabaseProxy;
/** The roles of the services in Postgres. Tracing needs no further rights. */
let roles: ServiceRoles;
let receiver: OtlpReceiver;
let env: Record<string, string>;
/** Both services with tracing enabled. */
let services: Readonly<Record<ServiceName, Service>>;

beforeAll(async () => {
  environment = await prepareEnvironment();
  nats = await startNats({ binary: await findNatsServer(), dataDir: directory });
  databaseProxy = new DatabaseProxy(environment.databaseUrl, await freePort());
  await databaseProxy.open();
  roles = await createServiceRoles(databaseProxy.url);
  receiver = await startOtlpReceiver();
  env = {
    ...environment.env,
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
  services = { crm, intake };
});
afterAll(async () => {
  await Promise.all([services.crm.stop(), services.intake.stop()]);
  await nats.kill();
  await roles[Symbol.asyncDispose]();
  await databaseProxy[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await environment[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function start(name: ServiceName, settings: Record<string, string | undefined> = {}): Promise<Service> {
  const service = await startService(name, { env: { ...env, DATABASE_URL: roles[name], ...settings } });
  onTestFinished(() => service.stop());
  return service;
}

/** Returns a trace that a client has started. */
function newTrace(isSampled = true) {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}` };
}

/** Creates a lead. @returns its id. */
async function create({ name, url }: Service, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${url}${createPath[name]}`, {
    method: 'POST',
    headers: { ...environment.workspace.owner.headers, 'Content-Type': 'application/json', ...headers },
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

describe('traces', () => {
  test('connect a request to its insert and, through the outbox, to its event, also if the lead is buffered', async () => {
    const { crm, intake } = services;
    const expectWhole = async (leadId: string, trace: ReturnType<typeof newTrace>) => {
      await expect
        .poll(
          () =>
            spansOf(trace.traceId)
              .map(({ name }) => name)
              .toSorted(),
          pollOptions,
        )
        .toEqual(['INSERT lead', 'POST /api/v1/leads', 'send lead.created']);
      const spans = spansOf(trace.traceId);
      const server = spans.find(({ kind }) => kind === kinds.server);
      const child = { parentSpanId: server?.spanId };
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
        { ...child, service: 'leads-intake' },
      ]);
      expect(spans.filter(({ kind }) => kind === kinds.producer)).toMatchObject([
        { ...child, service: 'leads-crm', attributes: { 'messaging.message.id': `${leadId}.1` } },
      ]);
      const expectedTraceparent = `00-${trace.traceId}-${server?.spanId}-01`;
      expect(
        (await eventsOf(leadId)).map(({ event, traceparent }) => [event.traceparent, traceparent]),
      ).toEqual([[expectedTraceparent, expectedTraceparent]]);
    };

    const traces = Array.from({ length: 20 }, () => newTrace());
    const ids = await Promise.all(traces.map(({ traceparent }) => create(intake, { traceparent })));
    for (const [at, trace] of traces.entries()) await expectWhole(ids[at] ?? '', trace);
    expect(receiver.received[0]).toContain('"x-key":"a key"');

    await databaseProxy.close();
    const buffered = newTrace();
    const id = await create(intake, { traceparent: buffered.traceparent });
    await databaseProxy.open();
    // The failed insert has a span as well.
    await expect
      .poll(() => spansOf(buffered.traceId).some(({ kind }) => kind === kinds.producer), pollOptions)
      .toBe(true);
    const server = spansOf(buffered.traceId).find(({ kind }) => kind === kinds.server);
    expect((await eventsOf(id)).map(({ event }) => event.traceparent)).toEqual([
      `00-${buffered.traceId}-${server?.spanId}-01`,
    ]);

    // Traces also connect changes at the CRM to their events.
    const [creating, changing] = [newTrace(), newTrace()];
    const crmLeadId = await create(crm, { traceparent: creating.traceparent });
    const changed = await fetch(`${crm.url}/api/v1/order/leads/${crmLeadId}`, {
      method: 'PATCH',
      headers: {
        ...environment.workspace.owner.headers,
        'Content-Type': 'application/json',
        traceparent: changing.traceparent,
      },
      body: '{"status":"Approved"}',
    });
    expect(changed.status).toBe(200);
    await expect
      .poll(async () => (await eventsOf(crmLeadId)).map(({ event }) => event.traceparent), pollOptions)
      .toEqual([expect.stringContaining(creating.traceId), expect.stringContaining(changing.traceId)]);
  });

  test('start at a request without a traceparent, and follow the sampling decision of the client', async () => {
    const { intake } = services;
    const unsampled = newTrace(false);
    const withoutParent = await create(intake);
    const withInvalidParent = await create(intake, {
      traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    });
    const withUnsampledParent = await create(intake, { traceparent: unsampled.traceparent });
    const ready = () =>
      fetch(`${intake.url}/health/ready`, { headers: { traceparent: newTrace().traceparent } });
    await expect.poll(async () => (await ready()).status, pollOptions).toBe(200);
    for (const id of [withoutParent, withInvalidParent]) {
      await expect.poll(() => eventsOf(id), pollOptions).toHaveLength(1);
      const [{ event } = {}] = await eventsOf(id);
      expect(event?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      const [, traceId = ''] = event?.traceparent?.split('-') ?? [];
      await expect.poll(() => spansOf(traceId), pollOptions).toHaveLength(3);
      const server = spansOf(traceId).find(({ kind }) => kind === kinds.server);
      expect(server?.parentSpanId || undefined).toBeUndefined();
      await expect
        .poll(
          () =>
            intake
              .output()
              .split('\n')
              .filter((line) => line.includes(`"trace_id":"${traceId}"`)),
          pollOptions,
        )
        .toEqual([expect.stringContaining('"msg":"Request"')]);
    }
    await expect.poll(() => eventsOf(withUnsampledParent), pollOptions).toHaveLength(1);
    expect(
      (await eventsOf(withUnsampledParent)).map(({ event, traceparent }) => [event.traceparent, traceparent]),
    ).toEqual([[undefined, undefined]]);
    expect(spansOf(unsampled.traceId)).toEqual([]);
    expect(receiver.spans().filter(({ name }) => name.includes('health'))).toEqual([]);
  });

  test('are disabled without the endpoint setting', async () => {
    const intake = await start('intake', { OTEL_EXPORTER_OTLP_ENDPOINT: undefined });
    const trace = newTrace();
    const id = await create(intake, { traceparent: trace.traceparent });
    await expect.poll(() => eventsOf(id), pollOptions).toHaveLength(1);
    expect((await eventsOf(id)).map(({ event, traceparent }) => [event.traceparent, traceparent])).toEqual([
      [undefined, undefined],
    ]);
    await intake.stop();
    expect(spansOf(trace.traceId)).toEqual([]);
    expect(intake.output()).not.toContain('trace_id');
  });

  test('that the collector rejects delay no request and no shutdown, and are logged once', async () => {
    const intake = await start('intake');
    const countLogLines = (text: string) =>
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
        return countLogLines('Trace export failed');
      }, pollOptions)
      .toBe(1);
    const before = receiver.received.length;
    await expect
      .poll(async () => {
        await create(intake);
        return receiver.received.length;
      }, pollOptions)
      .toBeGreaterThan(before + 2);
    expect([countLogLines('Trace export failed'), countLogLines('Trace export works again')]).toEqual([1, 0]);
    receiver.status = 200;
    await expect
      .poll(async () => {
        await create(intake);
        return countLogLines('Trace export works again');
      }, pollOptions)
      .toBe(1);
    expect(countLogLines('Trace export failed')).toBe(1);

    const withUnreachableCollector = await start('intake', {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    });
    await create(withUnreachableCollector);
    await withUnreachableCollector.stop();
    expect(await withUnreachableCollector.exited).toEqual({ code: 0, signal: null });
  });
});
