import { issueApiKey } from '@leads/core/credential';
import { openFixture } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, describe, expect, test } from 'vitest';
import { startIntakeService } from './intake.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const service = await startIntakeService(database.url);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
const { owner } = await fixture.createWorkspace();

const offer = 'https://offer.example';
const path = '/api/v1/leads';
const person = { name: personalData.name, phone: personalData.phone };
const keyOf = async (options: { scope: 'intake' | 'full'; allowedOrigins?: string[] }) =>
  (await issueApiKey(fixture.credentials, owner, { name: 'A key', ...options })).apiKey;
const browserKey = await keyOf({ scope: 'intake', allowedOrigins: [offer, 'http://localhost:8080'] });

const send = (apiKey: string, headers: Record<string, string>, body: unknown = person) =>
  service.send({ method: 'POST', path, headers: { API_KEY: apiKey, ...headers }, body });

const otherOrigin = {
  success: false,
  error: 'unauthorized',
  message: 'This API key is bound to other web origins',
};
const missingOrigin = {
  success: false,
  error: 'unauthorized',
  message: 'This API key is for web pages, and the request has no Origin header',
};

test('accepts a key that is bound to origins only from pages of these origins', async () => {
  for (const origin of [offer, 'http://localhost:8080']) {
    expect((await send(browserKey, { Origin: origin })).status).toBe(200);
  }
  const refused: [headers: Record<string, string>, body: object][] = [
    [{}, missingOrigin],
    [
      { Origin: 'null' },
      {
        ...missingOrigin,
        message: 'This API key is for web pages, and the request has the Origin null',
      },
    ],
    [{ Origin: '' }, otherOrigin],
    [{ Origin: 'https://evil.example' }, otherOrigin],
    [{ Origin: 'http://offer.example' }, otherOrigin],
    [{ Origin: `${offer}:8443` }, otherOrigin],
    [{ Origin: `${offer}/` }, otherOrigin],
    [{ Origin: 'https://offer.example.evil.example' }, otherOrigin],
    [{ Origin: `${offer}, https://evil.example` }, otherOrigin],
    [{ Referer: `${offer}/page` }, missingOrigin],
  ];
  for (const [headers, body] of refused) {
    const answer = await send(browserKey, headers);
    expect([answer.status, answer.json()]).toEqual([403, body]);
  }
});

test('accepts a key without origins from any page', async () => {
  expect((await send(owner.apiKey, { Origin: 'https://anywhere.example' })).status).toBe(200);
});

describe('CORS', () => {
  const corsOf = (headers: Record<string, unknown>) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  test('answers every preflight alike, with any or no key', async () => {
    const sendPreflight = (headers: Record<string, string>) =>
      service.send({ method: 'OPTIONS', path, headers });
    const requested = {
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'api_key',
    };
    for (const headers of [
      { ...requested, Origin: offer },
      { ...requested, Origin: 'https://evil.example' },
      { ...requested, Origin: offer, API_KEY: browserKey },
      { ...requested, Origin: 'null' },
      {},
    ]) {
      const answer = await sendPreflight(headers);
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'API_KEY, X-API-Key, Content-Type, Idempotency-Key',
        'access-control-max-age': '7200',
        allow: 'OPTIONS, POST',
      });
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  test('allows the page of a browser key to read the answer, whatever its status', async () => {
    const from = { Origin: offer };
    for (const [answer, status] of [
      [await send(browserKey, from), 200],
      [await send(browserKey, from, { name: '' }), 400],
      [await send(browserKey, from, '{"name":'), 415],
      [await send(browserKey, { ...from, 'Content-Type': 'application/json' }, '{"name":'), 400],
      [await send(browserKey, from, { ...person, large: 'x'.repeat(70_000) }), 413],
      [await send(browserKey, { ...from, Accept: 'application/problem+json' }, {}), 400],
    ] as const) {
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': offer,
        'access-control-expose-headers': 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy',
      });
      expect(answer.headers.vary).toMatch(/^Origin(, Accept)?$/);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });

  test('allows no page to read an answer to another origin or to an unknown key', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      const answer = await send(browserKey, { Origin: origin });
      expect([answer.status, corsOf(answer.headers)]).toEqual([403, []]);
      expect(answer.headers.vary).toBe('Origin, Accept');
    }
    const unknown = await send(`${browserKey}x`, { Origin: offer });
    expect([unknown.status, corsOf(unknown.headers)]).toEqual([401, []]);
  });

  test('sends no headers for a key that is not bound to origins', async () => {
    for (const apiKey of [owner.apiKey, await keyOf({ scope: 'intake' })]) {
      for (const body of [person, {}]) {
        const answer = await send(apiKey, { Origin: offer }, body);
        expect([answer.status, corsOf(answer.headers)]).toEqual([body === person ? 200 : 400, []]);
      }
    }
  });

  test('allows the page of a browser key to read an internal error', async () => {
    // The key is cached, so the request fails at the insert only.
    await fixture.sql('ALTER TABLE lead RENAME TO lead_renamed');
    try {
      const answer = await send(browserKey, { Origin: offer });
      expect(answer.status).toBe(500);
      expect(answer.headers['access-control-allow-origin']).toBe(offer);
    } finally {
      await fixture.sql('ALTER TABLE lead_renamed RENAME TO lead');
    }
  });
});

