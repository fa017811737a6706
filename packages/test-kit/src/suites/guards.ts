import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey, issueAccessToken, issueApiKey } from '@leads/core/credential';
import { describe, expect, test } from 'vitest';
import { type Fixture, jwtSecret, type TestMember, type TestWorkspace } from '../fixture.ts';
import { contentOf, forgeToken } from '../forged-token.ts';
import type { Answer } from '../http-client.ts';
import {
  endingHeaders,
  exampleEntity,
  fillPath,
  guardedRoutesOf,
  requiredSchemes,
  type Route,
} from '../openapi-document.ts';
import { lastAcceptedMs, rejectedWithinMs } from '../rejected-soon.ts';
import type { RunningService } from '../running-service.ts';

/** Public routes, which need no credentials. */
const publicPaths = new Set([
  '/health/live',
  '/health/ready',
  // Public for local clients if no token is configured.
  '/metrics',
  '/openapi.json',
  '/asyncapi.json',
  '/docs',
  '/docs/reference.js',
]);
/** Routes that the pages of the website call. */
const calledByPages = /^\/api\/(auth|console)\//;
/** Returns whether a response is a page of the website or one of its files, which contain no user data. */
const isPage = ({ path, status, type }: { path: string; status: number; type: string }) =>
  !path.startsWith('/api/') &&
  ((status === 200 && /^(text\/html|text\/css|application\/javascript|image\/)/.test(type)) ||
    (status === 404 && path === '/assets/{name}'));

const unauthenticated = { success: false, error: 'unauthorized', message: 'Authentication failed' };

type Headers = Record<string, string | readonly string[]>;

/**
 * Tests the guards of a service on every route that its OpenAPI document describes as guarded. Tests that
 * every other route is public.
 */
