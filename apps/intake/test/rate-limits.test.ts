import { generateApiKey, issueApiKey } from '@leads/core/credential';
import { openFixture } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import { personalData } from '@leads/test-kit/log-check/confidential';
import type { RunningService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startIntakeService } from './intake.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const byDefault = await startIntakeService(database.url);
const limited = await startIntakeService(database.url, {
  INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE: '3',
  INTAKE_VISITOR_REQUESTS_PER_MINUTE: '0',
  INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE: '5',
});
const unlimited = await startIntakeService(database.url, {
  INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE: '0',
  INTAKE_VISITOR_REQUESTS_PER_MINUTE: '0',
});
const perVisitor = await startIntakeService(database.url, {
  INTAKE_BROWSER_KEY_REQUESTS_PER_MINUTE: '20',
  INTAKE_VISITOR_REQUESTS_PER_MINUTE: '1',
  TRUST_PROXY: 'loopback',
});
const ofWorkspace = await startIntakeService(database.url, {
  INTAKE_WORKSPACE_REQUESTS_PER_MINUTE: '2',
  UNKNOWN_KEYS_PER_MINUTE: '4',
});
const services = [byDefault, limited, unlimited, ofWorkspace, perVisitor];
afterAll(async () => {
  await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
const { owner } = await fixture.createWorkspace();

// The clock of the quotas stops during a test, because a quota of 5 a minute refills by one request in 12 s.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(performance.now()));
afterEach(() => void vi.restoreAllMocks());

const offer = 'https://offer.example';
const path = '/api/v1/leads';
const person = { name: personalData.name, phone: personalData.phone };
const issue = async (allowedOrigins: string[]) =>
  (await issueApiKey(fixture.credentials, owner, { name: 'A key', scope: 'intake', allowedOrigins })).apiKey;
const browserKey = () => issue([offer]);
const secretKey = () => issue([]);

const send = (service: RunningService, apiKey: string, body: unknown = person, origin = offer) =>
  service.send({ method: 'POST', path, headers: { API_KEY: apiKey, Origin: origin }, body });

const limitOf = ({ status, headers }: Answer) => [status, headers['ratelimit-policy'], headers['ratelimit']];

test('rejects a key beyond its quota with 429 and Retry-After', async () => {
  const apiKey = await browserKey();
  const policy = '"default";q=3;w=60';
  const answers = [await send(limited, apiKey), await send(limited, apiKey, {}), await send(limited, apiKey)];
  expect(answers.map(limitOf)).toEqual([
    [200, policy, '"default";r=2;t=20'],
    [400, policy, '"default";r=1;t=40'],
    [200, policy, '"default";r=0;t=20'],
  ]);
  for (const { headers } of answers) expect(headers['retry-after']).toBeUndefined();

  const refused = await send(limited, apiKey);
  expect(limitOf(refused)).toEqual([429, policy, '"default";r=0;t=20']);
  expect(refused.headers['ratelimit']).toBe(`"default";r=0;t=${refused.headers['retry-after']}`);
  expect(refused.json()).toEqual({
    success: false,
    error: 'error',
    message: 'Too many requests with this API key: try again later',
  });
  // CORS headers allow the script of the page to read it.
  expect(refused.headers['access-control-allow-origin']).toBe(offer);
  expect(refused.headers['access-control-expose-headers']).toContain(
    'Retry-After, RateLimit, RateLimit-Policy',
  );
});

test('the request log has the requests of a key, also those beyond its quota, from other pages and after its expiry', async () => {
  const apiKey = await browserKey();
  await send(limited, apiKey, {});
  await send(limited, apiKey, person, 'https://evil.example');
  for (let i = 0; i < 3; i++) await send(limited, apiKey);
  await limited.send({ method: 'POST', path, headers: { API_KEY: generateApiKey().apiKey }, body: person });
  const read = () =>
    fixture.sql<{ status: number; code: string | null }>(
      `SELECT status, code, service, method, route FROM api_request
       JOIN api_key ON api_key.id = api_key_id WHERE prefix = $1 ORDER BY at, api_request.id`,
      [apiKey.slice(0, 11)],
    );
  await vi.waitFor(async () => expect(await read()).toHaveLength(5), { timeout: 60_000 });
  const route = { service: 'intake', method: 'POST', route: path };
  expect(await read()).toEqual([
    { ...route, status: 400, code: 'invalid_input' },
    { ...route, status: 403, code: 'forbidden' },
    { ...route, status: 200, code: null },
    { ...route, status: 200, code: null },
    { ...route, status: 429, code: 'too_many_requests' },
  ]);
  const expired = await browserKey();
  await fixture.sql(
    `UPDATE api_key SET created_at = '2026-01-01', expires_at = '2026-01-02' WHERE prefix = $1`,
    [expired.slice(0, 11)],
  );
  expect((await send(limited, expired)).status).toBe(401);
  const readExpired = () =>
    fixture.sql(
      'SELECT status, code FROM api_request JOIN api_key ON api_key.id = api_key_id WHERE prefix = $1',
      [expired.slice(0, 11)],
    );
  await vi.waitFor(
    async () => expect(await readExpired()).toEqual([{ status: 401, code: 'unauthenticated' }]),
    {
      timeout: 60_000,
    },
  );
  const usage = await fixture.sql(
    `SELECT sum(success)::int AS success, sum(client_errors)::int AS client_errors,
       sum(server_errors)::int AS server_errors FROM api_usage
     JOIN api_key ON api_key.id = api_key_id WHERE prefix = $1`,
    [apiKey.slice(0, 11)],
  );
  expect(usage).toEqual([{ success: 2, client_errors: 3, server_errors: 0 }]);
});

test('rejects a key beyond its quota before the body arrives, and does not affect other keys', async () => {
  const apiKey = await browserKey();
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(limited, apiKey)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(17);
  const [waiting] = await limited.sendRaw(
    [
      `POST ${path}?API_KEY=${apiKey} HTTP/1.1`,
      'Host: test',
      `Origin: ${offer}`,
      'Content-Type: application/json',
      'Content-Length: 60000',
      'Connection: close',
      '\r\n',
    ].join('\r\n'),
    { method: 'POST', path },
  );
  expect(waiting?.status).toBe(429);
  expect((await send(limited, await browserKey())).status).toBe(200);
});

test('does not count preflights and requests of other origins', async () => {
  const apiKey = await browserKey();
  for (let i = 0; i < 10; i++) {
    expect((await send(limited, apiKey, person, 'https://evil.example')).status).toBe(403);
    expect((await limited.send({ method: 'OPTIONS', path, headers: { Origin: offer } })).status).toBe(204);
  }
  expect(limitOf(await send(limited, apiKey))).toEqual([200, '"default";q=3;w=60', '"default";r=2;t=20']);
});

test('limits secret keys by a separate quota', async () => {
  const apiKey = await secretKey();
  const statuses = [];
  for (let i = 0; i < 7; i++) statuses.push((await send(limited, apiKey)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
});

test('limits browser keys to 600 requests a minute and 60 of one address by default, and sets no limit for secret keys or a quota of 0', async () => {
  expect(limitOf(await send(byDefault, await browserKey()))).toEqual([
    200,
    '"visitor";q=60;w=60, "default";q=600;w=60',
    '"visitor";r=59;t=1, "default";r=599;t=1',
  ]);
  for (const answer of [
    await send(byDefault, await secretKey()),
    await send(byDefault, owner.apiKey),
    await send(unlimited, await browserKey()),
  ]) {
    expect(limitOf(answer)).toEqual([200, undefined, undefined]);
  }
});

test('one visitor cannot use up the quota that a browser key has for all visitors', async () => {
  const apiKey = await browserKey();
  const from = (address: string, body: unknown = person, key = apiKey) =>
    perVisitor.send({
      method: 'POST',
      path,
      headers: { API_KEY: key, Origin: offer, 'X-Forwarded-For': address },
      body,
    });
  const flood = await Promise.all(Array.from({ length: 40 }, () => from('192.0.2.1', {})));
  const statuses = flood.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([400, ...Array.from({ length: 39 }, () => 429)]);
  const refused = await from('192.0.2.1');
  expect(refused.json()).toMatchObject({ message: 'Too many requests from this address: try again later' });
  expect(refused.headers['ratelimit']).toBe(`"visitor";r=0;t=${refused.headers['retry-after']}`);
  // The addresses of a /64 block of IPv6 are one visitor.
  expect((await from('2001:db8::1')).status).toBe(200);
  expect((await from('2001:db8::2')).status).toBe(429);
  for (let i = 2; i <= 9; i++) expect([i, (await from(`192.0.2.${i}`)).status]).toEqual([i, 200]);
  // The share is of each key, and a secret key has none.
  expect((await from('192.0.2.1', person, await browserKey())).status).toBe(200);
  const secret = await secretKey();
  for (let i = 0; i < 3; i++) expect((await from('192.0.2.1', person, secret)).status).toBe(200);
});

test('limits all keys of a workspace by one quota, and not those of another workspace', async () => {
  const keys = [await secretKey(), await secretKey(), await secretKey()];
  const answers = [];
  for (const key of keys) answers.push(await send(ofWorkspace, key));
  expect(answers.map(limitOf)).toEqual([
    [200, '"workspace";q=2;w=60', '"workspace";r=1;t=30'],
    [200, '"workspace";q=2;w=60', '"workspace";r=0;t=30'],
    [429, '"workspace";q=2;w=60', '"workspace";r=0;t=30'],
  ]);
  const other = await fixture.createWorkspace();
  expect((await send(ofWorkspace, other.owner.apiKey)).status).toBe(200);
});

test('rejects unknown API keys of an address beyond their limit with 429, and accepts known keys', async () => {
  const { owner: known } = await fixture.createWorkspace();
  expect((await send(ofWorkspace, known.apiKey)).status).toBe(200);
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push((await send(ofWorkspace, generateApiKey().apiKey)).status);
  expect(statuses).toEqual([401, 401, 401, 401, 429]);
  expect((await send(ofWorkspace, known.apiKey)).status).toBe(200);
});
