import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Broker, NatsSnapshotStore } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { freePort } from '@leads/local-stack/processes/free-port';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { startService } from '@leads/test-kit/services';
import { expect, test } from 'vitest';
import { forgeToken } from '../src/forged-token.ts';
import { type Answer, HttpClient, type TestRequest } from '../src/http-client.ts';
import { startOtlpReceiver } from '../src/otlp-receiver.ts';
import { createPath, DatabaseProxy, prepareEnvironment } from '../src/running-stack.ts';
import { readStream } from '../src/stream.ts';

/**
 * Unique texts to search for in outputs. They consist of letters and digits, so escaping does not change
 * them.
 */
class Seeds {
  readonly #kind: string;
  readonly #texts: string[] = [];

  constructor(kind: string) {
    this.#kind = kind;
  }

  /** Returns a text that occurs nowhere else. */
  next(): string {
    const text = `canary${this.#kind}${this.#texts.length}quux`;
    this.#texts.push(text);
    return text;
  }

  /** Registers an existing text. */
  keep(text: string): string {
    if (text.length < 8) throw new Error('A text of less than 8 characters could occur by chance');
    this.#texts.push(text);
    return text;
  }

  /** Returns the first registered text in `text`, with its context. */
  foundIn(text: string): string | undefined {
    const lower = text.toLowerCase();
    for (const seed of this.#texts) {
      const at = lower.indexOf(seed.toLowerCase());
      if (at !== -1) return `${seed}: ...${text.slice(Math.max(0, at - 200), at + 200)}...`;
    }
    return undefined;
  }
}

/** Credentials and other secrets. */
const secrets = new Seeds('secret');
/** Personal data and other request content. */
const personal = new Seeds('person');

/** Returns a lead with unique texts in known and unknown fields. */
function seededLead(fields: Record<string, unknown> = {}): Record<string, unknown> {
  personal.keep('79460817');
  personal.keep('7946 0817');
  return {
    name: personal.next(),
    phone: '+44 20 7946 0817',
    address: personal.next(),
    s1: personal.next(),
    lp_name: personal.next(),
    [personal.next()]: { [personal.next()]: [personal.next()] },
    ...fields,
  };
}

const seededContact = () => ({
  email: `${personal.next()}@${personal.next()}.io`,
  country: 'GB',
  region: personal.next(),
  city: personal.next(),
  street: personal.next(),
  zipcode: personal.next(),
  website: `https://${personal.next()}.example/`,
  description: personal.next(),
});

/** Returns headers that clients send by themselves. */
function seededHeaders(): Record<string, string> {
  const [cookie, credential] = [secrets.next(), secrets.next()];
  return {
    'User-Agent': personal.next(),
    Referer: `https://example.com/${personal.next()}?phone=${personal.next()}`,
    Cookie: `session=${cookie}; leads.session_token=${cookie}.${credential}`,
    'X-Forwarded-For': personal.keep('198.51.100.117'),
    'X-Forwarded-Host': `${personal.next()}.example`,
    Traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    Tracestate: `vendor=${personal.next()}`,
    Baggage: `user=${personal.next()}`,
    'Accept-Language': personal.next(),
  };
}

const problem = { Accept: 'application/problem+json' };
const pollOptions = { interval: 100 };