export async function describeGuards({ service, fixture }: { service: RunningService; fixture: Fixture }) {
  const workspace = await fixture.createWorkspace();
  const other = await fixture.createWorkspace();
  const { owner } = workspace;
  const forIntake = await workspace.addMember('publisher', { scope: 'intake' });
  const guarded = guardedRoutesOf(service.document);

  /** Waits for the jobs that accepted requests have started, because a job changes leads later. */
  const waitForJobs = async () => {
    const jobs = `SELECT id FROM lead_job WHERE state = 'running'
      UNION ALL SELECT id FROM payment WHERE state IN ('paying', 'cancelling')`;
    await expect.poll(() => fixture.sql(jobs)).toEqual([]);
  };

  /** Returns a digest of all data that a route may change. */
  const stored = async () => {
    const tables = ['lead', 'lead_change', 'campaign', 'landing_page'];
    const digests = tables.map(
      (table) => `(SELECT md5(string_agg(each::text, ',' ORDER BY each::text)) FROM ${table} AS each)`,
    );
    const [row] = await fixture.sql<{ digests: string }>(
      `SELECT concat_ws(' ', ${digests.join(', ')}) AS digests`,
    );
    return row?.digests;
  };

  /** Sends a request that the route accepts with valid credentials. The ids in its path may not exist. */
  const call = (
    { method, path, operation }: Route,
    headers: Headers,
    entity: { type: string; text: string } | undefined = exampleEntity(operation),
  ) =>
    service.send({
      method,
      path: fillPath(path),
      headers: {
        ...headers,
        ...endingHeaders(path),
        ...(entity !== undefined && { 'Content-Type': entity.type }),
      },
      body: entity?.text,
    });

  /** Sends requests that the route rejects, even with valid credentials. */
  const callWithOtherBodies = async (route: Route, headers: Headers): Promise<Answer[]> => {
    const entity = exampleEntity(route.operation);
    if (entity === undefined) {
      const path = `${fillPath(route.path, 'x')}?limit=0&nonsense=1`;
      return [await service.send({ method: route.method, path, headers })];
    }
    const wrong = [
      { ...entity, text: entity.text.slice(0, 8) },
      { ...entity, text: '{"name":1}' },
      { type: 'text/plain', text: 'name=1' },
      { ...entity, text: entity.text.padEnd(70_000, ' ') },
    ];
    return Promise.all(wrong.map((each) => call(route, headers, each)));
  };

  test('every route is guarded or public', async () => {
    expect(guarded.length).toBeGreaterThan(0);
    for (const { method, path } of service.routes) {
      const { status, headers } = await service.send({ method, path: fillPath(path) });
      const rejectsMethod = status === 405 && headers.allow?.split(', ').includes(method) === false;
      const described = method === 'HEAD' ? 'GET' : method;
      const isPublic = publicPaths.has(path) && described === 'GET' && status === 200;
      const isGuarded =
        status === 401 && guarded.some((route) => route.path === path && route.method === described);
      // Browsers send no credentials with a preflight request.
      const isPreflight = method === 'OPTIONS' && status === 204;
      const isOfWebsite =
        calledByPages.test(path) || isPage({ path, status, type: headers['content-type'] ?? '' });
      expect([method, path, rejectsMethod || isPublic || isPreflight || isGuarded || isOfWebsite]).toEqual([
        method,
        path,
        true,
      ]);
    }
  });

  test('every route rejects a revoked credential within 10 s after its use, and an expired one at once', async () => {
    const callAll = (member: TestMember, routes: readonly Route[]) =>
      Promise.all(routes.map((route) => call(route, validCredentials(route, member))));
    const callAllAccepted = async (member: TestMember, routes: readonly Route[]) => {
      for (const answer of await callAll(member, routes)) expect(isRejected(answer)).toBe(false);
    };
    /** Calls the routes until all reject a credential that was valid until `endedAt`. Returns what lastAcceptedMs returns. */
    const acceptedAfter = async (endedAt: number, member: TestMember, routes: readonly Route[]) => {
      const accepted = (some: readonly Route[]) =>
        lastAcceptedMs(endedAt, async () => (await callAll(member, some)).every(isRejected));
      // Calls all routes only once the first rejects: all of them several times a second took 5 s of processor time.
      const ofFirst = await accepted(routes.slice(0, 1));
      return Math.max(ofFirst, await accepted(routes));
    };
    const revoked = async (
      member: TestMember,
      revoke: () => Promise<unknown>,
      routes: readonly Route[] = guarded,
    ) => {
      await callAllAccepted(member, routes);
      await revoke();
      return acceptedAfter(Date.now(), member, routes);
    };
    const expired = async (member: TestMember) => {
      await callAllAccepted(member, guarded);
      const expiresAt = new Date(Date.now() + 12_000);
      const { apiKey } = await issueApiKey(fixture.credentials, member, { name: 'Expires soon', expiresAt });
      const expiring = { ...member, apiKey, headers: { ...member.headers, API_KEY: apiKey } };
      // Its answers stay cached, so that only its expiry can end them at once.
      const answers: boolean[] = [];
      while (Date.now() <= expiresAt.getTime()) {
        const areRejected = (await callAll(expiring, guarded.slice(0, 1))).some(isRejected);
        if (Date.now() < expiresAt.getTime()) answers.push(areRejected);
        await sleep(200);
      }
      expect(new Set(answers)).toEqual(new Set([false]));
      return acceptedAfter(expiresAt.getTime(), expiring, guarded);
    };
    const at = new Date();
    // An owner may call every route.
    const member = () => workspace.addMember('owner');
    const [first, second, third, fourth] = await Promise.all([member(), member(), member(), member()]);
    const [expiredMs, ...revokedMs] = await Promise.all([
      expired(fourth),
      revoked(first, () => fixture.credentials.revokeApiKey(workspace.id, first.apiKeyId, at)),
      revoked(
        second,
        () => fixture.credentials.revokeAccessToken(workspace.id, second.accessTokenId, at),
        guarded.filter(asksForToken),
      ),
      revoked(third, () =>
        fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
          workspace.id,
          third.userId,
        ]),
      ),
    ]);
    expect(Math.max(...revokedMs)).toBeLessThan(rejectedWithinMs);
    expect(expiredMs).toBe(0);
    for (const removedMember of [first, third]) {
      for (const answer of await callAll(removedMember, guarded))
        expect(answer.json()).toEqual(unauthenticated);
    }
  });

  /** The headers of each case, which all routes share. */
  const scene: Scene = { fixture, workspace, other };
  const wrongHeaders = await Promise.all(
    Object.entries({ ...keyCases, ...tokenCases }).map(
      async ([name, headersOf]) => [name, await headersOf(scene)] as const,
    ),
  );

  // One test a route, because a test for each case takes several times the processor time.
  for (const route of guarded) {
    const needsToken = asksForToken(route);
    const good = validCredentials(route, owner);

    describe(`${route.method} ${route.path}`, () => {
      test('accepts valid credentials, however they are sent', async () => {
        expect(isRejected(await call(route, good))).toBe(false);
        for (const [name, headersOf] of Object.entries(acceptedCases)) {
          expect([name, isRejected(await call(route, headersOf(owner, good)))]).toEqual([name, false]);
        }
      });

      test('spec 5.4: rejects wrong credentials with 401, whatever the body', async () => {
        await waitForJobs();
        const before = await stored();
        for (const [name, headers] of wrongHeaders) {
          if (!needsToken && Object.hasOwn(tokenCases, name)) continue;
          const attempts = [await call(route, headers)];
          if (withOtherBodies.has(name)) attempts.push(...(await callWithOtherBodies(route, headers)));
          for (const answer of attempts) {
            const challenge = answer.headers['www-authenticate'];
            expect([name, answer.status, answer.json(), challenge]).toEqual([
              name,
              401,
              unauthenticated,
              needsToken ? 'ApiKey, Bearer' : 'ApiKey',
            ]);
          }
        }
        for (const [name, lines] of Object.entries(rawCases)) {
          if (!needsToken && name.includes('Authorization')) continue;
          const [answer, ...more] = await sendLines(service, route, lines(owner, good));
          expect([name, more]).toEqual([name, []]);
          expect([name, answer?.status, answer?.json()]).toEqual([name, 401, unauthenticated]);
        }
        expect(await stored()).toBe(before);
      });

      test('accepts an intake-only key only if it requires no access token', async () => {
        const answer = await call(route, validCredentials(route, forIntake));
        const refusal = isRejected(answer) ? [answer.status, answer.json()] : undefined;
        const scopes = route.operation.security?.flatMap((scheme) => scheme['ApiKey'] ?? []) ?? [];
        const message = `This API key does not have the scope ${scopes.join(' or ')}`;
        const forbidden = { success: false, error: 'unauthorized', message };
        expect(refusal).toEqual(needsToken ? [403, forbidden] : undefined);
      });

      test('forbids caches to store the response to a request with or without credentials', async () => {
        for (const headers of [good, {}]) {
          expect((await call(route, headers)).headers['cache-control']).toBe('no-store');
        }
      });
    });
  }
}

