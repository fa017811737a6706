import { readFileSync } from 'node:fs';
import type { Answer } from '@leads/test-kit/http-client';
import { fillPath, type JsonSchema } from '@leads/test-kit/openapi-document';
import { describeProblems } from '@leads/test-kit/suites/problems';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { leadsPath, ok } from './leads-api.ts';
import { signInAs, Visitor } from './visitor.ts';
import { signedInRoutesOf, websiteRoutesOf } from './website-routes.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

await describeProblems(crm);

const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const ada = { campaignCode: 'DEMO', name: 'Ada', phone: '1' };

interface RequestCase {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
const edit = async (body: object, headers = {}): Promise<RequestCase> => {
  const lead = workspace.lead(owner);
  await fixture.leads.insert([lead]);
  return { method: 'PATCH', path: `${leadsPath}/${lead.id}`, body, headers };
};
const create = (changes: object, headers = {}): RequestCase => ({
  method: 'POST',
  path: leadsPath,
  body: { ...ada, ...changes },
  headers,
});
const send = ({ headers, ...request }: RequestCase) =>
  service.send({
    ...request,
    headers: { ...owner.headers, Accept: 'application/problem+json', ...headers },
  });

describe('an unknown path', () => {
  const html = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  const get = (path: string, headers: Readonly<Record<string, string>> = html) =>
    service.send({ path, headers });

  test.each([
    ['/overview/', '/overview'],
    ['/docs/', '/docs'],
    ['/Leads?q=a%2Fb&status=OnHold', '/leads?q=a%2Fb&status=OnHold'],
    ['/Webhooks/AbC/', '/webhooks/AbC'],
    ['//leads//', '/leads'],
    ['/integrations/', '/integrations'],
  ])('%s redirects to the page %s', async (path, location) => {
    const { status, headers } = await get(path);
    expect([status, headers.location]).toEqual([308, location]);
  });

  test.each([
    '/no/such/page',
    '/integration/',
    '/leads/extra',
    '//evil.example/',
    '/\\evil.example/',
    '/apis',
    '/docs/nowhere',
    '/%ff',
  ])('%s is answered to browsers with 404 and the document of the website', async (path) => {
    const page = await get('/overview');
    const { status, headers, text } = await get(path);
    expect([status, text, headers['location']]).toEqual([404, page.text, undefined]);
    expect(headers['content-security-policy']).toBe(page.headers['content-security-policy']);
    expect((await service.send({ method: 'HEAD', path, headers: html })).text).toBe('');
  });

  test.each<[string, Readonly<Record<string, string>>, string?]>([
    ['/no/such/page', {}],
    ['/no/such/page', { Accept: '*/*' }],
    ['/overview/', {}],
    ['/no/such/page', html, 'POST'],
    ['/api/v1/nowhere', html],
    ['/api', html],
    ['/health/nowhere', html],
  ])('%s with %o is answered with 404 as JSON to programs', async (path, headers, method = 'GET') => {
    const answer = await service.send({ method, path, headers });
    expect(answer.json()).toEqual({ success: false, error: 'error', message: 'Not found' });
    expect(answer.status).toBe(404);
  });
});

/** These rules are not in a schema, and their errors name the field like schema errors. */
test.each<
  [
    title: string,
    request: () => Promise<RequestCase> | RequestCase,
    status: number,
    type: string,
    errors: object[],
  ]
>([
  [
    'spec 2.1, 7: rejects an email address with 400 and states the required ending',
    () => create({ email: 'ada@example.com' }),
    400,
    'invalid_input',
    [{ pointer: '#/email', detail: expect.stringMatching(/must end in `?\.io/) as string }],
  ],
  [
    'rejects a campaign that accepts no leads with 400',
    () => create({ campaignCode: 'NONE' }),
    400,
    'campaign_unavailable',
    [{ pointer: '#/campaignCode', detail: 'must be the code of an active campaign' }],
  ],
  [
    'rejects an idempotency key that was used with other content with 422',
    async () => {
      const key = { 'Idempotency-Key': 'once' };
      ok(await send(create({}, key)));
      return create({ name: 'Eve' }, key);
    },
    422,
    'idempotency_key_reused',
    [{ header: 'idempotency-key', detail: 'was already used with different content' }],
  ],
  [
    'rejects an invalid cursor with 400',
    () => ({ method: 'GET', path: `${leadsPath}?cursor=x` }),
    400,
    'invalid_cursor',
    [{ parameter: 'cursor', detail: 'must come from a page of the same list' }],
  ],
  [
    'rejects an invalid If-Match header with 400',
    () => edit({ city: 'Paris' }, { 'If-Match': '1' }),
    400,
    'bad_request',
    [{ header: 'if-match', detail: 'must be the ETag of a lead, or *' }],
  ],
  [
    'rejects a change of a read-only field with 400',
    () => edit({ city: 'Paris', createdAt: '2026-01-01', campaignCode: 'DEMO' }),
    400,
    'invalid_input',
    [
      { pointer: '#/createdAt', detail: 'cannot be changed' },
      { pointer: '#/campaignCode', detail: 'cannot be changed' },
    ],
  ],
  [
    'rejects a reason without a status and a payout with 400',
    () => edit({ city: 'Paris', reason: 'because' }),
    400,
    'invalid_input',
    [{ pointer: '#/reason', detail: 'is allowed only with a status or a payout, or to hold the lead' }],
  ],
  [
    'rejects a status change without its required reason with 400',
    () => edit({ status: 'Trashed' }),
    400,
    'reason_required',
    [{ pointer: '#/reason', detail: 'is required from OnHold to Trashed' }],
  ],
  [
    'rejects an illegal status change with 409',
    () => edit({ status: 'Paid' }),
    409,
    'conflict',
    [{ pointer: '#/status', detail: 'must be Approved or Trashed from OnHold' }],
  ],
])('%s', async (_, request, status, type, errors) => {
  const answer = await send(await request());
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect([answer.status, answer.json()]).toEqual([
    status,
    expect.objectContaining({ status, type: `urn:leads:error:${type}`, errors }),
  ]);
});

test('the README shows the actual answer of the API', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, body, expected = ''] = /`(\{[^`]+\})` is answered with:\n\n```json\n(.*?)```/s.exec(readme) ?? [];
  const answer = await service.send({
    method: 'POST',
    path: leadsPath,
    headers: {
      ...owner.headers,
      'Content-Type': 'application/json',
      Accept: 'application/problem+json',
      'X-Request-Id': /urn:request:([\w.-]+)/.exec(expected)?.[1] ?? '',
    },
    body,
  });
  expect(answer.json()).toEqual(JSON.parse(expected));
});

describe('every route of the website', async () => {
  const { visitor } = await signInAs(service, workspace, 'owner');
  const signedOut = new Visitor(service);
  const routes = await websiteRoutesOf(service);

  function expectProblem(answer: Answer, expected: { status: number; type: string }) {
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    const { type } = expected;
    expect([answer.status, answer.json()]).toEqual([
      expected.status,
      expect.objectContaining({ ...expected, type: `urn:leads:error:${type}`, success: false }),
    ]);
  }
  const sendAs = (
    sender: Visitor,
    { method, path }: (typeof routes)[number],
    headers: object,
    body?: unknown,
  ) =>
    sender.send(method, fillPath(path).slice('/api'.length), body, {
      Accept: 'application/problem+json',
      ...headers,
    });

  test.for(routes)('$method $path answers a page of another site with a 403 problem', async (route) => {
    const answer = await sendAs(visitor, route, { 'Sec-Fetch-Site': 'cross-site' });
    expectProblem(answer, { status: 403, type: 'forbidden' });
  });

  test.for(await signedInRoutesOf(service))(
    '$method $path answers a request without a session with a 401 problem',
    async (route) => {
      expectProblem(await sendAs(signedOut, route, {}), { status: 401, type: 'unauthenticated' });
    },
  );

  const notCsv = {
    status: 415,
    type: 'unsupported_media_type',
    errors: [{ header: 'content-type', detail: 'must be text/csv' }],
  };
  /** The expected problems of POST and PATCH routes whose body is not a JSON object. */
  const exceptions: Readonly<Record<string, { status: number; type: string; errors?: object[] }>> = {
    'POST /api/console/order/leads/status/import': notCsv,
    'POST /api/console/order/leads/import': notCsv,
    'POST /api/console/api-keys/{id}/rotate': { status: 404, type: 'not_found' },
    'POST /api/console/campaigns/{id}/integration-link': { status: 404, type: 'not_found' },
    'POST /api/console/order/leads/{id}/viewers': { status: 404, type: 'not_found' },
    'POST /api/console/jobs/{id}/undo': { status: 404, type: 'not_found' },
    'POST /api/console/webhooks/{id}/test': { status: 404, type: 'not_found' },
    'POST /api/console/postbacks/{id}/test': { status: 404, type: 'not_found' },
    'POST /api/console/deliveries/{id}/resend': { status: 404, type: 'not_found' },
  };
  const writing = routes.filter(({ method }) => method === 'POST' || method === 'PATCH');
  test.for(writing)('$method $path answers a body that is not an object with a problem', async (route) => {
    const answer = await sendAs(visitor, route, {}, []);
    const notAnObject = {
      status: 400,
      type: 'invalid_input',
      errors: [{ pointer: '#', detail: 'must be an object' }],
    };
    const { errors, ...problem } = exceptions[`${route.method} ${route.path}`] ?? notAnObject;
    expectProblem(answer, problem);
    expect(answer.json<{ errors?: object[] }>().errors).toEqual(errors);
  });
});

describe('every route', async () => {
  const { visitor } = await signInAs(service, workspace, 'owner');
  const sendTo = (method: string, path: string, query: string, body?: unknown) => {
    const target = fillPath(path) + query;
    const headers = {
      Accept: 'application/problem+json',
      ...(typeof body === 'string' && { 'Content-Type': 'text/csv' }),
    };
    return target.startsWith('/api/v1/')
      ? service.send({ method, path: target, headers: { ...owner.headers, ...headers }, body })
      : visitor.send(method, target.slice('/api'.length), body, headers);
  };

  // Postgres cannot read a URN, although the format of ajv-formats accepts it.
  const urn = 'urn:uuid:019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f';
  const expectNoUuid = (answer: Answer, place: object) => {
    expect([answer.status, answer.text]).toEqual([400, answer.text]);
    expect(answer.json<{ errors: object[] }>().errors).toContainEqual({ ...place, detail: 'must be a UUID' });
  };
  const routes = service.routes.filter(({ method }) => method !== 'HEAD');
  test.for(
    routes.flatMap(({ method, path, query }) => uuidsIn(query).map((name) => ({ method, path, name }))),
  )('$method $path rejects the URN of a UUID in ?$name with 400', async ({ method, path, name }) => {
    expectNoUuid(await sendTo(method, path, `?${name}=${urn}`), { parameter: name });
  });
  test.for(routes.flatMap(({ method, path, body }) => uuidsIn(body).map((name) => ({ method, path, name }))))(
    '$method $path rejects the URN of a UUID in $name with 400',
    async ({ method, path, name }) => {
      const body = name.split('/').reduceRight<unknown>((value, each) => ({ [each]: value }), urn);
      expectNoUuid(await sendTo(method, path, '', body), { pointer: `#/${name}` });
    },
  );

  const parameters = routes.flatMap(({ method, path, query: { properties = {}, required = [] } }) =>
    Object.keys(properties).map((name) => {
      const others = required.filter((each) => each !== name);
      const rest = others.map((each) => `&${each}=${String(properties[each]?.examples?.[0])}`).join('');
      return { method, path, name, query: `?${name}=%00${rest}` };
    }),
  );
  test.for(parameters)('$method $path rejects a NUL in ?$name', async ({ method, path, name, query }) => {
    const answer = await sendTo(
      method,
      path,
      query,
      method === 'GET' ? undefined : 'campaignCode,name,phone\nDEMO,Ada,1',
    );
    // Some routes look up the id of the path or the workspace first.
    if (answer.status === 404 && (path.includes('{') || name === 'workspaceId')) return;
    expect([answer.status, answer.text]).toEqual([400, answer.text]);
    expect(answer.json<object>()).toMatchObject({ errors: [{ parameter: name }] });
  });
});

/** Returns the names of the properties of a schema that are UUIDs, with slashes before those of nested objects. */
function uuidsIn({ properties = {} }: JsonSchema): string[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema['format'] === 'uuid' ? [name] : uuidsIn(schema).map((nested) => `${name}/${nested}`),
  );
}
