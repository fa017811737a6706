import { describe, expect, test } from 'vitest';
import { parseJsonBody } from './json-body.ts';

const invalidInput = expect.objectContaining({ code: 'invalid_input', message: 'Invalid input data' });

describe('spec 7: parseJsonBody', () => {
  const broken = ['\\u0000', '\\ud800', '\\uDBFF', '\\udc00', '\\uDFFF', 'a\\ud800b', '\\ud800\\ud800'];
  for (const text of broken) {
    test(`rejects ${text} in a value, in a name, in an array and at any depth`, () => {
      const deep = `${'['.repeat(20_000)}"${text}"${']'.repeat(20_000)}`;
      for (const body of [
        `{"a":"${text}"}`,
        `{"${text}":1}`,
        `[["x",{"a":["${text}"]}]]`,
        `"${text}"`,
        deep,
      ]) {
        expect(() => parseJsonBody(Buffer.from(body))).toThrow(invalidInput);
      }
    });
  }

  test('accepts escaped backslashes, complete surrogate pairs and other control characters', () => {
    for (const [body, value] of [
      ['"\\\\u0000"', '\\u0000'],
      ['"\\\\ud800"', '\\ud800'],
      ['"\\ud83d\\udc4d"', '👍'],
      ['"\\uD83D\\uDC4D"', '👍'],
      ['"\\u0001\\uffff\\ufdd0"', '\u0001\uffff\ufdd0'],
    ] as const) {
      expect(parseJsonBody(Buffer.from(body))).toBe(value);
    }
  });
});

test('parseJsonBody keeps the text of an integer beyond 2^53 and of an infinite or vanishing number, which has no JSON type', () => {
  const text =
    '{"a":12345678901234567890,"__proto__":[-9007199254740992, {"b":[[9007199254740993]]}],"c":9007199254740991,"d":1e21,"e":1234567890123456.5,"f":"\\":12345678901234567890,\\\\","g:[12345678901234567890":0}';
  const body = parseJsonBody(Buffer.from(text)) as Record<string, unknown>;
  expect(typeof body['a']).toBe('function');
  expect(JSON.stringify(body)).toBe(
    '{"a":"12345678901234567890","__proto__":["-9007199254740992",{"b":[["9007199254740993"]]}],"c":9007199254740991,"d":1e+21,"e":1234567890123456.5,"f":"\\":12345678901234567890,\\\\","g:[12345678901234567890":0}',
  );
  const extreme = '[1e400, -1E+999, 0.1e-400, 1.5e300, 0e-999, 0.0, -0e5, "1e400", 12e3]';
  expect(JSON.stringify(parseJsonBody(Buffer.from(extreme)))).toBe(
    '["1e400","-1E+999","0.1e-400",1.5e+300,0,0,0,"1e400",12000]',
  );
  const deep = `${'['.repeat(20_000)}12345678901234567890${']'.repeat(20_000)}`;
  let value = parseJsonBody(Buffer.from(deep));
  while (Array.isArray(value)) value = value[0] as unknown;
  expect(JSON.stringify(value)).toBe('"12345678901234567890"');
});

test('parseJsonBody rejects invalid UTF-8', () => {
  for (const hex of ['ff', 'c080', 'eda080', 'f4908080', 'e282', '80']) {
    const body = Buffer.concat([Buffer.from('"'), Buffer.from(hex, 'hex'), Buffer.from('"')]);
    expect(() => parseJsonBody(body)).toThrow(invalidInput);
  }
});

test('parseJsonBody rejects invalid JSON, without the reason in the message', () => {
  for (const body of ['', '{', '{"a":1,}', "{'a':1}", 'NaN', '01', '"\t"', '{} {}']) {
    expect(() => parseJsonBody(Buffer.from(body))).toThrow(invalidInput);
  }
});

test('parseJsonBody treats __proto__ and constructor as plain names', () => {
  const body = parseJsonBody(Buffer.from('{"__proto__":{"name":"x"},"constructor":1}')) as object;
  expect(Object.keys(body)).toEqual(['__proto__', 'constructor']);
  expect('name' in body).toBe(false);
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
});

test('parseJsonBody points at the rejected text with a JSON Pointer', () => {
  for (const [body, path] of [
    ['"\\u0000"', ''],
    ['{"a":1,"b":"\\ud800"}', '/b'],
    ['{"a/b~c":[1,{"":"\\u0000"}]}', '/a~1b~0c/1/'],
    ['{"a":{"b\\u0000":1}}', '/a'],
  ] as const) {
    expect(() => parseJsonBody(Buffer.from(body))).toThrow(
      expect.objectContaining({ fields: [expect.objectContaining({ at: 'body', path })] }),
    );
  }
});

test('parseJsonBody ignores one byte order mark at the start', () => {
  expect(parseJsonBody(Buffer.from('\uFEFF{"a":"\uFEFF"}'))).toEqual({ a: '\uFEFF' });
  for (const text of ['\uFEFF', '\uFEFF\uFEFF{}', ' \uFEFF{}', '{}\uFEFF']) {
    expect(() => parseJsonBody(Buffer.from(text))).toThrow(invalidInput);
  }
});
