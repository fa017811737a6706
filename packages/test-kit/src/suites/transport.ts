import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Fixture } from '../fixture.ts';
import { endingHeaders, exampleBody, fillPath, guardedRoutesOf, routesOf } from '../openapi-document.ts';
import type { RunningService } from '../running-service.ts';

const malformed = { success: false, error: 'validation', message: 'Malformed request' };
const invalid = { success: false, error: 'validation', message: 'Invalid input data' };
const notFound = { success: false, error: 'error', message: 'Not found' };
const notAllowed = { success: false, error: 'error', message: 'Method not allowed' };
const tooLarge = { success: false, error: 'validation', message: 'Request body is larger than 64 KiB' };
const unsupported = {
  success: false,
  error: 'validation',
  message: expect.stringMatching(/^Unsupported media type: send application\/json/) as string,
};
const headersTooLarge = {
  success: false,
  error: 'validation',
  message: 'The URL and headers of the request are too large',
};
const timedOut = { success: false, error: 'error', message: 'Request timed out' };

const withoutBody = {
  'content-length': '0',
  connection: 'close',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const bodyLimit = 64 * 1024;

/**
 * Tests behavior that does not depend on the routes: methods, sizes, media types, malformed HTTP, health and
 * docs.
 */
export async function describeTransport({ service, fixture }: { service: RunningService; fixture: Fixture }) {
  const { owner } = await fixture.createWorkspace();
  const headers = owner.headers;
  // The first POST route creates leads in both services, so its example can be sent repeatedly.
  const post = guardedRoutesOf(service.document).find(
    ({ method, operation }) => method === 'POST' && exampleBody(operation) !== undefined,
  );
  if (post === undefined) throw new Error('The service has no POST route with a body');
  const path = post.path;
  const example = exampleBody(post.operation);
  const createLead = (body: unknown, more: Record<string, string> = {}, chunked = false) =>
    service.send({ method: 'POST', path, headers: { ...headers, ...more }, body, chunked });
  const raw = async (head: string, options: { body?: string; end?: boolean } = {}) => {
    const text = `${head.replaceAll('\n', '\r\n')}\r\n\r\n${options.body ?? ''}`;
    const [first, ...more] = await service.sendRaw(text, { end: options.end ?? false });
    expect(more).toEqual([]);
    return first;
  };
  const credentials = `API_KEY: ${headers.API_KEY}\nAuthorization: ${headers.Authorization}`;
  const pathsOf = () => [...new Set(service.routes.map((route) => route.path))];

  const isRoute = (text: string) =>
    pathsOf().some((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(text));

  /** Returns the methods of a path that the document omits, from its Allow header. */
  const allowedOf = async (unlisted: string) => {
    const { status, headers: answered } = await service.send({ method: 'TRACE', path: unlisted });
    expect([unlisted, status]).toEqual([unlisted, 405]);
    return (answered.allow ?? '').split(', ');
  };

  describe('the router', () => {
    test('rejects an unknown path with 404, whatever the method and the body', async () => {
      for (const unknown of [
        '/',
        '/api',
        `/${path}`,
        path.toUpperCase(),
        '/docs/x.js',
        ...pathsOf().flatMap((each) => [
          `${fillPath(each)}/`,
          `${fillPath(each)}/x`,
          `${fillPath(each)}/x/y`,
        ]),
      ]) {
        // A path with a suffix may be another route.
        if (isRoute(unknown)) continue;
        for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']) {
          const answer = await service.send({ method, path: unknown });
          expect([answer.status, answer.json()]).toEqual([404, notFound]);
        }
        const json = { 'Content-Type': 'application/json' };
        for (const body of ['{"name":', 'x'.repeat(bodyLimit + 1)]) {
          const answer = await service.send({ method: 'POST', path: unknown, headers: json, body });
          expect([answer.status, answer.json()]).toEqual([404, notFound]);
        }
        const text = { 'Content-Type': 'text/plain' };
        const answer = await service.send({ method: 'POST', path: unknown, headers: text, body: 'x' });
        expect([answer.status, answer.json()]).toEqual([404, notFound]);
      }
    });

    test('rejects a method that a path does not have with 405 and Allow, before it checks credentials', async () => {
      for (const each of pathsOf()) {
        const described = routesOf(service.document).filter((route) => route.path === each);
        const methods =
          described.length > 0 ? described.map((route) => route.method) : await allowedOf(fillPath(each));
        const allowed = new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])]);
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']) {
          if (allowed.has(method)) continue;
          const answer = await service.send({ method, path: fillPath(each) });
          expect([method, each, answer.status, answer.json()]).toEqual([method, each, 405, notAllowed]);
          expect(new Set(answer.headers.allow?.split(', '))).toEqual(allowed);
        }
      }
    });

    test('rejects an unknown method, never with a 5xx', async () => {
      for (const method of ['PROPFIND', 'PURGE', 'LOCK', 'M-SEARCH', 'QUERY']) {
        const answer = await service.send({ method, path: '/nowhere' });
        expect([404, 400]).toContain(answer.status);
      }
      const unknown = await raw(`FROB ${path} HTTP/1.1\nHost: test`);
      expect([unknown?.status, unknown?.json()]).toEqual([400, malformed]);
    });

    test('answers HEAD like GET, without the body', async () => {
      for (const { path: each, method } of service.routes) {
        if (method !== 'GET') continue;
        const filled = fillPath(each);
        const all = { ...headers, ...endingHeaders(each) };
        const [get, head] = await Promise.all([
          service.send({ path: filled, headers: all }),
          service.send({ method: 'HEAD', path: filled, headers: all }),
        ]);
        expect([each, head.status]).toEqual([each, get.status]);
        for (const name of ['content-type', 'content-length', 'cache-control', 'content-encoding']) {
          // Metrics grow with each request.
          if (each === '/metrics' && name === 'content-length') continue;
          expect(head.headers[name]).toBe(get.headers[name]);
        }
      }
    });
  });

  describe('the body parser', () => {
    const padded = (bytes: number) => JSON.stringify(example).padEnd(bytes, ' ');
    const json = { 'Content-Type': 'application/json' };
    // The campaign of the example exists, so nothing else rejects the body.
    const expectAccepted = (status: number) => expect(status).toBe(200);

    test('accepts 64 KiB, and rejects one byte more with 413', async () => {
      for (const chunked of [false, true]) {
        expectAccepted((await createLead(padded(bodyLimit), json, chunked)).status);
        const answer = await createLead(padded(bodyLimit + 1), json, chunked);
        expect([answer.status, answer.json()]).toEqual([413, tooLarge]);
      }
    });

    test('rejects a content-length over 64 KiB with 413 before the body arrives', async () => {
      const answer = await raw(
        `POST ${path} HTTP/1.1\nHost: test\n${credentials}\nContent-Type: application/json\nContent-Length: 10000000\nConnection: close`,
      );
      expect([answer?.status, answer?.json()]).toEqual([413, tooLarge]);
    });

    test('spec 4.1, 4.3: rejects a media type that the operation does not list with 415', async () => {
      const types = [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonx',
        'application/ld+json',
        'application/json, text/plain',
        'application/*',
        'json',
        'é',
        ';',
        '',
      ];
      for (const type of types) {
        const answer = await createLead(JSON.stringify(example), { 'Content-Type': type });
        expect([type, answer.status, answer.json()]).toEqual([type, 415, unsupported]);
      }
      const body = JSON.stringify(example);
      const without = await raw(
        `POST ${path} HTTP/1.1\nHost: test\n${credentials}\nContent-Length: ${body.length}\nConnection: close`,
        { body },
      );
      expect([without?.status, without?.json()]).toEqual([415, unsupported]);
    });

    test('accepts application/json in any case and with parameters', async () => {
      const types = ['application/json', 'APPLICATION/JSON', 'application/json;charset=utf-8'];
      for (const type of [...types, 'application/json ; charset="UTF-8"', 'application/json; v=1']) {
        expectAccepted((await createLead(JSON.stringify(example), { 'Content-Type': type })).status);
      }
    });

    test('spec 4.1, 4.3: rejects an empty body with 400', async () => {
      for (const more of [
        'Content-Length: 0',
        'Content-Type: application/json\nContent-Length: 0',
        'Accept: */*',
      ]) {
        const answer = await raw(
          `POST ${path} HTTP/1.1\nHost: test\n${credentials}\n${more}\nConnection: close`,
        );
        expect([answer?.status, answer?.json()]).toEqual([400, invalid]);
      }
    });

    test('closes the connection or answers 400 if the body is truncated', async () => {
      const head = `POST ${path} HTTP/1.1\nHost: test\n${credentials}\nContent-Type: application/json`;
      const cut = JSON.stringify(example).slice(0, 20);
      for (const [length, body] of [
        ['Content-Length: 100', cut],
        ['Transfer-Encoding: chunked', `14\r\n${cut}`],
        ['Transfer-Encoding: chunked', `14\r\n${cut}\r\n`],
      ]) {
        const answer = await raw(`${head}\n${length}`, { body: body ?? '', end: true });
        expect([undefined, malformed]).toContainEqual(answer?.json());
      }
    });
  });

  describe('the HTTP parser', () => {
    const requests = {
      'bytes that are not HTTP': 'hello',
      'an unknown HTTP version': `GET ${path} HTTP/9.9\nHost: test`,
      'a content-length that is not a number': `POST ${path} HTTP/1.1\nHost: test\nContent-Length: x`,
      'a negative content-length': `POST ${path} HTTP/1.1\nHost: test\nContent-Length: -1`,
      'two content-length headers': `POST ${path} HTTP/1.1\nHost: test\nContent-Length: 1\nContent-Length: 2`,
      'a content-length with a chunked body': `POST ${path} HTTP/1.1\nHost: test\nContent-Length: 5\nTransfer-Encoding: chunked`,
      'a header without a colon': 'GET /health/live HTTP/1.1\nHost: test\nnonsense',
      'a space in a header name': 'GET /health/live HTTP/1.1\nHost: test\nA b: c',
      'NUL in a header': 'GET /health/live HTTP/1.1\nHost: test\nA: b\0c',
      'a control character in the path': 'GET /health/\x01live HTTP/1.1\nHost: test',
      'a path that cannot be decoded': 'GET /%ZZ HTTP/1.1\nHost: test\nConnection: close',
      'a path of invalid UTF-8': 'GET /%FF HTTP/1.1\nHost: test\nConnection: close',
      'a request without Host': 'GET /health/live HTTP/1.1\nConnection: close',
      'two Host headers': 'GET /health/live HTTP/1.1\nHost: a\nHost: b\nConnection: close',
    };
    for (const [name, request] of Object.entries(requests)) {
      test(`rejects ${name} with 400`, async () => {
        const answer = await raw(request);
        expect([answer?.status, answer?.json()]).toEqual([400, malformed]);
        expect(answer?.headers['content-type']).toBe('application/json; charset=utf-8');
      });
    }

    test('rejects an invalid chunk with 400', async () => {
      const head = `POST ${path} HTTP/1.1\nHost: test\n${credentials}\nContent-Type: application/json`;
      const answer = await raw(`${head}\nTransfer-Encoding: chunked`, { body: 'zz\r\n{}\r\n0\r\n\r\n' });
      expect([answer?.status, answer?.json()]).toEqual([400, malformed]);
    });

    test('logs a body that ends early as a rejected request, not as an error', async () => {
      const head = `POST ${path} HTTP/1.1\nHost: test\n${credentials}\nContent-Type: application/json\nContent-Length: 100`;
      const bodies = ['', '{', '{"name":"A'];
      for (const [index, body] of bodies.entries()) {
        await raw(`${head}\nX-Request-Id: early-end-${index}`, { body, end: true });
      }
      // The guard has verified the key of all requests when this one is answered.
      expect((await createLead(example)).status).toBe(200);
      const lines = () =>
        service.logs.entries().filter(({ reqId }) => String(reqId).startsWith('early-end-'));
      const aborted = { msg: 'The client disconnected during the request' };
      await expect.poll(() => lines().filter(({ msg }) => msg === aborted.msg)).toHaveLength(bodies.length);
      expect(lines().filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
      expect(lines().filter(({ status }) => Number(status) >= 500)).toEqual([]);
    });

    test('answers a request once, if its body is invalid after an early response', async () => {
      for (const [method, target, status] of [
        ['POST', '/nowhere', 404],
        ['POST', path, 401],
        ['HEAD', '/nowhere', 404],
        ['GET', '/health/live', 200],
      ] as const) {
        const answer = await raw(`${method} ${target} HTTP/1.1\nHost: test\nTransfer-Encoding: chunked`, {
          body: '2\r\n{}\r\nzz\r\n{}\r\n0\r\n\r\n',
        });
        expect([target, answer?.status]).toEqual([target, status]);
      }
    });

    test('answers a malformed request after the requests before it', async () => {
      const answers = await service.sendRaw(
        'GET /health/ready HTTP/1.1\r\nHost: test\r\n\r\nnonsense\r\n\r\n',
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 400]);
      const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: test\r\n\r\n';
      const both = await service.sendRaw(`GET /health/ready HTTP/1.1\r\nHost: test\r\n\r\n${tunnel}`);
      expect(both.map(({ status }) => status)).toEqual([200, 405]);
    });

    test('rejects CONNECT with 405', async () => {
      for (const target of ['example.com:443', path]) {
        const answer = await raw(`CONNECT ${target} HTTP/1.1\nHost: test`);
        expect([answer?.status, answer?.headers.allow, answer?.json()]).toEqual([405, '', notAllowed]);
      }
    });

    test('answers a malformed HEAD request without a body', async () => {
      const before = `GET /health/live HTTP/1.1\nHost: test\n\n`;
      for (const [request, status] of [
        ['HEAD /health/live HTTP/1.1\nHost: test\nnonsense', 400],
        [`HEAD /health/live HTTP/1.1\nHost: test\nX: ${'x'.repeat(20_000)}`, 431],
        [`${before}HEAD /health/live HTTP/1.1\nHost: test\nA b: c`, 400],
      ] as const) {
        const answers = await service.sendRaw(`${request.replaceAll('\n', '\r\n')}\r\n\r\n`);
        const last = answers.at(-1);
        expect([last?.status, last?.text]).toEqual([status, '']);
        expect(Number(last?.headers['content-length'])).toBeGreaterThan(0);
      }
    });

    test('rejects a URL and headers that are too large with 431', async () => {
      for (const header of [`X: ${'x'.repeat(20_000)}`, `API_KEY: ${'x'.repeat(20_000)}`]) {
        const answer = await raw(`GET /health/live HTTP/1.1\nHost: test\n${header}`);
        expect([answer?.status, answer?.json()]).toEqual([431, headersTooLarge]);
      }
      const answer = await raw(`GET /health/live?${'x'.repeat(20_000)} HTTP/1.1\nHost: test`);
      expect([answer?.status, answer?.json()]).toEqual([431, headersTooLarge]);
    });

    test('accepts HTTP/1.0 without Host', async () => {
      expect((await raw('GET /health/live HTTP/1.0'))?.status).toBe(200);
    });

    test('ignores an unknown expectation', async () => {
      const answer = await raw('GET /health/live HTTP/1.1\nHost: test\nExpect: magic\nConnection: close');
      expect(answer?.status).toBe(200);
    });

    test('answers malformed headers in several packets without a body, because the method is unknown', async () => {
      for (const [start, rest, status] of [
        ['HEAD /health/live HTTP/1.1\r\nHost: test\r\n', 'nonsense\r\n\r\n', 400],
        ['GET /health/live HTTP/1.1\r\nHost: test\r\n', 'nonsense\r\n\r\n', 400],
        ['HE', 'AD /health/live HTTP/1.1\r\nA b: c\r\n\r\n', 400],
        ['HEAD /health/live HTTP/1.1\r\nX: ', `${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ] as const) {
        const before = 'GET /health/live HTTP/1.1\r\nHost: test\r\n\r\n';
        const [first, ...answers] = await service.sendRaw(before + start, { rest });
        expect(first?.status).toBe(200);
        expect(answers.map((answer) => [answer.status, answer.text])).toEqual([[status, '']]);
        expect(answers[0]?.headers).toMatchObject(withoutBody);
      }
    });

    test.concurrent('answers 408 and closes the connection if headers or a body do not arrive in time', async () => {
      const body = `Host: test\n${credentials}\nContent-Type: application/json\nContent-Length: 100\n\n{`;
      const slow = [`POST ${path} HTTP/1.1\n${body}`, `HEAD /health/live HTTP/1.1\n${body}`];
      const slowHeaders = [
        'GET /health/live HTTP/1.1\nHost: test\nX-Slow: ',
        'HEAD /health/live HTTP/1.1\nHost: test\nX-Slow: ',
        `POST ${path} HTTP/1.1\nHost: test\n${credentials}\nContent-Length: 1\nX-Slow: `,
        'GE',
      ];
      const [late, ...answers] = await Promise.all(
        [...slow, ...slowHeaders].map((text) => service.sendRaw(text.replaceAll('\n', '\r\n'))),
      );
      expect(late?.map((answer) => [answer.status, answer.json()])).toEqual([[408, timedOut]]);
      // Node does not report the method of a request whose headers are incomplete.
      for (const [index, answered] of answers.slice(1).entries()) {
        expect([slowHeaders[index], answered.map(({ status, text }) => [status, text])]).toEqual([
          slowHeaders[index],
          [[408, '']],
        ]);
        expect(answered[0]?.headers).toMatchObject(withoutBody);
        expect(answered[0]?.headers).not.toHaveProperty('content-type');
      }
    });
  });

  describe('the service', () => {
    test('takes the request id from X-Request-Id, returns it and logs it', async () => {
      for (const id of ['abc', 'a'.repeat(128), '0:1.2-3_4']) {
        const answer = await createLead({}, { 'X-Request-Id': id });
        expect(answer.headers['x-request-id']).toBe(id);
        expect(service.logs.entries()).toContainEqual(
          expect.objectContaining({ reqId: id, method: 'POST', route: path, status: 400, msg: 'Request' }),
        );
      }
    });

    test('replaces an invalid request id with a new one', async () => {
      for (const id of ['', 'a b', 'a'.repeat(129), '{"a":1}', 'é', '../x', 'a,b']) {
        const answer = await service.send({ path: '/health/live', headers: { 'X-Request-Id': id } });
        expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      }
      const unroutable = await raw('GET /%ZZ HTTP/1.1\nHost: test\nX-Request-Id: abc\nConnection: close');
      expect(unroutable?.headers['x-request-id']).toBe('abc');
    });

    test('logs the method, the route, the status, the duration, the workspace and the API key, the reason of an error at level debug, and no request content', async () => {
      const id = 'log-line-content';
      await service.send({
        method: 'POST',
        path: `${path}?phone=5550199`,
        headers: { ...headers, 'X-Request-Id': id, 'User-Agent': 'leaky-agent' },
        body: {},
      });
      const lines = service.logs.entries().filter(({ reqId }) => reqId === id);
      expect(lines.map((line) => Object.keys(line).toSorted())).toEqual([
        ['code', 'level', 'msg', 'reasons', 'reqId', 'service', 'time'],
        [
          'apiKeyId',
          'durationMs',
          'level',
          'method',
          'msg',
          'reqId',
          'route',
          'service',
          'status',
          'time',
          'workspaceId',
        ],
      ]);
      expect(lines[0]).toMatchObject({ level: 'debug', code: 'invalid_input' });
      expect(lines[1]).toMatchObject({
        route: path,
        workspaceId: owner.workspaceId,
        apiKeyId: owner.apiKeyId,
      });
    });
  });

  describe('the service', () => {
    test('sends nosniff and Referrer-Policy with every response', async () => {
      const head = (request: string) => `${request.replaceAll('\n', '\r\n')}\r\n\r\n`;
      const answers = [
        await service.send({ path: '/nowhere' }),
        await service.send({ method: 'TRACE', path }),
        await createLead(example),
        await createLead({}),
        ...(await service.sendRaw(head('GET /%ZZ HTTP/1.1\nHost: test\nConnection: close'))),
        ...(await service.sendRaw(head('nonsense'))),
        ...(await service.sendRaw(head('CONNECT x:1 HTTP/1.1\nHost: test'))),
      ];
      for (const route of service.routes) {
        if (route.method !== 'GET') continue;
        const all = { ...headers, ...endingHeaders(route.path) };
        answers.push(await service.send({ path: fillPath(route.path), headers: all }));
      }
      for (const { status, headers: answered } of answers) {
        expect([status, answered['x-content-type-options'], answered['referrer-policy']]).toEqual([
          status,
          'nosniff',
          'no-referrer',
        ]);
        expect(answered['strict-transport-security']).toBeUndefined();
      }
    });

    test('serves its document at /openapi.json', async () => {
      expect((await service.send({ path: '/openapi.json' })).json()).toEqual(service.published);
    });

    test('serves a page at /docs that loads no external resources', async () => {
      const page = await service.send({ path: '/docs' });
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      expect(page.headers).toMatchObject({
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      });
      expect(page.text).toContain('<script src="/docs/reference.js">');
      expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
    });

    test('serves the compressed script of the docs at /docs/reference.js', async () => {
      const script = await service.send({ path: '/docs/reference.js' });
      expect(script.status).toBe(200);
      expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
      expect(script.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(script.bytes).length).toBeGreaterThan(100_000);
    });

    test('reports its liveness and the state of the database', async () => {
      expect((await service.send({ path: '/health/live' })).json()).toEqual({ status: 'live' });
      const readiness = async () => {
        const answer = await service.send({ path: '/health/ready' });
        return [answer.status, answer.json()];
      };
      await expect.poll(readiness).toEqual([200, { status: 'ready', checks: { database: 'up' } }]);
    });
  });
}
