import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey, issueAccessToken, issueApiKey } from '@leads/core/credential';
import { describe, expect, test } from 'vitest';
import { type Fixture, jwtSecret, type TestMember, type TestWorkspace } from '../fixture.ts';
import { contentOf, forgeToken } from '../forged-token.ts';
import type { Answer } from '../http-client.ts';
import { exampleEntity, fillPath, guardedRoutesOf, needs, type Route } from '../openapi-document.ts';
import type { RunningService } from '../running-service.ts';

/** Routes that answer whoever asks. */
const publicPaths = new Set([
  '/health/live',
  '/health/ready',
  // To this machine, where there is no token.
  '/metrics',
  '/openapi.json',
  '/asyncapi.json',
  '/docs',
  '/docs/reference.js',
]);
/** What the website's pages call. */
const calledByPages = /^\/api\/(auth|console)\//;
/** The pages themselves and their files, which hold nothing of anyone's. */
const isPage = ({ path, status, type }: { path: string; status: number; type: string }) =>
  !path.startsWith('/api/') &&
  status === 200 &&
  /^(text\/html|text\/css|application\/javascript|image\/)/.test(type);

const unauthenticated = { success: false, error: 'unauthorized', message: 'Authentication failed' };
const forbidden = { success: false, error: 'unauthorized', message: 'This credential may not do that' };

type Headers = Record<string, string | readonly string[]>;

/** A revocation is in force everywhere within this time. */
const revokedWithinMs = 10_000;

/**
 * The refusals of a service's guards, tried on every route that its OpenAPI document says is guarded, and a test
 * that no other route is there but the public ones.
 */
