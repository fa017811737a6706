import { describe, expect, test } from 'vitest';
import type { Answer } from '../http-client.ts';
import type { RunningService } from '../running-service.ts';
import {
  anyJson,
  anyText,
  columns,
  columnValues,
  constantFrom,
  deepJson,
  email,
  forAll,
  goodEmail,
  headerValue,
  irrelevantHeaders,
  integer,
  mutationsOf,
  oneOf,
  someOf,
  storableText,
  tuple,
  unknownMembers,
  unknownName,
} from './hostile-input.ts';

/**
 * The rules for a text field: the specification (2.1, 2.3), and the decisions for cases that it leaves open.
 */
export interface FieldRule {
  readonly required?: true;
  readonly email?: true;
  /** The maximum number of characters (code points). */
  readonly maxLength?: number;
}

const bodyLimit = 64 * 1024;
const invalid = { success: false, error: 'validation', message: 'Invalid input data' };
const tooLarge = { success: false, error: 'validation', message: 'Request body is larger than 64 KiB' };
const unauthenticated = { success: false, error: 'unauthorized', message: 'Authentication failed' };

/**
 * Tests an operation that creates a lead with generated bodies and headers. A model of the specification, not
 * the schema of the operation, predicts whether a body is accepted.
 *
 * @param options.fields the fields of the body.
 * @param options.refuse returns the expected error body if a further rule rejects the body.
 * @param options.verify compares an accepted lead with the sent body.
 */
