import { LeadsError } from '@leads/core/errors';
import { type TSchema, Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../service/log.ts';
import { createServer } from './create-server.ts';
import { errorResponses } from './errors.ts';

const log = createLogger({ service: 'test', level: 'silent' });

/** Returns the problem details with which a route answers a request. */
async function problemOf(
  schema: { body?: TSchema; headers?: TSchema; params?: TSchema; querystring?: TSchema },
  request: { body?: unknown; path?: string; error?: Error },
) {
  const app = createServer({ log, trustProxy: '' });
  app.post('/things/:id', { schema: { ...schema, response: errorResponses('invalid_input') } }, async () => {
    throw request.error ?? new Error('The request was accepted');
  });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const answer = await fetch(`${origin}${request.path ?? '/things/1'}`, {
      method: 'POST',
      headers: {
        accept: 'application/problem+json',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    });
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    return (await answer.json()) as { errors?: object[]; detail?: string };
  } finally {
    await app.close();
  }
}

const body = async (schema: TSchema, value: unknown) =>
  (await problemOf({ body: schema }, { body: value })).errors;

describe('a validation message', () => {
  const text = Type.String();
  const choice = Type.Union([Type.String({ format: 'email', minLength: 9 }), Type.Literal('')]);
  const cases: [TSchema, unknown, ...string[]][] = [
    [text, 1, 'must be a string'],
    [text, null, 'must be a string'],
    [Type.Integer(), 1.5, 'must be a whole number'],
    [Type.Number(), '1', 'must be a number'],
    [Type.Boolean(), 'true', 'must be true or false'],
    [Type.Array(text), {}, 'must be an array'],
    [Type.Object({}), [], 'must be an object'],
    [Type.Null(), 1, 'must be null'],
    [Type.String({ minLength: 1 }), '', 'must not be empty'],
    [Type.String({ minLength: 2 }), 'a', 'must have at least 2 characters'],
    [Type.String({ maxLength: 1 }), 'ab', 'must have at most 1 character'],
    [Type.Array(text, { minItems: 1 }), [], 'must not be empty'],
    [Type.Array(text, { minItems: 2 }), [], 'must have at least 2 items'],
    [Type.Array(text, { maxItems: 1 }), ['a', 'b'], 'must have at most 1 item'],
    [Type.Array(text, { uniqueItems: true }), ['a', 'a'], 'must not contain duplicates'],
    [Type.Object({}, { minProperties: 1 }), {}, 'must not be empty'],
    [Type.Object({}, { minProperties: 2 }), { a: 1 }, 'must have at least 2 fields'],
    [Type.Integer({ minimum: 1 }), 0, 'must be 1 or more'],
    [Type.Integer({ maximum: 1 }), 2, 'must be 1 or less'],
    [Type.Enum(['OnHold', 'Paid', 'Trashed']), 'X', 'must be OnHold, Paid or Trashed'],
    [Type.Literal('OnHold'), 'X', 'must be OnHold'],
    [Type.Union([Type.Literal('a'), Type.Literal(1)]), 'X', 'must be a or 1'],
    [Type.Union([text, Type.Null()]), 1, 'must be a string or null'],
    [Type.Union([text, Type.Object({})]), null, 'must be a string or an object'],
    [Type.Union([text, Type.Object({})]), [], 'must be a string or an object'],
    [Type.String({ format: 'email' }), 'X', 'must be an email address'],
    [
      Type.String({ format: 'date-time' }),
      'X',
      'must be a date and time such as 2026-01-31T09:30:00Z (RFC 3339)',
    ],
    [Type.String({ pattern: '^a$' }), 'X', 'does not match the required format'],
    [Type.String({ pattern: '^a$', description: 'An a.' }), 'X', 'does not match the required format: An a.'],
    [Type.String({ pattern: '^a$', 'x-reason': 'must be an a' }), 'X', 'must be an a'],
    [
      Type.Union([Type.Literal(0), Type.Integer({ minimum: 60 })], { 'x-reason': 'must be 0 or more' }),
      59,
      'must be 0 or more',
    ],
    [
      Type.Union([Type.Literal(0), Type.Integer()], { 'x-reason': 'must be 0 or more' }),
      null,
      'must be 0 or more',
    ],
    // Only the errors of the branch that accepts the type of the value.
    [choice, 'X', 'must have at least 9 characters', 'must be an email address'],
    [choice, 1, 'must be a string'],
    [
      Type.Union([
        Type.Object({ kind: Type.Literal('a'), a: text }),
        Type.Object({ kind: Type.Literal('b') }),
      ]),
      1,
      'must be an object',
    ],
  ];

  test.each(cases)('for schema %j and value %j names the rule', async (schema, value, ...reasons) => {
    expect(await body(Type.Object({ field: schema }), { field: value })).toEqual(
      reasons.map((detail) => ({ pointer: '#/field', detail })),
    );
  });

  test('for a union of objects with a discriminator names the error of the matching object', async () => {
    const kinds = Type.Union([
      Type.Object({ kind: Type.Literal('a'), a: text }),
      Type.Object({ kind: Type.Literal('b'), b: text }),
    ]);
    expect(await body(Type.Array(kinds), [{ kind: 'b' }, { kind: 'a', a: 1 }, { kind: 'c' }])).toEqual([
      { pointer: '#/0/b', detail: 'is required' },
      { pointer: '#/1/a', detail: 'must be a string' },
      { pointer: '#/2', detail: 'does not match any of the allowed forms' },
    ]);
  });
});

test.each([
  Type.Integer({ multipleOf: 2 }),
  Type.Integer({ exclusiveMinimum: 1 }),
  Type.Object({}, { maxProperties: 1 }),
  Type.Unsafe({ oneOf: [{ type: 'string' }] }),
  Type.Unsafe({ type: 'string', maxlength: 1 }),
])(
  'a server whose request schema uses a keyword without an error message does not start: %j',
  async (schema) => {
    const app = createServer({ log, trustProxy: '' });
    app.post('/things', { schema: { body: Type.Object({ field: schema }) } }, async () => ({}));
    await expect(app.ready()).rejects.toThrow('unknown keyword');
  },
);

describe('the errors of problem details', () => {
  test('escape names for JSON Pointer and for URIs', async () => {
    const names = ['a/b', 'm~n', 'é', '%', '#', ' ', '"', '[0]', '', '~1', '👍'];
    const schema = Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()])));
    const pointers = [
      '#/a~1b',
      '#/m~0n',
      '#/%C3%A9',
      '#/%25',
      '#/%23',
      '#/%20',
      '#/%22',
      '#/%5B0%5D',
      '#/',
      '#/~01',
      '#/%F0%9F%91%8D',
    ];
    expect(await body(schema, {})).toEqual(pointers.map((pointer) => ({ pointer, detail: 'is required' })));
    const numbers = Object.fromEntries(names.map((name) => [name, 1]));
    expect(await body(schema, numbers)).toEqual(
      pointers.map((pointer) => ({ pointer, detail: 'must be a string' })),
    );
    const closed = Type.Object({}, { additionalProperties: false });
    expect(await body(closed, numbers)).toEqual(
      pointers.map((pointer) => ({ pointer, detail: 'is not a known field' })),
    );
  });

  test('cover every part of a request', async () => {
    const parts = {
      params: Type.Object({ id: Type.String({ minLength: 2 }) }),
      querystring: Type.Object(
        { limit: Type.String(), sort: Type.Enum(['a', 'b']) },
        { additionalProperties: false },
      ),
      headers: Type.Object({ 'Idempotency-Key': Type.String() }),
      body: Type.Object({ name: Type.String() }),
    };
    const { errors } = await problemOf(parts, {
      body: { name: 1 },
      path: '/things/1?limit=1&limit=2&sort=a&sort=b&x',
    });
    expect(errors).toEqual([
      { parameter: 'id', detail: 'must have at least 2 characters' },
      { pointer: '#/name', detail: 'must be a string' },
      { parameter: 'x', detail: 'is not a known parameter' },
      { parameter: 'limit', detail: 'must be given only once' },
      { parameter: 'sort', detail: 'must be given only once' },
      { header: 'idempotency-key', detail: 'is required' },
    ]);
  });

  test('are absent if no single parameter is invalid: the detail describes the error', async () => {
    const { errors, detail } = await problemOf({ querystring: Type.Object({}, { minProperties: 1 }) }, {});
    expect([detail, errors]).toEqual(['The query must not be empty', undefined]);
  });

  test('name the fields that a use case rejects', async () => {
    const fields = [
      { at: 'body', path: '/campaignCode', reason: 'is not known' },
      { at: 'query', path: 'cursor', reason: 'is of another list' },
      { at: 'path', path: 'id', reason: 'is not known' },
      { at: 'header', path: 'If-Match', reason: 'is not the version' },
    ] as const;
    expect(await problemOf({}, { error: new LeadsError('campaign_unavailable', { fields }) })).toMatchObject({
      type: 'urn:leads:error:campaign_unavailable',
      title: 'Unknown or inactive campaign',
      errors: [
        { pointer: '#/campaignCode', detail: 'is not known' },
        { parameter: 'cursor', detail: 'is of another list' },
        { parameter: 'id', detail: 'is not known' },
        { header: 'If-Match', detail: 'is not the version' },
      ],
    });
  });
});