/** The cases that are also sent with bodies and queries that a route rejects with 400, 413 or 415. */
const withOtherBodies = new Set([
  'a request without credentials',
  'an unknown API key of a valid format',
  'a token with a tampered signature',
]);

function asksForToken({ operation }: Route): boolean {
  return requiredSchemes(operation).includes('AccessToken');
}

/** Returns the credentials of a member that a route requires. */
function validCredentials(route: Route, member: TestMember): Headers {
  return asksForToken(route) ? { ...member.headers } : { API_KEY: member.apiKey };
}

function isRejected({ status }: Answer): boolean {
  return status === 401 || status === 403;
}

interface Scene {
  readonly fixture: Fixture;
  readonly workspace: TestWorkspace;
  readonly other: TestWorkspace;
}

type Case = (scene: Scene) => Headers | Promise<Headers>;

/** The owner's valid credentials with another API key. */
function withKey(apiKeyOf: (scene: Scene) => string | Promise<string>): Case {
  return async (scene) => ({ ...scene.workspace.owner.headers, API_KEY: await apiKeyOf(scene) });
}

const keyCases: Record<string, Case> = {
  'a request without credentials': () => ({}),
  'a request without an API key': ({ workspace: { owner } }) => ({
    Authorization: owner.headers.Authorization,
  }),
  'an empty API key': withKey(() => ''),
  'a malformed API key': withKey(() => 'lk_nonsense'),
  'a truncated API key': withKey(({ workspace: { owner } }) => owner.apiKey.slice(0, -1)),
  'an API key with a character appended': withKey(({ workspace: { owner } }) => `${owner.apiKey}A`),
  'an API key in lower case': withKey(({ workspace: { owner } }) => owner.apiKey.toLowerCase()),
  'an API key with wrong check digits': withKey(({ workspace: { owner } }) => {
    const { apiKey } = owner;
    return apiKey.slice(0, -1) + (apiKey.endsWith('A') ? 'B' : 'A');
  }),
  'an unknown API key of a valid format': withKey(() => generateApiKey().apiKey),
  'the prefix of an API key': withKey(({ workspace: { owner } }) => owner.apiKey.slice(0, 11)),
  'the hash of an API key': withKey(({ workspace: { owner } }) =>
    createHash('sha256').update(owner.apiKey).digest('hex'),
  ),
  'an expired API key': withKey(async ({ fixture, workspace }) => {
    const { apiKey, record } = await issueApiKey(fixture.credentials, workspace.owner, { name: 'Expired' });
    await fixture.sql(
      `UPDATE api_key SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'
       WHERE id = $1`,
      [record.id],
    );
    return apiKey;
  }),
  'a revoked API key': withKey(async ({ fixture, workspace }) => {
    const { apiKey, record } = await issueApiKey(fixture.credentials, workspace.owner, { name: 'Revoked' });
    await fixture.credentials.revokeApiKey(workspace.id, record.id, new Date());
    return apiKey;
  }),
  'the API key of a removed member': async ({ fixture, workspace }) => {
    const member = await workspace.addMember('manager');
    await fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
      workspace.id,
      member.userId,
    ]);
    return { ...member.headers };
  },
  'an access token sent as an API key': withKey(({ workspace: { owner } }) => owner.accessToken),
  'an API key sent as a bearer token only': ({ workspace: { owner } }) => ({
    Authorization: `Bearer ${owner.apiKey}`,
  }),
  'different values of API_KEY and X-API-Key': async ({ fixture, workspace: { owner } }) => {
    const { apiKey } = await issueApiKey(fixture.credentials, owner, { name: 'Second' });
    return { ...owner.headers, 'X-API-Key': apiKey };
  },
  'a valid API_KEY with an empty X-API-Key': ({ workspace: { owner } }) => ({
    ...owner.headers,
    'X-API-Key': '',
  }),
};