export function describeHostileBodies(options: {
  service: RunningService;
  path: string;
  headers: Readonly<Record<string, string>>;
  fields: Readonly<Record<string, FieldRule>>;
  valid: Readonly<Record<string, string>>;
  refuse?: (body: Record<string, unknown>) => object | undefined;
  verify: (sent: Record<string, unknown>, answer: Answer) => Promise<void>;
}): void {
  const { service, path, headers, fields, valid } = options;
  const json = { ...headers, 'Content-Type': 'application/json' };
  let accepted = 0;

  /** Returns the expected response: a status and an error body, or the fields to store. */
  const expectedResponse = (
    bytes: Buffer,
  ): { errorBody: object; status: number } | { body: Record<string, unknown> } => {
    if (bytes.length > bodyLimit) return { status: 413, errorBody: tooLarge };
    const body = parse(bytes);
    if (body === undefined || !isStorable(body)) return { status: 400, errorBody: invalid };
    for (const [name, rule] of Object.entries(fields)) {
      if (!fits(Object.hasOwn(body, name) ? body[name] : undefined, rule)) {
        return { status: 400, errorBody: invalid };
      }
    }
    const errorBody = options.refuse?.(body);
    return errorBody === undefined ? { body } : { status: 400, errorBody };
  };

  const expectAsSpecified = async (body: string | Buffer, chunked = false) => {
    const bytes = Buffer.from(body);
    const expected = expectedResponse(bytes);
    const answer = await service.send({ method: 'POST', path, headers: json, body: bytes, chunked });
    if ('errorBody' in expected) {
      expect([answer.status, answer.json()]).toEqual([expected.status, expected.errorBody]);
      return;
    }
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    accepted += 1;
    await options.verify(expected.body, answer);
  };

  const names = Object.keys(fields);
  const validTexts = Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => name !== 'campaignCode')
      .map(([name, rule]) => [name, rule.email ? goodEmail : storableText]),
  );

  describe('lead creation with generated bodies', () => {
    test('stores any storable text of its fields unchanged', async () => {
      accepted = 0;
      await forAll(
        someOf(validTexts),
        (sent) => expectAsSpecified(JSON.stringify({ ...valid, ...sent })),
        200,
      );
      expect(accepted).toBeGreaterThan(50);
    });

    for (const name of names) {
      test(`validates values of any type for ${name}`, async () => {
        await forAll(
          oneOf<unknown>(anyJson, anyText, email),
          (value) => expectAsSpecified(JSON.stringify({ ...valid, [name]: value })),
          60,
        );
      });
    }

    test('validates a body without any one of its fields', async () => {
      for (const name of names) {
        const { [name]: _, ...rest } = valid;
        await expectAsSpecified(JSON.stringify(rest));
      }
      await expectAsSpecified('{}');
    });

    test('validates texts at their maximum length, also with characters of two and four bytes', async () => {
      for (const [name, { maxLength }] of Object.entries(fields)) {
        for (const character of ['x', 'é', '𝕏']) {
          for (const length of maxLength === undefined ? [5_000] : [maxLength, maxLength + 1]) {
            await expectAsSpecified(JSON.stringify({ ...valid, [name]: character.repeat(length) }));
          }
        }
      }
    });

    test('stores unknown fields within their limits, and nothing else', async () => {
      accepted = 0;
      await forAll(tuple(unknownMembers, constantFrom(true, false)), ([members, first]) => {
        const known = Object.entries(valid);
        const texts = (first ? [...members, ...known] : [...known, ...members])
          .filter(([name]) => !Object.hasOwn(fields, name) || Object.hasOwn(valid, name))
          .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
        return expectAsSpecified(`{${texts.join(',')}}`);
      });
      expect(accepted).toBeGreaterThan(50);
    });

    test('ignores fields of a body that only the service sets', async () => {
      for (const column of columns) {
        if (Object.hasOwn(fields, column)) continue;
        for (const value of columnValues)
          await expectAsSpecified(JSON.stringify({ ...valid, [column]: value }));
      }
      expect(accepted).toBeGreaterThan(100);
    });

    test('stores up to 32 unknown fields and up to 8 KiB of them', async () => {
      const members = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, i]));
      for (const count of [1, 31, 32, 33, 500])
        await expectAsSpecified(JSON.stringify({ ...valid, ...members(count) }));
      // `{"a":""}` is 8 bytes.
      for (const bytes of [8_183, 8_184, 8_185, 50_000]) {
        await expectAsSpecified(JSON.stringify({ ...valid, a: 'x'.repeat(bytes) }));
        await expectAsSpecified(JSON.stringify({ ...valid, a: 'é'.repeat(bytes / 2), b: 1 }));
      }
      // These numbers fit also without their exponents, as Postgres stores them.
      await expectAsSpecified(JSON.stringify({ ...valid, a: Array.from({ length: 20 }, () => 5e-324) }));
    });

    test('validates deeply nested bodies, fields and unknown fields', async () => {
      await forAll(
        tuple(deepJson, constantFrom(...names, '', 'deep', '__proto__')),
        ([deep, name]) => {
          const { [name]: _, ...rest } = valid;
          const members = JSON.stringify(rest).slice(1);
          return expectAsSpecified(name === '' ? deep : `{${JSON.stringify(name)}:${deep},${members}`);
        },
        60,
      );
    });

    test('uses the last value of a repeated name', async () => {
      await forAll(
        tuple(oneOf(constantFrom(...names), unknownName), anyJson, storableText),
        ([name, first, last]) => {
          const pair = (value: unknown) => `${JSON.stringify(name)}:${JSON.stringify(value)}`;
          if (!isStorable(first) || !isStorable(name)) return Promise.resolve();
          return expectAsSpecified(`{${pair(first)},${JSON.stringify(valid).slice(1, -1)},${pair(last)}}`);
        },
        60,
      );
    });

    test('rejects JSON that is not a lead', async () => {
      await forAll(anyJson, (value) => expectAsSpecified(JSON.stringify(value)), 100);
      for (const text of [
        '',
        ' ',
        'null',
        'true',
        '0',
        '""',
        '[]',
        '[{}]',
        '{}',
        'NaN',
        "{'a':1}",
        '{"a":1,}',
      ]) {
        await expectAsSpecified(text);
      }
    });

    test('validates truncated and changed bodies and bodies of invalid UTF-8', async () => {
      const text = JSON.stringify({ ...valid, more: 'é𝕏\n' });
      await forAll(
        tuple(mutationsOf(text), constantFrom(true, false)),
        ([bytes, chunked]) => expectAsSpecified(bytes, chunked),
        300,
      );
      await expectAsSpecified(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]));
      await expectAsSpecified(Buffer.from(text, 'utf16le'));
      await expectAsSpecified(text.replace('é', '\\u00e9').replace('𝕏', '\\ud835\\udd4f'));
      await expectAsSpecified(text.replace('𝕏', '\\uD835'));
      await expectAsSpecified(text.replace('𝕏', '\\uDD4F\\uD835'));
      await expectAsSpecified(text.replace('é', '\\u0000'));
      await expectAsSpecified(text.replace('é', '\\\\u0000'));
    });

    test('limits the body to 64 KiB, in a field or as white space', async () => {
      const size = JSON.stringify({ ...valid, name: '' }).length;
      await forAll(
        tuple(
          oneOf(integer(bodyLimit - 3, bodyLimit + 3), integer(60_000, 200_000)),
          constantFrom('name', 'more', ' '),
          constantFrom(true, false),
        ),
        ([bytes, where, chunked]) => {
          const text =
            where === ' '
              ? JSON.stringify(valid).padEnd(bytes, ' ')
              : JSON.stringify({ ...valid, [where]: 'x'.repeat(bytes - size - (where === 'name' ? 0 : 40)) });
          return expectAsSpecified(text, chunked);
        },
        40,
      );
    });
  });

  describe('lead creation with generated headers', () => {
    const body = JSON.stringify({ ...valid });
    const post = (lines: readonly string[], text = body) =>
      service.sendRaw(
        Buffer.concat([
          Buffer.from(
            [
              `POST ${path} HTTP/1.1`,
              'Host: test',
              'Connection: close',
              'Content-Type: application/json',
              ...lines,
            ].join('\r\n'),
            'latin1',
          ),
          Buffer.from(`\r\n\r\n${text}`),
        ]),
        { method: 'POST', path },
      );
    const credentials = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const length = `Content-Length: ${Buffer.byteLength(body)}`;

    test('ignores irrelevant header lines of any content', async () => {
      await forAll(
        irrelevantHeaders,
        async (lines) => {
          const [answer] = await post([
            ...credentials,
            length,
            // Node answers `100-continue` with an interim response.
            ...lines.map(([name, value]) => `${name}: ${value}`),
          ]);
          expect([answer?.status, answer?.text]).toEqual([200, answer?.text]);
        },
        80,
      );
    });

    test('spec 5.4: rejects credentials of any content with 401', async () => {
      const [key = '', ...others] = Object.keys(headers);
      await forAll(
        tuple(constantFrom(key, ...others, 'X-API-Key'), headerValue),
        async ([name, value]) => {
          const rest = credentials.filter((line) => !line.startsWith(`${name}:`));
          const [answer] = await post([...rest, `${name}: ${value}`, length]);
          expect([answer?.status, answer?.json()]).toEqual([401, unauthenticated]);
        },
        80,
      );
    });

    test('never answers a wrong content-length or transfer-encoding with a 5xx', async () => {
      const malformed = { success: false, error: 'validation', message: 'Malformed request' };
      await forAll(
        tuple(constantFrom('Content-Length', 'Transfer-Encoding'), headerValue),
        async ([name, value]) => {
          // The server would wait for a length beyond the body.
          if (/^[\t ]*\d+[\t ]*$/.test(value) || /chunked[\t ]*$/i.test(value)) return;
          const [answer] = await post([...credentials, `${name}: ${value}`]);
          const created = answer?.status === 200;
          expect([malformed, invalid, 'created']).toContainEqual(created ? 'created' : answer?.json());
        },
        60,
      );
      for (const short of [0, 1, body.length - 1]) {
        const [answer] = await post([...credentials, `Content-Length: ${short}`]);
        // The bytes beyond the length are not a request; either error may be sent first.
        expect(answer?.status).toBe(400);
        expect([malformed, invalid]).toContainEqual(answer?.json());
      }
    });
  });
}