export async function describeGuards({ service, fixture }: { service: RunningService; fixture: Fixture }) {
  const workspace = await fixture.createWorkspace();
  const other = await fixture.createWorkspace();
  const { owner } = workspace;
  const guarded = guardedRoutesOf(service.document);

  /** All that a route may change, in one text. */
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

  /** A request that the route would accept, were it not for its headers; it may name nothing that is there. */
  const call = (
    { method, path, operation }: Route,
    headers: Headers,
    entity: { type: string; text: string } | undefined = exampleEntity(operation),
  ) =>
    service.send({
      method,
      path: fillPath(path),
      headers: { ...headers, ...(entity !== undefined && { 'Content-Type': entity.type }) },
      body: entity?.text,
    });

  test('every route is guarded or one of the public ones', async () => {
    expect(guarded.length).toBeGreaterThan(0);
    for (const { method, path } of service.routes) {
      const { status, headers } = await service.send({ method, path: fillPath(path) });
      const refusesMethod = status === 405 && headers.allow?.split(', ').includes(method) === false;
      const described = method === 'HEAD' ? 'GET' : method;
      const isPublic = publicPaths.has(path) && described === 'GET' && status === 200;
      const isGuarded =
        status === 401 && guarded.some((route) => route.path === path && route.method === described);
      // Browsers send no credentials with it.
      const isPreflight = method === 'OPTIONS' && status === 204;
      const ofWebsite =
        calledByPages.test(path) || isPage({ path, status, type: headers['content-type'] ?? '' });
      expect([method, path, refusesMethod || isPublic || isPreflight || isGuarded || ofWebsite]).toEqual([
        method,
        path,
        true,
      ]);
    }
  });

  test('what is revoked after use is refused within 10 s by every route, what expires at once', async () => {
    const everywhere = (member: TestMember, routes: readonly Route[]) =>
      Promise.all(routes.map((route) => call(route, goodFor(route, member))));
    const refusedAfter = async (
      member: TestMember,
      revoke: () => Promise<unknown>,
      routes: readonly Route[] = guarded,
    ) => {
      for (const answer of await everywhere(member, routes)) expect(isRefused(answer)).toBe(false);
      await revoke();
      const revokedAt = Date.now();
      while (!(await everywhere(member, routes)).every(isRefused)) {
        if (Date.now() - revokedAt > revokedWithinMs + 5_000) return Number.POSITIVE_INFINITY;
        await sleep(200);
      }
      return Date.now() - revokedAt;
    };
    const at = new Date();
    const member = () => workspace.addMember('manager');
    const [first, second, third, fourth] = await Promise.all([member(), member(), member(), member()]);
    const expiring = await issueApiKey(fixture.credentials, fourth, {
      name: 'Expires soon',
      expiresAt: new Date(Date.now() + 5_000),
    });
    const durations = await Promise.all([
      refusedAfter(first, () => fixture.credentials.revokeApiKey(workspace.id, first.apiKeyId, at)),
      refusedAfter(
        second,
        () => fixture.credentials.revokeAccessToken(workspace.id, second.accessTokenId, at),
        guarded.filter(asksForToken),
      ),
      refusedAfter(third, () =>
        fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
          workspace.id,
          third.userId,
        ]),
      ),
      refusedAfter(
        { ...fourth, apiKey: expiring.apiKey, headers: { ...fourth.headers, API_KEY: expiring.apiKey } },
        async () => undefined,
      ),
    ]);
    expect(Math.max(...durations)).toBeLessThan(revokedWithinMs);
    expect(durations[3]).toBeLessThan(6_000);
    for (const gone of [first, third]) {
      for (const answer of await everywhere(gone, guarded)) expect(answer.json()).toEqual(unauthenticated);
    }
  });

  for (const route of guarded) {
    const needsToken = asksForToken(route);
    const good = (member: TestMember): Headers => goodFor(route, member);

    describe(`${route.method} ${route.path}`, () => {
      test('good credentials are accepted', async () => {
        expect(isRefused(await call(route, good(owner)))).toBe(false);
      });

      for (const [name, headersOf] of Object.entries({ ...keyCases, ...(needsToken && tokenCases) })) {
        test(`spec 5.4: ${name} is 401, whatever the body`, async () => {
          const headers = await headersOf({ fixture, workspace, other });
          const before = await stored();
          const attempts = [await call(route, headers)];
          const entity = exampleEntity(route.operation);
          if (entity === undefined) {
            const path = `${fillPath(route.path, 'x')}?limit=0&nonsense=1`;
            attempts.push(await service.send({ method: route.method, path, headers }));
          } else {
            for (const wrong of [
              { ...entity, text: entity.text.slice(0, 8) },
              { ...entity, text: '{"name":1}' },
              { type: 'text/plain', text: 'name=1' },
              { ...entity, text: entity.text.padEnd(70_000, ' ') },
            ]) {
              attempts.push(await call(route, headers, wrong));
            }
          }
          for (const answer of attempts) {
            expect(answer.status).toBe(401);
            expect(answer.json()).toEqual(unauthenticated);
            expect(answer.headers['www-authenticate']).toBe(needsToken ? 'ApiKey, Bearer' : 'ApiKey');
          }
          expect(await stored()).toBe(before);
        });
      }

      for (const [name, lines] of Object.entries(rawCases)) {
        if (!needsToken && name.includes('Authorization')) continue;
        test(`spec 5.4: ${name} is 401`, async () => {
          const [answer, ...more] = await sendLines(service, route, lines(owner, good(owner)));
          expect(more).toEqual([]);
          expect([answer?.status, answer?.json()]).toEqual([401, unauthenticated]);
        });
      }

      for (const [name, headersOf] of Object.entries(acceptedCases)) {
        test(`${name} is accepted`, async () => {
          expect(isRefused(await call(route, headersOf(owner, good(owner))))).toBe(false);
        });
      }

      test('an intake-only key is taken only where no access token is asked for', async () => {
        const publisher = await workspace.addMember('publisher', { scope: 'intake' });
        const answer = await call(route, good(publisher));
        const refusal = isRefused(answer) ? [answer.status, answer.json()] : undefined;
        expect(refusal).toEqual(needsToken ? [403, forbidden] : undefined);
      });

      test('an answer to credentials is never stored by caches', async () => {
        for (const headers of [good(owner), {}]) {
          expect((await call(route, headers)).headers['cache-control']).toBe('no-store');
        }
      });
    });
  }
}

function asksForToken({ operation }: Route): boolean {
  return needs(operation).includes('AccessToken');
}

/** A member's credentials, as many as a route asks for. */
function goodFor(route: Route, member: TestMember): Headers {
  return asksForToken(route) ? { ...member.headers } : { API_KEY: member.apiKey };
}

function isRefused({ status }: Answer): boolean {
  return status === 401 || status === 403;
}

interface Scene {
  readonly fixture: Fixture;
  readonly workspace: TestWorkspace;
  readonly other: TestWorkspace;
}

type Case = (scene: Scene) => Headers | Promise<Headers>;

/** The owner's good credentials with another API key. */
function withKey(apiKeyOf: (scene: Scene) => string | Promise<string>): Case {
  return async (scene) => ({ ...scene.workspace.owner.headers, API_KEY: await apiKeyOf(scene) });
}