describe('a key in the query', () => {
  const sendTo = (query: string, headers: Record<string, string> = { Origin: offer }) =>
    service.send({ method: 'POST', path: `${path}?${query}`, headers, body: person });
  const inHeader =
    'Send an API key that is not bound to web origins in the API_KEY header. Revoke this key: URLs are logged';

  test('is accepted from pages of the origins that it is bound to', async () => {
    expect((await sendTo(`API_KEY=${browserKey}`)).status).toBe(200);
    expect((await sendTo(`API_KEY=${browserKey}`, { Origin: offer, API_KEY: browserKey })).status).toBe(200);
    expect((await sendTo(`API_KEY=${browserKey}`, {})).json()).toEqual(missingOrigin);
    expect((await sendTo(`API_KEY=${browserKey}`, { Origin: 'https://evil.example' })).json()).toEqual(
      otherOrigin,
    );
  });

  test('is rejected with 403 if it is not bound to origins, and its use is not recorded', async () => {
    const secrets = [await keyOf({ scope: 'intake' }), await keyOf({ scope: 'full' })];
    {
      // Disposal writes the pending uses of keys.
      await using another = await startIntakeService(database.url);
      for (const apiKey of secrets) {
        for (const headers of [{ Origin: offer }, { Origin: offer, API_KEY: apiKey }, {}]) {
          const request = { method: 'POST', path: `${path}?API_KEY=${apiKey}`, headers, body: person };
          const answer = await another.send(request);
          expect([answer.status, answer.json()]).toEqual([
            403,
            { success: false, error: 'unauthorized', message: inHeader },
          ]);
          expect(answer.headers['access-control-allow-origin']).toBeUndefined();
        }
      }
    }
    const prefixes = secrets.map((secret) => secret.slice(0, 11));
    expect(await fixture.sql('SELECT last_used_at FROM api_key WHERE prefix = ANY ($1)', [prefixes])).toEqual(
      [{ last_used_at: null }, { last_used_at: null }],
    );
  });

  test('is rejected with 401 if it is malformed, repeated, or differs from the header', async () => {
    for (const [query, headers] of [
      ['API_KEY=', {}],
      ['API_KEY=nonsense', {}],
      [`api_key=${browserKey}`, {}],
      [`API_KEY=${browserKey}&API_KEY=${browserKey}`, {}],
      [`API_KEY[]=${browserKey}`, {}],
      [`API_KEY=${browserKey}`, { API_KEY: owner.apiKey }],
      [`API_KEY=${owner.apiKey}`, { API_KEY: browserKey }],
      [`API_KEY=${browserKey}`, { 'X-API-Key': owner.apiKey }],
    ] as const) {
      const answer = await sendTo(query, { Origin: offer, ...headers });
      expect([query, answer.status]).toEqual([query, 401]);
    }
  });
});
