import { gzipSync } from 'node:zlib';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import type { Fixture } from '../fixture.ts';
import type { TestRequest } from '../http-client.ts';
import {
  exampleBody,
  fillPath,
  guardedRoutesOf,
  isEndless,
  type JsonSchema,
  requiredSchemes,
  type Route,
} from '../openapi-document.ts';
import type { RunningService } from '../running-service.ts';

interface Problem {
  readonly type: string;
  readonly title: string;
  readonly detail?: string;
  readonly error: string;
  readonly errors?: readonly { pointer?: string; parameter?: string; header?: string; detail: string }[];
}

const problemJson = 'application/problem+json';

/** A value sent in the wrong place, which no response may contain. */
const secret = 'hush-5550199';

/** The start of a reason. A user interface puts the field's label before it. */
const readable = /^(is|must|has|contains|does) [a-z]/;

/** Accept headers, each with whether it requests problem details (RFC 9110, 12.5.1). */
const acceptCases: readonly (readonly [
  accept: string | readonly string[] | undefined,
  isProblem: boolean,
])[] = [
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/*', false],
  ['application/json', false],
  ['text/html', false],
  ['application/problem+xml', false],
  ['application/problem', false],
  ['x-application/problem+json', false],
  [problemJson, true],
  ['Application/Problem+JSON', true],
  ['application/problem+json;charset=utf-8', true],
  ['application/problem+json; charset="UTF-8"; q=1', true],
  ['application/problem+json;profile=x', false],
  ['application/problem+json;q=0', false],
  ['application/problem+json;q=0.000', false],
  ['application/problem+json;q=0.001', true],
  ['application/problem+json;q=x', false],
  ['application/problem+json;q=-1', false],
  ['application/json, application/problem+json', false],
  ['application/problem+json, application/json', true],
  ['application/problem+json;q=0.5, application/json;q=0.5', true],
  ['application/problem+json;q=0.4, application/json;q=0.5', false],
  ['application/problem+json;Q=0.4, application/json;q=0.5', false],
  ['application/problem+json;q=0.5, application/json;q=0.4', true],
  ['application/problem+json;q=0.9, */*', false],
  ['application/problem+json;q=0.9, */*;q=0.8', true],
  ['application/problem+json;q=0.9, application/*;q=0.1, */*', true],
  ['application/problem+json;q=0.9, */*, application/json;q=0.1', true],
  ['application/problem+json;q=0.9, application/json;q=0', true],
  ['text/html, application/xhtml+xml;q=0.9, application/problem+json;q=0.5', true],
  ['text/html;x="a, application/problem+json", */*', false],
  ['text/html;x="\\", application/problem+json', false],
  [['application/json;q=0.5', problemJson], true],
  [`${','.repeat(8000)}${problemJson}`, true],
  [`"${'\\"'.repeat(4000)}${problemJson}`, false],
];

/**
 * Tests problem details (RFC 9457) on every route of a service's OpenAPI document. If the client accepts
 * them, they name every invalid field. Otherwise the body has exactly the three fields of the specification.
 */