/** Parses a body as a JSON object. Ignores a byte order mark (RFC 8259, 8.1). */
function parse(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether Postgres can store every text in a value, including names. */
function isStorable(value: unknown): boolean {
  const rest = [value];
  for (let item = rest.pop(); item !== undefined || rest.length > 0; item = rest.pop()) {
    if (typeof item === 'string' && /\0|\p{Cs}/u.test(item)) return false;
    if (typeof item === 'object' && item !== null)
      for (const member of Object.entries(item)) rest.push(...member);
  }
  return true;
}

/**
 * The dot-atom of RFC 5322, and the labels of RFC 1123 with `.io` at the end in any case (specification,
 * 2.1).
 */
const emailForm =
  /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+io$/i;

function fits(value: unknown, rule: FieldRule): boolean {
  if (value === undefined) return rule.required !== true;
  if (typeof value !== 'string') return false;
  if (rule.required === true && value === '') return false;
  if (rule.email === true && !emailForm.test(value)) return false;
  return rule.maxLength === undefined || Array.from(value).length <= rule.maxLength;
}

const extraBounds = { keys: 32, bytes: 8 * 1024 };

/** Returns the JSON text of a stored value. An integer beyond 2^53 is stored as a text. From 1e21, it is sent with an exponent. */
const storedText = (value: unknown) =>
  JSON.stringify(value, (_, each: unknown) =>
    Number.isInteger(each) && !Number.isSafeInteger(each) && Math.abs(Number(each)) < 1e21
      ? String(each)
      : each,
  );

/**
 * Compares the `extra` of a stored lead with the unknown fields of the request. All of them are stored if
 * they fit the limits, and no other field.
 */
export function expectExtra(
  stored: Record<string, unknown> | null,
  sent: Record<string, unknown>,
  fields: Readonly<Record<string, FieldRule>>,
): void {
  const storedExtra = stored ?? {};
  const unknown = Object.entries(sent).filter(([name]) => !Object.hasOwn(fields, name));
  for (const [name, value] of Object.entries(storedExtra)) {
    expect(Object.hasOwn(fields, name)).toBe(false);
    expect(Object.hasOwn(sent, name)).toBe(true);
    expect(canonical(value)).toBe(canonical(JSON.parse(storedText(sent[name]))));
  }
  const textOf = (members: [string, unknown][]) =>
    `{${members.map(([name, value]) => `${JSON.stringify(name)}:${storedText(value)}`).join()}}`;
  // The limit counts numbers without exponents: 5e-324 has 326 characters.
  const mostBytes = (members: [string, unknown][]) => {
    const text = textOf(members);
    return Buffer.byteLength(text) + 324 * (text.match(/\de[+-]\d/g)?.length ?? 0);
  };
  expect(Object.keys(storedExtra).length).toBeLessThanOrEqual(extraBounds.keys);
  expect(Buffer.byteLength(textOf(Object.entries(storedExtra)))).toBeLessThanOrEqual(extraBounds.bytes);
  const isShallow = unknown.every(([, value]) => depth(value) <= 32);
  if (isShallow && unknown.length <= extraBounds.keys && mostBytes(unknown) <= extraBounds.bytes) {
    expect(Object.keys(storedExtra).toSorted()).toEqual(unknown.map(([name]) => name).toSorted());
  } else if (unknown.length > extraBounds.keys && isShallow) {
    const small = unknown.every(([name, value]) => mostBytes([[name, value]]) < extraBounds.bytes / 40);
    if (small) expect(Object.keys(storedExtra).length).toBe(extraBounds.keys);
  }
}

/** Returns the nesting depth of arrays and objects. */
function depth(value: unknown): number {
  let deepest = 0;
  const rest: [unknown, number][] = [[value, 1]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [item, level] = next;
    if (typeof item !== 'object' || item === null) continue;
    deepest = Math.max(deepest, level);
    for (const member of Object.values(item)) rest.push([member, level + 1]);
  }
  return deepest;
}

/** Returns JSON text with sorted names. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`);
  return `{${members.join()}}`;
}