const keyCases: Record<string, Case> = {
  'no credentials at all': () => ({}),
  'no API key': ({ workspace: { owner } }) => ({ Authorization: owner.headers.Authorization }),
  'an empty API key': withKey(() => ''),
  'a malformed API key': withKey(() => 'lk_nonsense'),
  'a cut API key': withKey(({ workspace: { owner } }) => owner.apiKey.slice(0, -1)),
  'an API key with something after it': withKey(({ workspace: { owner } }) => `${owner.apiKey}A`),
  'an API key in other case': withKey(({ workspace: { owner } }) => owner.apiKey.toLowerCase()),
  'an API key with wrong check digits': withKey(({ workspace: { owner } }) => {
    const { apiKey } = owner;
    return apiKey.slice(0, -1) + (apiKey.endsWith('A') ? 'B' : 'A');
  }),
  'an unknown API key of a valid form': withKey(() => generateApiKey().apiKey),
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
  'the API key of a member who was removed': async ({ fixture, workspace }) => {
    const member = await workspace.addMember('manager');
    await fixture.sql('DELETE FROM member WHERE workspace_id = $1 AND user_id = $2', [
      workspace.id,
      member.userId,
    ]);
    return { ...member.headers };
  },
  'an access token for an API key': withKey(({ workspace: { owner } }) => owner.accessToken),
  'an API key as a bearer token alone': ({ workspace: { owner } }) => ({
    Authorization: `Bearer ${owner.apiKey}`,
  }),
  'API_KEY and X-API-Key that differ': async ({ fixture, workspace: { owner } }) => {
    const { apiKey } = await issueApiKey(fixture.credentials, owner, { name: 'Second' });
    return { ...owner.headers, 'X-API-Key': apiKey };
  },
  'API_KEY and an empty X-API-Key': ({ workspace: { owner } }) => ({ ...owner.headers, 'X-API-Key': '' }),
};

/** The owner's good API key with another Authorization header. */
function withAuthorization(headerOf: (scene: Scene) => string | Promise<string>): Case {
  return async (scene) => ({
    API_KEY: scene.workspace.owner.apiKey,
    Authorization: await headerOf(scene),
  });
}

const withToken = (tokenOf: (scene: Scene) => string | Promise<string>): Case =>
  withAuthorization(async (scene) => `Bearer ${await tokenOf(scene)}`);

/** The owner's token, made anew with another header, other claims or another signature. */
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
const strangersKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

