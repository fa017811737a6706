import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type LocalProxy, type ProxyName, proxies, startProxy } from '@leads/local-stack/processes/proxies';
import { type Service, startService } from '@leads/test-kit/services';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseMetrics, sumOf } from '../src/prometheus-text.ts';
import { leadBody, prepareEnvironment, type TestEnvironment } from '../src/running-stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'leads-proxies-'));
const metricsToken = 'a-token-of-the-tests';
let environment: TestEnvironment;
let nats: LocalNats;
let crm: Service;
let intake: Service;
beforeAll(async () => {
  [environment, nats] = await Promise.all([
    prepareEnvironment(),
    findNatsServer().then((binary) => startNats({ binary, dataDir: join(directory, 'nats') })),
  ]);
  const env = {
    ...environment.env,
    NATS_URL: nats.url,
    // Only the proxy is trusted: the clients of these tests have other addresses of this machine.
    TRUST_PROXY: '127.0.0.1',
    METRICS_TOKEN: metricsToken,
    LOG_LEVEL: 'warn',
  };
  [crm, intake] = await Promise.all([startService('crm', { env }), startService('intake', { env })]);
});
afterAll(async () => {
  await intake.stop();
  await crm.stop();
  await nats.stop();
  await environment[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

const portOf = ({ url }: Service) => Number(new URL(url).port);

interface Sent {
  readonly port: number;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a request from the address of a client; resolves with the response when its headers arrive. */
function send({ port, path, headers = {}, body }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const type = { 'Content-Type': 'application/json' };
    request({
      host: '127.0.0.1',
      localAddress: '127.0.0.9',
      port,
      path,
      method,
      headers: { ...type, ...headers },
    })
      .on('response', resolve)
      .on('error', reject)
      .end(body);
  });
}

describe.each(Object.keys(proxies) as ProxyName[])('behind %s,', (name) => {
  let proxy: LocalProxy;
  beforeAll(async () => {
    const upstreams = { crm: [portOf(crm)], intake: [portOf(intake)] };
    proxy = await startProxy(name, { directory: join(directory, name), upstreams });
    for (const port of Object.values(proxy.ports)) {
      const path = '/health/ready';
      await vi.waitUntil(async () => (await send({ port, path })).statusCode === 200, 30_000);
    }
  });
  afterAll(() => proxy[Symbol.asyncDispose]());

  const leads = '/api/v1/order/leads';
  const newLead = async (lead: string) => {
    const { API_KEY } = environment.workspace.owner.headers;
    const body = JSON.stringify(leadBody('intake', { name: lead }));
    const answer = await send({
      port: proxy.ports.intake,
      path: '/api/v1/leads',
      // A forwarded address from the client is not trusted.
      headers: { API_KEY, 'X-Forwarded-For': '203.0.113.7' },
      body,
    });
    return { status: answer.statusCode, answer: JSON.parse(await text(answer)) as { order_id?: string } };
  };

  test("a client creates a lead with its API key, and the lead has the client's address", async () => {
    const { status, answer } = await newLead(`by ${name}`);
    expect([status, answer]).toEqual([200, expect.objectContaining({ order_id: expect.any(String) })]);
    const rows = await environment.fixture.sql('SELECT host(ip) AS ip FROM lead WHERE id = $1', [
      answer.order_id,
    ]);
    expect(rows).toEqual([{ ip: '127.0.0.9' }]);
  });

  test('a client lists leads with its API key and token, and the next link has the requested host', async () => {
    await newLead('one');
    await newLead('two');
    const { headers } = environment.workspace.owner;
    const port = proxy.ports.crm;
    const answer = await send({
      port,
      path: `${leads}?limit=1`,
      headers: { ...headers, Host: 'leads.example:8443' },
    });
    expect(JSON.parse(await text(answer))).toHaveLength(1);
    expect(answer.headers['link']).toContain('<http://leads.example:8443/api/v1/order/leads?');
    const { Authorization } = headers;
    const rejected = await send({ port, path: leads, headers: { Authorization } });
    expect([rejected.statusCode, (await text(rejected)).includes('"unauthorized"')]).toEqual([401, true]);
  });

  test('an event stream delivers an event while it is open', async () => {
    const stream = await send({
      port: proxy.ports.crm,
      path: '/api/v1/events',
      headers: { ...environment.workspace.owner.headers, Accept: 'text/event-stream' },
    });
    expect(stream.statusCode).toBe(200);
    let received = '';
    stream.setEncoding('utf8').on('data', (piece: string) => (received += piece));
    await newLead(`streamed by ${name}`);
    await expect.poll(() => received).toContain(`streamed by ${name}`);
    expect(stream.complete).toBe(false);
    stream.destroy();
  });

  test('imports and exports may be larger than other bodies', async () => {
    const lines = Array.from(
      { length: 1_000 },
      (_, n) => `Import ${name} ${n},+44 20 7946 0958,${'x'.repeat(50)}`,
    );
    const { headers } = environment.workspace.owner;
    const imported = await send({
      port: proxy.ports.crm,
      path: `${leads}/import?campaignCode=DEMO`,
      headers: { ...headers, 'Content-Type': 'text/csv' },
      body: `name,phone,description\n${lines.join('\n')}\n`,
    });
    expect([imported.statusCode, await text(imported)]).toEqual([
      200,
      expect.stringContaining('"accepted":1000'),
    ]);
    const exported = await send({
      port: proxy.ports.crm,
      path: leads,
      headers: { ...headers, Accept: 'text/csv' },
    });
    expect(exported.statusCode).toBe(200);
    const file = await text(exported);
    expect(file.match(new RegExp(`Import ${name} \\d+`, 'g'))).toHaveLength(1_000);
  });

  test('imports of the API and of the website reach the service while the client still sends them', async () => {
    // Caddy sends no response before the end of a body, so the service shows that it has answered.
    const countAnswered = async (route: string, status: number) => {
      const headers = { Authorization: `Bearer ${metricsToken}` };
      const answer = await send({ port: portOf(crm), path: '/metrics', headers });
      const { samples } = parseMetrics(await text(answer));
      return sumOf(samples, 'http_requests_total', { route, status: String(status) });
    };
    for (const [start, status] of [
      ['/api/v1', 401],
      ['/api/console', 403],
    ] as const) {
      for (const end of ['import', 'status/import']) {
        const path = `${start}/order/leads/${end}`;
        const before = await countAnswered(path, status);
        const upload = request({
          host: '127.0.0.1',
          port: proxy.ports.crm,
          path,
          method: 'POST',
          headers: { 'Content-Type': 'text/csv' },
        });
        upload.on('error', () => undefined);
        upload.write('name,phone\n');
        // The service rejects a request without credentials before it reads the body.
        await expect.poll(() => countAnswered(path, status)).toBe(before + 1);
        upload.destroy();
      }
    }
  });

  test('metrics are not public', async () => {
    for (const port of Object.values(proxy.ports)) {
      for (const path of ['/metrics', '/%6Detrics', '/metrics?a=b']) {
        const answer = await send({ port, path });
        // The services answer 401, with a body.
        expect([path, answer.statusCode, (await text(answer)).includes('"error"')]).toEqual([
          path,
          404,
          false,
        ]);
      }
    }
  });
});
