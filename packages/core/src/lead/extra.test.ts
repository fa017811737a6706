import { describe, expect, test } from 'vitest';
import { parseJson } from '../json.ts';
import { extraBounds, keepExtra } from './extra.ts';

const named = new Set(['name', 'phone']);
const keep = (body: object) => keepExtra(body, named);
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { v: value };
  return value;
};

describe('keepExtra', () => {
  test('returns undefined if a body has only named fields', () => {
    expect(keep({ name: 'Ada', phone: '1' })).toEqual({ json: undefined, leftOut: 0 });
    expect(keep({})).toEqual({ json: undefined, leftOut: 0 });
  });

  test('keeps unnamed fields unchanged and in the order sent', () => {
    const text =
      '{"zeta":"\\"\\\\\\n","alpha":null,"n":-1.5,"b":true,"list":[1,"2",[]],"o":{"k":{}},"":"","ключ":"😀\\u2028"}';
    const { json, leftOut } = keep({ name: 'Ada', ...(JSON.parse(text) as object), phone: '1' });
    expect(leftOut).toBe(0);
    expect(JSON.parse(json ?? '')).toEqual(JSON.parse(text));
    expect(Object.keys(JSON.parse(json ?? '') as object)).toEqual(Object.keys(JSON.parse(text) as object));
  });

  test('keeps integers beyond 2^53 as texts of their digits, also at the deepest level', () => {
    const text = '{"click_id":12345678901234567890,"list":[{"n":-98765432109876543}],"small":1}';
    expect(keep(parseJson(text) as object)).toEqual({
      json: '{"click_id":"12345678901234567890","list":[{"n":"-98765432109876543"}],"small":1}',
      leftOut: 0,
    });
    const deepest = `{"v":${'['.repeat(extraBounds.depth)}12345678901234567890${']'.repeat(extraBounds.depth)}}`;
    expect(keep(parseJson(deepest) as object).leftOut).toBe(0);
  });

  test('keeps __proto__, constructor and toString as ordinary fields', () => {
    const body = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":1,"toString":"x","toJSON":"y"}',
    ) as object;
    const { json, leftOut } = keep(body);
    expect(leftOut).toBe(0);
    expect(json).toBe('{"__proto__":{"polluted":true},"constructor":1,"toString":"x","toJSON":"y"}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test(`keeps the first ${extraBounds.keys} keys and counts the rest`, () => {
    const body = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key${i}`, i]));
    const { json, leftOut } = keep(body);
    expect(Object.keys(JSON.parse(json ?? '') as object)).toEqual(
      Array.from({ length: extraBounds.keys }, (_, i) => `key${i}`),
    );
    expect(leftOut).toBe(8);
  });

  test(`keeps exactly ${extraBounds.bytes} bytes of UTF-8 and drops a larger value`, () => {
    const overhead = '{"k":""}'.length;
    const ascii = keep({ k: 'x'.repeat(extraBounds.bytes - overhead) });
    expect(Buffer.byteLength(ascii.json ?? '')).toBe(extraBounds.bytes);
    expect(keep({ k: 'x'.repeat(extraBounds.bytes - overhead + 1) })).toEqual({
      json: undefined,
      leftOut: 1,
    });
    // An emoji has 4 bytes and 2 code units.
    const emoji = '😀'.repeat((extraBounds.bytes - overhead) / 4);
    expect(Buffer.byteLength(keep({ k: emoji }).json ?? '')).toBe(extraBounds.bytes);
    expect(keep({ k: `${emoji}x` }).leftOut).toBe(1);
  });

  test('counts the commas between members as bytes', () => {
    const half = extraBounds.bytes / 2;
    const a = 'x'.repeat(half - '{"a":""'.length);
    const b = 'x'.repeat(half - ',"b":""}'.length);
    const fits = keep({ a, b });
    expect(Buffer.byteLength(fits.json ?? '')).toBe(extraBounds.bytes);
    expect(fits.leftOut).toBe(0);
    expect(keep({ a, b: `${b}x` }).leftOut).toBe(1);
  });

  test('counts a number with an exponent by its digits, which Postgres stores', () => {
    // Postgres stores 1e-300 as 302 characters. 26 of them fit, and 27 do not.
    const tiny = (count: number) => Array.from({ length: count }, () => 1e-300);
    expect(keep({ v: tiny(26), w: 1 }).leftOut).toBe(0);
    expect(keep({ v: tiny(27), w: 1 })).toEqual({ json: '{"w":1}', leftOut: 1 });
    expect(keep({ o: { list: [tiny(27)] } }).leftOut).toBe(1);
    const large = (count: number) => Array.from({ length: count }, () => -1.5e300);
    expect(keep({ v: large(26) }).leftOut).toBe(0);
    expect(keep({ v: large(27) }).leftOut).toBe(1);
    expect(keep({ text: '1e-300 '.repeat(1_000), small: [1e-6, 1e20] }).leftOut).toBe(0);
  });

  test('drops a value that is too large and keeps the values after it', () => {
    expect(keep({ large: 'x'.repeat(20_000), small: 1 })).toEqual({ json: '{"small":1}', leftOut: 1 });
  });

  test(`keeps ${extraBounds.depth} levels of nesting and drops deeper values`, () => {
    expect(keep({ v: nested(extraBounds.depth) }).leftOut).toBe(0);
    expect(keep({ v: nested(extraBounds.depth + 1), w: 1 })).toEqual({ json: '{"w":1}', leftOut: 1 });
  });

  test('drops a value that is nested deeper than the call stack allows', () => {
    expect(keep({ v: nested(200_000), w: 1 })).toEqual({ json: '{"w":1}', leftOut: 1 });
  });
});