const tokenCases: Record<string, Case> = {
  'no access token': ({ workspace: { owner } }) => ({ API_KEY: owner.apiKey }),
  'an empty Authorization': withAuthorization(() => ''),
  'Bearer without a token': withAuthorization(() => 'Bearer '),
  'a malformed token': withToken(() => 'nonsense'),
  'a token of three malformed parts': withToken(() => 'a.b.c'),
  'a token without its signature': withToken(({ workspace: { owner } }) =>
    owner.accessToken.split('.').slice(0, 2).join('.'),
  ),
  'a token with an empty signature': withToken(({ workspace: { owner } }) =>
    owner.accessToken.replace(/[^.]*$/, ''),
  ),
  'a token with no scheme': withAuthorization(({ workspace: { owner } }) => owner.accessToken),
  'the scheme Basic': withAuthorization(
    ({ workspace: { owner } }) => `Basic ${Buffer.from(`${owner.apiKey}:`).toString('base64')}`,
  ),
  'a token under the scheme Basic': withAuthorization(
    ({ workspace: { owner } }) => `Basic ${owner.accessToken}`,
  ),
  'two tokens in one header': withAuthorization(
    ({ workspace: { owner } }) => `Bearer ${owner.accessToken}, Bearer ${owner.accessToken}`,
  ),
  'an API key for a token': withToken(({ workspace: { owner } }) => owner.apiKey),
  'the token of another user': withToken(
    async ({ workspace }) => (await workspace.addMember('manager')).accessToken,
  ),
  'the token of another workspace': withToken(({ other }) => other.owner.accessToken),
  'the own token of another workspace': withToken(async ({ fixture, workspace }) => {
    const second = await fixture.createWorkspace();
    return (await second.addMember('owner', { email: workspace.owner.email })).accessToken;
  }),
  'the API key of another workspace with the own token': ({ workspace, other }) => ({
    API_KEY: other.owner.apiKey,
    Authorization: workspace.owner.headers.Authorization,
  }),
  'alg none without a signature': forged(same, { header: { alg: 'none' }, sign: () => Buffer.alloc(0) }),
  'alg None with a signature': forged(same, { header: { alg: 'None', typ: 'JWT' } }),
  'no alg': forged(same, { header: { typ: 'JWT' } }),
  'alg HS512 with the right secret': forged(same, { header: { alg: 'HS512' }, hash: 'sha512' }),
  'alg HS384 with the right secret': forged(same, { header: { alg: 'HS384' }, hash: 'sha384' }),
  'alg HS256 signed as HS512': forged(same, { hash: 'sha512' }),
  'alg RS256 signed with the secret as HMAC': forged(same, { header: { alg: 'RS256' } }),
  "alg RS256 signed with a stranger's key that it brings along": forged(same, {
    header: { alg: 'RS256', jwk: strangersKeys.publicKey.export({ format: 'jwk' }) },
    sign: (signed) => sign('sha256', Buffer.from(signed), strangersKeys.privateKey),
  }),
  'another secret': forged(same, { secret: 'another secret, of 32 characters and more' }),
  'an empty secret': forged(same, { secret: '' }),
  'tampered content': withToken(async ({ workspace }) => {
    const victim = workspace.owner.accessToken.split('.');
    const attacker = (await workspace.addMember('publisher')).accessToken.split('.');
    return `${attacker[0]}.${victim[1]}.${attacker[2]}`;
  }),
  'a tampered signature': withToken(({ workspace: { owner } }) => {
    const [header, content, signature = ''] = owner.accessToken.split('.');
    return `${header}.${content}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
  }),
  'another issuer': forged((content) => ({ ...content, iss: 'someone-else' })),
  'another audience': forged((content) => ({ ...content, aud: 'something-else' })),
  'no issuer': forged(without('iss')),
  'no audience': forged(without('aud')),
  'no expiry': forged(without('exp')),
  'no user': forged(without('sub')),
  'no workspace': forged(without('ws')),
  'no row named': forged(without('jti')),
  'an expired token': forged((content) => ({ ...content, iat: seconds() - 7200, exp: seconds() - 1 })),
  'a token that is not valid yet': forged((content) => ({ ...content, nbf: seconds() + 3600 })),
  'a token without a row': forged((content) => ({ ...content, jti: crypto.randomUUID() })),
  "a token with another user's row": withToken(async ({ workspace }) => {
    const { accessTokenId } = await workspace.addMember('manager');
    const content = { ...contentOf(workspace.owner.accessToken), jti: accessTokenId };
    return forgeToken(content, { secret: jwtSecret });
  }),
  'a token whose row is no UUID': forged((content) => ({ ...content, jti: "x' OR true --" })),
  'claims of wrong types': forged((content) => ({ ...content, sub: [content['sub']], jti: {} })),
  'a revoked token': withToken(async (scene) => {
    const { accessToken, id } = await anotherToken(scene);
    await scene.fixture.credentials.revokeAccessToken(scene.workspace.id, id, new Date());
    return accessToken;
  }),
  'a token whose row has expired': withToken(async (scene) => {
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

/** What only a socket can send: header lines as they are, twice under one name. */
const rawCases: Record<string, (owner: TestMember, good: Headers) => string[]> = {
  'an API key sent twice': ({ apiKey }, good) => [...linesOf(good), `API_KEY: ${apiKey}`],
  'an API key sent twice, in another case of its name': ({ apiKey }, good) => [
    ...linesOf(good),
    `api_key: ${apiKey}`,
  ],
  'an X-API-Key sent twice': ({ apiKey }, good) => [
    ...linesOf(withoutKey(good)),
    `X-API-Key: ${apiKey}`,
    `X-API-Key: ${apiKey}`,
  ],
  'Authorization sent twice': ({ accessToken }, good) => [
    ...linesOf(good),
    `Authorization: Bearer ${accessToken}`,
  ],
  'Authorization sent twice, another first': ({ accessToken }, good) => [
    'Authorization: Basic bm9ib2R5Og==',
    `Authorization: Bearer ${accessToken}`,
    ...linesOf(good).filter((line) => !line.startsWith('Authorization')),
  ],
};

const acceptedCases: Record<string, (owner: TestMember, good: Headers) => Headers> = {
  'X-API-Key alone': ({ apiKey }, good) => ({ ...withoutKey(good), 'X-API-Key': apiKey }),
  'API_KEY and the same X-API-Key': ({ apiKey }, good) => ({ ...good, 'X-API-Key': apiKey }),
  'api_key in lower case': ({ apiKey }, good) => ({ ...withoutKey(good), api_key: apiKey }),
  'bearer in lower case': ({ accessToken }, good) => ({
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
  const head = [`${method} ${path} HTTP/1.1`, 'Host: test', 'Connection: close', ...lines];
  if (entity !== undefined) {
    head.push(`Content-Type: ${entity.type}`, `Content-Length: ${Buffer.byteLength(entity.text)}`);
  }
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${entity?.text ?? ''}`);
  return service.sendRaw(bytes, { method, path });
}