test('logs, metrics, traces and errors contain no secret and no personal data, and events contain no secret', async () => {
  await using environment = await prepareEnvironment();
  const { fixture, workspace } = environment;
  const { owner } = workspace;
  for (const member of [owner, await workspace.addMember('publisher')]) {
    secrets.keep(member.apiKey);
    secrets.keep(member.accessToken);
    personal.keep(member.email);
  }
  secrets.keep(owner.accessToken.split('.')[1] ?? '');

  const directory = mkdtempSync(join(tmpdir(), 'leads-canary-'));
  const natsPassword = secrets.next();
  const settings = `authorization { user: canary, password: "${natsPassword}" }`;
  await using nats = await startNats({ binary: await findNatsServer(), dataDir: directory, settings });
  const natsUrl = nats.url.replace('nats://', `nats://canary:${natsPassword}@`);
  await using receiver = await startOtlpReceiver();
  await using databaseProxy = new DatabaseProxy(environment.databaseUrl, await freePort());
  await databaseProxy.open();
  secrets.keep(decodeURIComponent(new URL(environment.databaseUrl).password));

  const output = { crm: '', intake: '' };
  const captureOutput = (service: 'crm' | 'intake') => (text: string) => {
    output[service] += text;
  };
  const metricsToken = secrets.keep(`${secrets.next()}metrics`);
  const env = {
    DATABASE_URL: databaseProxy.url,
    NATS_URL: natsUrl,
    JWT_SECRET: secrets.keep(environment.env['JWT_SECRET'] ?? ''),
    METRICS_TOKEN: metricsToken,
    SMTP_URL: `smtp://mailer:${secrets.next()}@127.0.0.1:1`,
    MAIL_FROM: 'Leads <leads@example.com>',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=otlpkey`,
    OTEL_BSP_SCHEDULE_DELAY: '200',
    TRUST_PROXY: 'loopback',
    LOG_LEVEL: 'trace',
  };
  const crmPort = await freePort();
  const publicUrl = `http://127.0.0.1:${crmPort}`;
  await using crm = await startService('crm', {
    env: { ...env, PUBLIC_URL: publicUrl },
    port: crmPort,
    onOutput: captureOutput('crm'),
  });
  await using intake = await startService('intake', { env, onOutput: captureOutput('intake') });
  const clients = {
    crm: new HttpClient(crmPort),
    intake: new HttpClient(Number(new URL(intake.url).port)),
  };

  const errors: string[] = [];
  const statuses = new Map<string, number>();
  const recordResponse = (service: 'crm' | 'intake', answer: Answer | undefined, repeatsNames = false) => {
    if (answer === undefined) return;
    const key = `${service} ${answer.status}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
    // Problem details repeat the names of unknown fields, and no values.
    if (answer.status >= 400 && !repeatsNames)
      errors.push(`${JSON.stringify(answer.headers)}\n${answer.text}`);
  };
  const send = async (service: 'crm' | 'intake', request: TestRequest, repeatsNames = false) => {
    const answer = await clients[service].send({
      ...request,
      headers: { ...seededHeaders(), ...request.headers },
    });
    recordResponse(service, answer, repeatsNames);
    return answer;
  };
  const create = (
    body: unknown,
    headers: Record<string, string> = {},
    service: 'crm' | 'intake' = 'intake',
  ) =>
    send(service, {
      method: 'POST',
      path: createPath[service],
      headers: { ...owner.headers, 'Idempotency-Key': personal.next(), ...headers },
      body,
    });

  // Valid and invalid leads.
  const created = await create(seededLead({ campaignCode: 'DEMO', ...seededContact() }), {}, 'crm');
  const leadId = created.json<{ lead: { id: string } }>().lead.id;
  expect((await create(seededLead(seededContact()))).status).toBe(200);
  for (const service of ['crm', 'intake'] as const) {
    for (const accept of [{}, problem]) {
      const wrong = { [personal.next()]: 1, name: [personal.next()], phone: { [personal.next()]: 2 } };
      for (const body of [
        wrong,
        seededLead({ campaignCode: personal.next(), email: personal.next() }),
        seededLead({ campaignCode: 'DEMO', name: `${personal.next()}\0` }),
        `{"name": "${personal.next()}", ${personal.next()}`,
        `"${personal.next()}"`,
        seededLead({ name: personal.next().repeat(10_000) }),
      ])
        await create(body, accept, service);
      await create(personal.next(), { ...accept, 'Content-Type': `text/${personal.next()}` }, service);
      await create(
        `name=${personal.next()}`,
        { 'Content-Type': 'application/x-www-form-urlencoded' },
        service,
      );

      // Invalid credentials.
      for (const credentials of [
        { API_KEY: `lk_${secrets.next()}` },
        { API_KEY: owner.apiKey, 'X-API-Key': secrets.next() },
        { API_KEY: owner.apiKey, Authorization: `Bearer ${secrets.next()}` },
        { API_KEY: owner.apiKey, Authorization: `Basic ${secrets.next()}` },
        { Authorization: `Bearer ${secrets.keep(forgeToken({ email: personal.next() }, { secret: 'x' }))}` },
      ])
        await send(service, {
          method: 'POST',
          path: createPath[service],
          headers: { ...accept, ...credentials },
          body: seededLead(),
        });
      await send(service, {
        method: 'POST',
        path: `${createPath[service]}?API_KEY=${owner.apiKey}&${personal.next()}=${personal.next()}`,
        headers: accept,
        body: seededLead(),
      });
      await send(service, {
        path: `/${personal.next()}/${secrets.next()}?q=${personal.next()}`,
        headers: accept,
      });
      await send(service, { path: '/metrics', headers: { Authorization: `Bearer ${secrets.next()}` } });
      for (const head of [
        `GET /${personal.next()} HTTP/1.1\r\nHost: x\r\nbad ${personal.next()}\r\n\r\n`,
        `POST ${createPath[service]} HTTP/1.1\r\nConnection: close\r\nHost: x\r\nHost: ${personal.next()}\r\n\r\n`,
        `GET /%zz${personal.next()} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      ])
        for (const answer of await clients[service].sendRaw(head)) recordResponse(service, answer);
    }
  }

  // A page key, with a honeypot field and with a redirect to another site.
  const { apiKey: pageKey } = await issuePageKey();
  const form = (fields: Record<string, string>) =>
    send('intake', {
      method: 'POST',
      path: `${createPath.intake}?API_KEY=${pageKey}`,
      headers: { Origin: 'https://page.example', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ name: personal.next(), phone: '+44 20 7946 0817', ...fields }).toString(),
    });
  expect((await form({ redirect: `https://page.example/${personal.next()}` })).status).toBe(303);
  await form({ redirect: `https://${personal.next()}.example/` });
  await form({ _gotcha: personal.next() });

  // Lists, searches, changes and files.
  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    send('crm', {
      method,
      path: `/api/v1${path}`,
      headers: { ...owner.headers, ...headers },
      ...(body !== undefined && { body }),
    });
  await api('GET', `/order/leads?q=${personal.next()}&s1=${personal.next()}&lpName=${personal.next()}`);
  await api('GET', `/order/leads?phone=${encodeURIComponent('+44 20 7946 0817')}`);
  await api('GET', `/order/leads?cursor=${personal.next()}`);
  await send(
    'crm',
    { path: `/api/v1/order/leads?${personal.next()}=1`, headers: { ...owner.headers, ...problem } },
    true,
  );
  await api('GET', `/order/leads/${personal.next()}`);
  expect(
    (await api('PATCH', `/order/leads/${leadId}`, { name: personal.next(), ...seededContact() })).status,
  ).toBe(200);
  await api('PATCH', `/order/leads/${leadId}`, {
    email: personal.next(),
    [personal.next()]: personal.next(),
  });
  await api(
    'PATCH',
    `/order/leads/${leadId}`,
    { status: 'Trashed', reason: personal.next() },
    { 'If-Match': `"${personal.next()}"` },
  );
  expect(
    (await api('PATCH', `/order/leads/${leadId}`, { status: 'Trashed', reason: personal.next() })).status,
  ).toBe(200);
  await api('POST', '/order/leads/status', { ids: [personal.next()], status: personal.next() });
  const csv = { 'Content-Type': 'text/csv', 'Idempotency-Key': personal.next() };
  const lines = `name,phone,${personal.next()}\n${personal.next()},+44 20 7946 0817,${personal.next()}\n${personal.next()},,\n"${personal.next()}`;
  const imported = await api('POST', '/order/leads/import?campaignCode=DEMO', lines, csv);
  expect(imported.status).toBe(200);
  await api('POST', `/order/leads/import?campaignCode=${personal.next()}`, lines, csv);
  expect((await api('GET', '/order/leads', undefined, { Accept: 'text/csv' })).status).toBe(200);

  // The website: accounts, and mails that cannot be sent.
  const page = (path: string, body: unknown) =>
    send('crm', {
      method: 'POST',
      path: `/api/auth${path}`,
      headers: { Origin: publicUrl, 'X-Forwarded-Host': `127.0.0.1:${crmPort}` },
      body,
    });
  const email = `${personal.next()}@example.com`;
  const password = secrets.next();
  expect((await page('/sign-up/email', { name: personal.next(), email, password })).status).toBe(200);
  await page('/sign-up/email', { name: personal.next(), email: personal.next(), password: secrets.next() });
  await page('/sign-in/email', { email, password });
  await page('/sign-in/email', { email, password: secrets.next() });
  await page('/sign-in/email', { email, password: [secrets.next()], [personal.next()]: 1 });
  await page('/request-password-reset', { email });
  await page('/reset-password', { newPassword: secrets.next(), token: secrets.next() });
  await send('crm', { path: `/api/auth/verify-email?token=${secrets.next()}` });
  await send('crm', { path: `/reset-password?token=${secrets.next()}` });

  // Postgres quotes a rejected row in its error message.
  const rejectedName = personal.next();
  for (const table of ['lead', '"user"', 'campaign'])
    await fixture.sql(
      `ALTER TABLE ${table} ADD CONSTRAINT canary CHECK (name <> '${rejectedName}') NOT VALID`,
    );
  const account = { name: rejectedName, email: `${personal.next()}@example.com`, password: secrets.next() };
  expect((await page('/sign-up/email', account)).status).toBeGreaterThanOrEqual(400);
  await api('POST', '/campaigns', { code: 'CANARY', name: rejectedName });
  for (const service of ['crm', 'intake'] as const) {
    const body = seededLead({ campaignCode: 'DEMO', name: rejectedName });
    expect(
      (await create(service === 'crm' ? body : { ...body, s1: personal.next() }, {}, service)).status,
    ).toBeGreaterThanOrEqual(400);
  }

  // While Postgres is down, leads are buffered. One of them is rejected when it is stored.
  await using broker = new Broker({ url: natsUrl, name: 'test' });
  await broker.connected(60_000);
  const snapshotStore = new NatsSnapshotStore(broker, { replicas: 1, onError: () => undefined });
  // With the snapshot, the intake knows the landing page. The snapshot is published up to 2 s after the
  // start.
  await expect.poll(() => snapshotStore.find(), pollOptions).toBeDefined();
  await databaseProxy.close();
  await create(seededLead({ campaignCode: 'DEMO' }), {}, 'crm');
  await page('/sign-in/email', { email, password });
  expect((await create(seededLead(seededContact()))).status).toBe(200);
  expect((await create(seededLead({ name: rejectedName }))).status).toBe(200);
  await databaseProxy.open();
  const countOf = async (table: string) =>
    Number((await fixture.sql<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count);
  await expect.poll(() => countOf('lead_quarantine'), pollOptions).toBe(1);
  await expect.poll(() => countOf('lead_outbox'), pollOptions).toBe(0);
  const events = JSON.stringify(await readStream(natsUrl, 'LEADS'));
  await expect
    .poll(() => receiver.spans().some(({ name }) => name === 'send lead.created'), pollOptions)
    .toBe(true);

  const metrics = [];
  for (const service of ['crm', 'intake'] as const) {
    const answer = await clients[service].send({
      path: '/metrics',
      headers: { Authorization: `Bearer ${metricsToken}` },
    });
    expect(answer.status).toBe(200);
    metrics.push(answer.text);
    clients[service].close();
  }
  await Promise.all([crm.stop(), intake.stop()]);
  rmSync(directory, { recursive: true, force: true });

  // Each case has occurred.
  for (const status of [
    'crm 200',
    'crm 400',
    'crm 401',
    'crm 404',
    'crm 503',
    'intake 200',
    'intake 400',
    'intake 401',
    'intake 403',
    'intake 413',
  ])
    expect([status, statuses.get(status) ?? 0]).toEqual([
      status,
      expect.toSatisfy((count: number) => count > 0),
    ]);
  expect(personal.foundIn(events)).toBeDefined();
  const log = output.crm + output.intake;
  for (const line of log.trimEnd().split('\n')) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
  for (const text of ['Request rejected', 'Postgres is unavailable', 'Stopped']) expect(log).toContain(text);

  for (const [sink, text] of Object.entries({
    logs: log,
    metrics: metrics.join('\n'),
    traces: receiver.received.join('\n'),
    errors: errors.join('\n'),
  })) {
    expect([sink, secrets.foundIn(text)]).toEqual([sink, undefined]);
    expect([sink, personal.foundIn(text)]).toEqual([sink, undefined]);
  }
  expect(['events', secrets.foundIn(events)]).toEqual(['events', undefined]);

  async function issuePageKey(): Promise<{ apiKey: string }> {
    const { issueApiKey } = await import('@leads/core/credential');
    const member = { workspaceId: workspace.id, userId: owner.userId };
    const { apiKey } = await issueApiKey(fixture.credentials, member, {
      name: 'Page',
      scope: 'intake',
      allowedOrigins: ['https://page.example'],
    });
    return { apiKey: secrets.keep(apiKey) };
  }
});