/** The owner's valid API key with another Authorization header. */
function withAuthorization(headerOf: (scene: Scene) => string | Promise<string>): Case {
  return async (scene) => ({
    API_KEY: scene.workspace.owner.apiKey,
    Authorization: await headerOf(scene),
  });
}

const withToken = (tokenOf: (scene: Scene) => string | Promise<string>): Case =>
  withAuthorization(async (scene) => `Bearer ${await tokenOf(scene)}`);

/** The owner's token, signed again with another header, other claims or another signature. */
const forged = (
  change: (content: Record<string, unknown>) => object,
  options: Partial<Parameters<typeof forgeToken>[1]> = {},
): Case =>
  withToken(({ workspace: { owner } }) =>
    forgeToken(change(contentOf(owner.accessToken)), { secret: jwtSecret, ...options }),
  );

const same = (content: Record<string, unknown>) => content;
const without = (claim: string) => (content: Record<string, unknown>) => ({ ...content, [claim]: undefined });
const seconds = () => Math.floor(Date.now() / 1000);
const foreignKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

const tokenCases: Record<string, Case> = {
  'a request without an access token': ({ workspace: { owner } }) => ({ API_KEY: owner.apiKey }),
  'an empty Authorization header': withAuthorization(() => ''),
  'a Bearer scheme without a token': withAuthorization(() => 'Bearer '),
  'a malformed token': withToken(() => 'nonsense'),
  'a token of three malformed parts': withToken(() => 'a.b.c'),
  'a token without its signature': withToken(({ workspace: { owner } }) =>
    owner.accessToken.split('.').slice(0, 2).join('.'),
  ),
  'a token with an empty signature': withToken(({ workspace: { owner } }) =>
    owner.accessToken.replace(/[^.]*$/, ''),
  ),
  'a token without a scheme': withAuthorization(({ workspace: { owner } }) => owner.accessToken),
  'the scheme Basic with an API key': withAuthorization(
    ({ workspace: { owner } }) => `Basic ${Buffer.from(`${owner.apiKey}:`).toString('base64')}`,
  ),
  'a token under the scheme Basic': withAuthorization(
    ({ workspace: { owner } }) => `Basic ${owner.accessToken}`,
  ),
  'two tokens in one header': withAuthorization(
    ({ workspace: { owner } }) => `Bearer ${owner.accessToken}, Bearer ${owner.accessToken}`,
  ),
  'an API key sent as an access token': withToken(({ workspace: { owner } }) => owner.apiKey),
  'the token of another user': withToken(
    async ({ workspace }) => (await workspace.addMember('manager')).accessToken,
  ),
  'the token of another workspace': withToken(({ other }) => other.owner.accessToken),
  'a token of the same user for another workspace': withToken(async ({ fixture, workspace }) => {
    const second = await fixture.createWorkspace();
    return (await second.addMember('owner', { email: workspace.owner.email })).accessToken;
  }),
  'the API key of another workspace with a token of this one': ({ workspace, other }) => ({
    API_KEY: other.owner.apiKey,
    Authorization: workspace.owner.headers.Authorization,
  }),
  'a token with alg none and no signature': forged(same, {
    header: { alg: 'none' },
    sign: () => Buffer.alloc(0),
  }),
  'a token with alg None and a signature': forged(same, { header: { alg: 'None', typ: 'JWT' } }),
  'a token without alg': forged(same, { header: { typ: 'JWT' } }),
  'a token with alg HS512 and the right secret': forged(same, { header: { alg: 'HS512' }, hash: 'sha512' }),
  'a token with alg HS384 and the right secret': forged(same, { header: { alg: 'HS384' }, hash: 'sha384' }),
  'a token with alg HS256, signed as HS512': forged(same, { hash: 'sha512' }),
  'a token with alg RS256, signed with the secret as HMAC': forged(same, { header: { alg: 'RS256' } }),
  'a token with alg RS256, signed with a foreign key in its header': forged(same, {
    header: { alg: 'RS256', jwk: foreignKeys.publicKey.export({ format: 'jwk' }) },
    sign: (signed) => sign('sha256', Buffer.from(signed), foreignKeys.privateKey),
  }),
  'a token signed with another secret': forged(same, { secret: 'another secret, of 32 characters and more' }),
  'a token signed with an empty secret': forged(same, { secret: '' }),
  'a token with tampered content': withToken(async ({ workspace }) => {
    const victim = workspace.owner.accessToken.split('.');
    const attacker = (await workspace.addMember('publisher')).accessToken.split('.');
    return `${attacker[0]}.${victim[1]}.${attacker[2]}`;
  }),
  'a token with a tampered signature': withToken(({ workspace: { owner } }) => {
    const [header, content, signature = ''] = owner.accessToken.split('.');
    return `${header}.${content}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  }),
  'a token of another issuer': forged((content) => ({ ...content, iss: 'someone-else' })),
  'a token for another audience': forged((content) => ({ ...content, aud: 'something-else' })),
  'a token without an issuer': forged(without('iss')),
  'a token without an audience': forged(without('aud')),
  'a token without an expiry': forged(without('exp')),
  'a token without a user': forged(without('sub')),
  'a token without a workspace': forged(without('ws')),
  'a token without a token id': forged(without('jti')),
  'an expired token': forged((content) => ({ ...content, iat: seconds() - 7200, exp: seconds() - 1 })),
  'a token that is not yet valid': forged((content) => ({ ...content, nbf: seconds() + 3600 })),
  'a token with an unknown token id': forged((content) => ({ ...content, jti: crypto.randomUUID() })),
  'a token with the token id of another user': withToken(async ({ workspace }) => {
    const { accessTokenId } = await workspace.addMember('manager');
    const content = { ...contentOf(workspace.owner.accessToken), jti: accessTokenId };
    return forgeToken(content, { secret: jwtSecret });
  }),
  'a token whose token id is not a UUID': forged((content) => ({ ...content, jti: "x' OR true --" })),
  'a token with claims of wrong types': forged((content) => ({ ...content, sub: [content['sub']], jti: {} })),
  'a revoked token': withToken(async (scene) => {
    const { accessToken, id } = await anotherToken(scene);
    await scene.fixture.credentials.revokeAccessToken(scene.workspace.id, id, new Date());
    return accessToken;
  }),
  'a token that has expired in the database': withToken(async (scene) => {
    const { accessToken, id } = await anotherToken(scene);
    await scene.fixture.sql(
      `UPDATE access_token SET created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'
       WHERE id = $1`,
      [id],
    );
    return accessToken;
  }),
};

async function anotherToken({ fixture, workspace: { owner } }: Scene) {
  const codec = {
    sign: (claims: object, lifetimeSeconds: number) =>
      forgeToken(
        { ...contentOf(owner.accessToken), ...claims, exp: seconds() + lifetimeSeconds },
        { secret: jwtSecret },
      ),
    verify: () => undefined,
  };
  const { accessToken, record } = await issueAccessToken(fixture.credentials, codec, owner, {
    name: 'Another',
  });
  return { accessToken, id: record.id };
}

/** Cases that need a raw socket: header lines sent unchanged, or twice with the same name. */
const rawCases: Record<string, (owner: TestMember, good: Headers) => string[]> = {
  'an API key sent twice': ({ apiKey }, good) => [...linesOf(good), `API_KEY: ${apiKey}`],
  'an API key sent twice, once with a lower-case header name': ({ apiKey }, good) => [
    ...linesOf(good),
    `api_key: ${apiKey}`,
  ],
  'an X-API-Key sent twice': ({ apiKey }, good) => [
    ...linesOf(withoutKey(good)),
    `X-API-Key: ${apiKey}`,
    `X-API-Key: ${apiKey}`,
  ],
  'an Authorization header sent twice': ({ accessToken }, good) => [
    ...linesOf(good),
    `Authorization: Bearer ${accessToken}`,
  ],
  'an Authorization header sent twice, first with another scheme': ({ accessToken }, good) => [
    'Authorization: Basic bm9ib2R5Og==',
    `Authorization: Bearer ${accessToken}`,
    ...linesOf(good).filter((line) => !line.startsWith('Authorization')),
  ],
};

const acceptedCases: Record<string, (owner: TestMember, good: Headers) => Headers> = {
  'an X-API-Key without API_KEY': ({ apiKey }, good) => ({ ...withoutKey(good), 'X-API-Key': apiKey }),
  'an API_KEY with an equal X-API-Key': ({ apiKey }, good) => ({ ...good, 'X-API-Key': apiKey }),
  'an api_key header in lower case': ({ apiKey }, good) => ({ ...withoutKey(good), api_key: apiKey }),
  'a bearer scheme in lower case': ({ accessToken }, good) => ({
    ...good,
    ...(good['Authorization'] !== undefined && { Authorization: `bearer ${accessToken}` }),
  }),
};

function withoutKey(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'API_KEY'));
}

function linesOf(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}`));
}

function sendLines(service: RunningService, route: Route, lines: readonly string[]) {
  const { method } = route;
  const path = fillPath(route.path);
  const entity = exampleEntity(route.operation);
  const ending = Object.entries(endingHeaders(route.path)).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, 'Host: test', 'Connection: close', ...ending, ...lines];
  if (entity !== undefined) {
    head.push(`Content-Type: ${entity.type}`, `Content-Length: ${Buffer.byteLength(entity.text)}`);
  }
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${entity?.text ?? ''}`);
  return service.sendRaw(bytes, { method, path });
}