test('a message that differs from the message of its code becomes the detail', async () => {
  const error = new LeadsError('conflict', { message: 'Paid leads only go back to Approved' });
  expect(await problemOf({}, { error })).toMatchObject({
    title: 'Conflict',
    detail: 'Paid leads only go back to Approved',
    status: 409,
  });
});

test('the message of an unexpected error is not sent', async () => {
  const problem = await problemOf({}, { error: new Error('password=hush') });
  expect(problem).toEqual({
    type: 'urn:leads:error:unexpected',
    title: 'An unexpected error occurred',
    status: 500,
    instance: expect.stringMatching(/^urn:request:/),
    success: false,
    error: 'error',
  });
});

describe('the response to a hostile body', () => {
  const texts = Type.Array(Type.String());

  test('lists at most 100 fields', async () => {
    expect(
      await body(
        texts,
        Array.from({ length: 150 }, () => 1),
      ),
    ).toHaveLength(100);
  });

  test('lists only the first error of a body with too many values', async () => {
    expect(
      await body(
        texts,
        Array.from({ length: 30_000 }, () => 1),
      ),
    ).toEqual([{ pointer: '#/0', detail: 'must be a string' }]);
    const deep = Array.from({ length: 500 }, () => Array.from({ length: 30 }, () => 1));
    expect(await body(Type.Array(texts), deep)).toHaveLength(1);
  });

  test('omits a name that is too long', async () => {
    const many = { ['x'.repeat(50_000)]: Array.from({ length: 1000 }, () => 1) };
    const errors = await body(Type.Record(Type.String(), texts), many);
    expect(errors).toHaveLength(100);
    expect(errors?.[0]).toEqual({ detail: 'must be a string' });
  });
});

test('a rejection by a rate limit is sent 250 ms later, in both media types', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const app = createServer({ log, trustProxy: '' });
  app.get('/limited', async () => {
    throw new LeadsError('too_many_requests', { retryAfterSeconds: 3 });
  });
  app.get('/free', async () => 'sent');
  for (const accept of ['application/json', 'application/problem+json']) {
    let isSent = false;
    const limited = app.inject({ path: '/limited', headers: { accept } }).finally(() => {
      isSent = true;
    });
    expect((await app.inject({ path: '/free' })).body).toBe('sent');
    vi.advanceTimersByTime(249);
    await app.inject({ path: '/free' });
    expect(isSent).toBe(false);
    vi.advanceTimersByTime(1);
    const { statusCode, headers } = await limited;
    expect([statusCode, headers['retry-after'], headers['content-type']]).toEqual([
      429,
      '3',
      `${accept}; charset=utf-8`,
    ]);
  }
});
