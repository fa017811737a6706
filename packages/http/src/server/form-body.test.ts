import { describe, expect, test } from 'vitest';
import { parseFormBody } from './form-body.ts';

const parse = (text: string) => parseFormBody(Buffer.from(text));
const refusal = (fault: object) => expect.objectContaining({ code: 'invalid_input', fields: [fault] });

describe('a form', () => {
  test('is read as browsers write it', () => {
    expect(
      parse('name=Ada+%22Countess%22+Lovelace&phone=%2B1%20202&city=Z%C3%BCrich&s1=a%2Bb%26c%3Dd'),
    ).toEqual({
      name: 'Ada "Countess" Lovelace',
      phone: '+1 202',
      city: 'Zürich',
      s1: 'a+b&c=d',
    });
    // What URLSearchParams writes is what browsers write.
    const fields = { 'a b&=+%': "!'()*~ \r\n\u0001😀", '': 'no name', k: '=x=' };
    expect(parse(new URLSearchParams(fields).toString())).toEqual(fields);
  });

  test('may have bytes of UTF-8 that are not encoded, as programs write it', () => {
    expect(parse('name=Zoë&ключ=значение')).toEqual({ name: 'Zoë', ключ: 'значение' });
  });

  test('leaves out what is empty, and lists what is there several times', () => {
    expect(parse('a=&b&&=&c=1&c=&c=2&c=3')).toEqual({ c: ['1', '2', '3'] });
    expect(parse('&&')).toEqual({});
  });

  test('takes __proto__ and constructor for plain names', () => {
    const fields = parse('__proto__=1&__proto__=2&constructor=3');
    expect(Object.entries(fields)).toEqual([
      ['__proto__', ['1', '2']],
      ['constructor', '3'],
    ]);
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  test('of 1000 fields is taken, one of more is not', () => {
    const ofFields = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join('&');
    expect(Object.keys(parse(ofFields(1000)))).toHaveLength(1000);
    for (const text of [ofFields(1001), '&'.repeat(64 * 1024)]) {
      expect(() => parse(text)).toThrow(
        refusal({ at: 'body', reason: 'The request body has more than 1000 fields' }),
      );
    }
  });

  test('that cannot be decoded is refused, names and values', () => {
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
          refusal({ at: 'body', reason: 'The request body is not a valid form' }),
        );
      }
    }
    expect(() => parseFormBody(Buffer.from('name=Zo\xeb', 'latin1'))).toThrow(
      refusal({ at: 'body', reason: 'The request body is not UTF-8' }),
    );
    expect(() => parseFormBody(Buffer.alloc(0))).toThrow(
      refusal({ at: 'body', reason: 'The request body is empty' }),
    );
  });

  test('with NUL is refused, encoded or not', () => {
    for (const nul of ['%00', '\0']) {
      expect(() => parse(`name=Ada&a/b=x${nul}`)).toThrow(
        refusal({ at: 'body', path: '/a~1b', reason: 'holds characters that cannot be stored' }),
      );
      expect(() => parse(`x${nul}=Ada`)).toThrow(
        refusal({ at: 'body', path: '', reason: 'has a name that cannot be stored' }),
      );
    }
  });
});