export async function describeProblems({ service, fixture }: { service: RunningService; fixture: Fixture }) {
  const workspace = await fixture.createWorkspace();
  const { owner } = workspace;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);

  /**
   * Sends a request that is rejected, with and without Accept, and compares the common parts of both
   * responses.
   */
  async function expectProblem(request: TestRequest, status: number): Promise<Problem> {
    const headers = { ...request.headers, 'X-Request-Id': 'a-problem' };
    const plain = await service.send({ ...request, headers });
    const { success, error, message } = plain.json<Record<string, unknown>>();
    expect([plain.status, plain.headers['content-type'], plain.text]).toEqual([
      status,
      'application/json; charset=utf-8',
      JSON.stringify({ success, error, message }),
    ]);

    const answer = await service.send({ ...request, headers: { ...headers, Accept: problemJson } });
    const problem = answer.json<Problem>();
    expect([answer.status, answer.headers['content-type']]).toEqual([
      status,
      `${problemJson}; charset=utf-8`,
    ]);
    expect(answer.headers.vary).toBe(plain.headers.vary);
    expect(answer.headers['cache-control']).toBe(plain.headers['cache-control']);
    expect(problem).toMatchObject({ status, success, error, instance: 'urn:request:a-problem' });
    expect([problem.title, problem.detail]).toContain(message);
    expect(answer.text).not.toContain(secret);
    return problem;
  }

  const credentials = (route: Route) =>
    requiredSchemes(route.operation).includes('AccessToken')
      ? { ...owner.headers }
      : { API_KEY: owner.apiKey };

  describe('the service', () => {
    test.each(acceptCases)(
      'answers an error to Accept: %s with problem details: %s',
      async (accept, isProblem) => {
        const headers = accept === undefined ? {} : { Accept: accept };
        const answer = await service.send({ path: '/api/v1/nowhere', headers });
        expect(answer.headers['content-type']).toBe(
          `${isProblem ? problemJson : 'application/json'}; charset=utf-8`,
        );
        expect(answer.headers.vary).toMatch(/(^|, )Accept(,|$)/);
      },
    );

    test('answers an unknown path or method with problem details', async () => {
      const notFound = await expectProblem({ path: '/nowhere' }, 404);
      expect(notFound).toMatchObject({ type: 'urn:leads:error:not_found', title: 'Not found' });
      const notAllowed = await expectProblem({ method: 'DELETE', path: '/health/live' }, 405);
      expect(notAllowed.type).toBe('urn:leads:error:method_not_allowed');
    });

    test('answers an undecodable path with problem details', async () => {
      expect((await expectProblem({ path: '/%ZZ' }, 400)).type).toBe('urn:leads:error:bad_request');
    });

    test('answers health checks with the same body, whatever the Accept header', async () => {
      const answer = await service.send({ path: '/health/ready', headers: { Accept: problemJson } });
      expect([answer.status, answer.headers['content-type'], answer.headers.vary]).toEqual([
        200,
        'application/json; charset=utf-8',
        undefined,
      ]);
    });
  });

  for (const route of guardedRoutesOf(service.document)) {
    const { method, operation } = route;
    const path = fillPath(route.path);
    const parameters = operation.parameters?.filter((parameter) => parameter.in === 'query') ?? [];
    const schema = operation.requestBody?.content['application/json']?.schema;

    describe(`${method} ${route.path}`, () => {
      const headers = credentials(route);
      const send = (body: unknown, status = 400) => expectProblem({ method, path, headers, body }, status);

      test('spec 5.4: answers missing credentials with problem details', async () => {
        const problem = await expectProblem({ method, path, body: exampleBody(operation) }, 401);
        expect(problem).toMatchObject({
          type: 'urn:leads:error:unauthenticated',
          title: 'Authentication failed',
        });
        expect(problem.errors).toBeUndefined();
      });

      if (requiredSchemes(operation).includes('AccessToken')) {
        test('answers insufficient permissions with problem details', async () => {
          const { headers: limited } = await workspace.addMember('publisher', { scope: 'intake' });
          const problem = await expectProblem(
            { method, path, headers: limited, body: exampleBody(operation) },
            403,
          );
          expect(problem.type).toBe('urn:leads:error:forbidden');
        });
      }

      if (method === 'GET' && !route.path.includes('{') && !isEndless(operation)) {
        test('answers a successful request with the same body, whatever the Accept header', async () => {
          const answers = await Promise.all(
            [{}, { Accept: problemJson }].map((more) =>
              service.send({ path, headers: { ...headers, ...more } }),
            ),
          );
          expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
          expect(answers[1]?.text).toBe(answers[0]?.text);
          expect(answers[1]?.headers['content-type']).toBe(answers[0]?.headers['content-type']);
        });
      }

      if (parameters.length > 0) {
        test('names an unknown query parameter in the problem details', async () => {
          const query = `a%2Fb~%C3%A9=${secret}`;
          const { errors } = await expectProblem(
            { method, path: `${path}?${query}`, headers, body: exampleBody(operation) },
            400,
          );
          expect(errors).toEqual([{ parameter: 'a/b~é', detail: 'is not a known parameter' }]);
        });
      }
      for (const { name, schema: ofParameter } of parameters) {
        if (ajv.validate(ofParameter, [secret, `${secret}0`])) continue;
        test(`names the parameter ?${name} given twice in the problem details`, async () => {
          const query = `${name}=${secret}&${name}=${secret}`;
          const { errors } = await expectProblem(
            { method, path: `${path}?${query}`, headers, body: exampleBody(operation) },
            400,
          );
          expect(errors).toEqual([{ parameter: name, detail: 'must be given only once' }]);
        });
      }

      const json = { ...headers, 'Content-Type': 'application/json' };
      const media = Object.keys(operation.requestBody?.content ?? { 'application/json': {} });
      const isBodyOptional = operation.requestBody?.required !== true;
      if (method !== 'GET' && media.includes('application/json') && isBodyOptional) {
        test('accepts a request without a body, also if it names the media type of one', async () => {
          const answers = await Promise.all(
            [
              { headers: json, body: '{}' },
              { headers: json, body: '' },
              { headers, body: undefined },
            ].map((request) => service.send({ method, path, ...request })),
          );
          const [{ status } = { status: 400 }] = answers;
          expect(status).not.toBe(400);
          expect(answers.map((answer) => answer.status)).toEqual([status, status, status]);
        });
      }

      if (schema === undefined) return;
      const example = exampleBody(operation) ?? {};
      const fields = Object.entries(schema.properties ?? {});

      test('describes a body that is too large, of another media type, or not JSON', async () => {
        const tooLarge = await send({ ...example, large: 'x'.repeat(70_000) }, 413);
        expect(tooLarge).toMatchObject({
          type: 'urn:leads:error:payload_too_large',
          errors: [{ pointer: '#', detail: 'must not be larger than 64 KiB' }],
        });
        const text = { ...headers, 'Content-Type': 'text/plain' };
        const unsupported = await expectProblem({ method, path, headers: text, body: 'x' }, 415);
        expect(unsupported).toMatchObject({
          type: 'urn:leads:error:unsupported_media_type',
          errors: [
            { header: 'content-type', detail: expect.stringMatching(/^must be application\/json/) as string },
          ],
        });

        for (const [body, detail] of [
          ...(isBodyOptional ? [] : [['', 'The request body is empty'] as const]),
          [`{"name":"${secret}"`, 'The request body is not valid JSON'],
          [Buffer.from([0x22, 0xff, 0x22]), 'The request body is not UTF-8'],
        ] as const) {
          const problem = await expectProblem({ method, path, headers: json, body }, 400);
          expect(problem).toMatchObject({ type: 'urn:leads:error:invalid_input', detail });
          expect(problem.title).toBe('Invalid input data');
          expect(problem.errors).toBeUndefined();
        }
        const compressed = await expectProblem(
          {
            method,
            path,
            headers: { ...json, 'Content-Encoding': 'gzip' },
            body: gzipSync(JSON.stringify(example)),
          },
          415,
        );
        expect(compressed).toMatchObject({
          detail: 'Unsupported media type: send the body uncompressed',
          errors: [{ header: 'content-encoding', detail: 'must be absent: send the body uncompressed' }],
        });
      });

      test('rejects a body that is not an object with a pointer to the root', async () => {
        for (const body of [[], secret, 1, null]) {
          const { errors } = await expectProblem(
            { method, path, headers: json, body: JSON.stringify(body) },
            400,
          );
          expect(errors).toEqual([{ pointer: '#', detail: 'must be an object' }]);
        }
        if (isBodyOptional) return;
        expect((await expectProblem({ method, path, headers }, 400)).errors).toEqual([
          { pointer: '#', detail: 'is required' },
        ]);
      });

      test('points to text that cannot be stored', async () => {
        const body = { ...example, 'a/b~é': [{ c: `${secret}\0` }] };
        expect((await send(body)).errors).toEqual([
          { pointer: '#/a~1b~0%C3%A9/0/c', detail: 'contains characters that cannot be stored' },
        ]);
      });

      for (const name of schema.required ?? []) {
        test(`points to a missing ${name}`, async () => {
          const { [name]: _, ...body } = example;
          expect((await send(body)).errors).toEqual([{ pointer: `#/${name}`, detail: 'is required' }]);
        });
      }

      for (const [name, field] of fields) {
        for (const wrong of wrongValues(field)) {
          test(`points to ${name} if its value is ${JSON.stringify(wrong)}`, async () => {
            const { errors } = await send({ ...example, [name]: wrong });
            expect(errors?.length).toBeGreaterThan(0);
            for (const { pointer, detail } of errors ?? []) {
              expect(pointer?.startsWith(`#/${name}/`) === true ? `#/${name}` : pointer).toBe(`#/${name}`);
              expect(detail).toMatch(readable);
            }
          });
        }
      }

      test('names every invalid field of a body, not only the first', async () => {
        const faulty = fields.filter(([, field]) => wrongValues(field).length > 0);
        const [missing] = schema.required ?? [];
        const sent = faulty.filter(([name]) => name !== missing);
        const body = Object.fromEntries(sent.map(([name, field]) => [name, wrongValues(field)[0]]));
        const { errors = [] } = await send(body);
        const named = new Set(errors.map(({ pointer }) => /^#\/[^/]*/.exec(pointer ?? '')?.[0]));
        expect(named).toEqual(new Set(faulty.map(([name]) => `#/${name}`)));
      });

      test('points to each field that is an integer beyond 2^53 and must not be a number', async () => {
        const names = fields.filter(([, field]) => !ajv.validate(field, 2 ** 64)).map(([name]) => name);
        const text = JSON.stringify({
          ...example,
          ...Object.fromEntries(names.map((name) => [name, secret])),
        });
        const body = text.replaceAll(`"${secret}"`, '12345678901234567890');
        const { errors = [] } = await expectProblem({ method, path, headers: json, body }, 400);
        expect(new Set(errors.map(({ pointer }) => pointer))).toEqual(
          new Set(names.map((name) => `#/${name}`)),
        );
      });

      if (schema.additionalProperties === false) {
        test('points to an unknown field', async () => {
          expect((await send({ ...example, 'a/b~é %#"': secret })).errors).toEqual([
            { pointer: '#/a~1b~0%C3%A9%20%25%23%22', detail: 'is not a known field' },
          ]);
        });
      }
    });
  }

  /** Returns values that a field does not accept: a text, and an object. */
  function wrongValues(field: JsonSchema): unknown[] {
    return [secret, { a: secret }].filter((value) => !ajv.validate(field, value));
  }
}
