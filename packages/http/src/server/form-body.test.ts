import { describe, expect, test } from 'vitest';
import { parseFormBody } from './form-body.ts';

const parse = (text: string) => parseFormBody(Buffer.from(text));
const invalidInput = (fault: object) => expect.objectContaining({ code: 'invalid_input', fields: [fault] });

describe('parseFormBody', () => {
  test('parses a form as browsers encode it', () => {
    expect(
      parse('name=Ada+%22Countess%22+Lovelace&phone=%2B1%20202&city=Z%C3%BCrich&s1=a%2Bb%26c%3Dd'),
    ).toEqual({
      name: 'Ada "Countess" Lovelace',
      phone: '+1 202',
      city: 'Zürich',
      s1: 'a+b&c=d',
    });
    // URLSearchParams encodes as browsers do.
    const fields = { 'a b&=+%': "!'()*~ \r\n\u0001😀", '': 'no name', k: '=x=' };
    expect(parse(new URLSearchParams(fields).toString())).toEqual(fields);
  });

  test('accepts unescaped UTF-8, which programs send', () => {
    expect(parse('name=Zoë&ключ=значение')).toEqual({ name: 'Zoë', ключ: 'значение' });
  });

  test('omits empty fields and collects repeated fields in an array', () => {
    expect(parse('a=&b&&=&c=1&c=&c=2&c=3')).toEqual({ c: ['1', '2', '3'] });
    expect(parse('&&')).toEqual({});
  });

  test('treats __proto__ and constructor as plain names', () => {
    const fields = parse('__proto__=1&__proto__=2&constructor=3');
    expect(Object.entries(fields)).toEqual([
      ['__proto__', ['1', '2']],
      ['constructor', '3'],
    ]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  test('accepts 1000 fields and rejects more', () => {
    const ofFields = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join('&');
    expect(Object.keys(parse(ofFields(1000)))).toHaveLength(1000);
    for (const text of [ofFields(1001), '&'.repeat(64 * 1024)]) {
      expect(() => parse(text)).toThrow(
        invalidInput({ at: 'body', reason: 'The request body has more than 1000 fields' }),
      );
    }
  });

  test('rejects names and values that cannot be decoded', () => {
    for (const broken of [
      '%',
      '%2',
      '%zz',
      '%ff',
      '%C3',
      '%C3%28',
      '%ED%A0%80',
      '%F5%80%80%80',
      '%C0%80',
      'a%u0041',
    ]) {
      for (const text of [`name=${broken}`, `${broken}=x`, `name=Ada&x=1${broken}`]) {
        expect(() => parse(text), text).toThrow(
          invalidInput({ at: 'body', reason: 'The request body is not a valid form' }),
        );
      }
    }
    expect(() => parseFormBody(Buffer.from('name=Zo\xeb', 'latin1'))).toThrow(
      invalidInput({ at: 'body', reason: 'The request body is not UTF-8' }),
    );
    expect(() => parseFormBody(Buffer.alloc(0))).toThrow(
      invalidInput({ at: 'body', reason: 'The request body is empty' }),
    );
  });

  test('rejects NUL, escaped or unescaped', () => {
    for (const nul of ['%00', '\0']) {
      expect(() => parse(`name=Ada&a/b=x${nul}`)).toThrow(
        invalidInput({ at: 'body', path: '/a~1b', reason: 'contains characters that cannot be stored' }),
      );
      expect(() => parse(`x${nul}=Ada`)).toThrow(
        invalidInput({ at: 'body', path: '', reason: 'has a name that cannot be stored' }),
      );
    }
  });
});
