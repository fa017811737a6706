import { describe, expect, test } from 'vitest';
import { parsePhone, withoutExtension } from './phone.ts';
import { foldWords, leadSearch, phoneSearch, searchWords } from './search.ts';

/** Returns whether a searched phone number finds a stored one, by the comparison of the store. */
function finds(searched: string, phone: string, country?: string): boolean {
  const search = phoneSearch(searched);
  const e164 = parsePhone(phone, country)?.e164;
  const digits = (e164 ?? withoutExtension(phone)).replaceAll(/[^0-9]/g, '');
  const reversed = Array.from(digits).toReversed().join('').slice(0, 32);
  if (search === undefined) return false;
  if (search.isWhole) return reversed === search.reversed;
  if (!reversed.startsWith(search.reversed)) return false;
  if (e164 === undefined) return true;
  if (search.e164 !== undefined) return e164 === search.e164;
  return search.longer === undefined || reversed.startsWith(search.longer);
}

describe('the search for a phone number', () => {
  const spellings = {
    London: [
      '+44 20 7946 0958',
      '+442079460958',
      '+44 (0)20 7946 0958',
      '0044 (20) 7946-0958',
      '00442079460958',
      '442079460958',
      '44 20 7946 0958',
      '020 7946 0958',
      '(020) 7946.0958',
      '20 7946 0958',
      'tel:+44-20-7946-0958',
      '+44 20 7946 0958 ext. 12',
      '020 7946 0958 ext. 12',
      '0044 20 7946 0958 x12',
      '(020) 7946 0958#1234',
      '020 7946 0958, доб. 12',
      '٠٢٠ ٧٩٤٦ ٠٩٥٨ ext. ١٢',
      '  +44 20 7946 0958\t',
      '+４４ ２０ ７９４６ ０９５８',
      '０２０ ７９４６ ０９５８',
      '٠٢٠ ٧٩٤٦ ٠٩٥٨',
    ],
    Washington: [
      '+1 202 555 0143',
      '001 202 555 0143',
      '1 (202) 555-0143',
      '12025550143',
      '202-555-0143',
      '(202) 555 0143',
      '(202) 555 0143 extension: 1234567',
      'tel:+1-202-555-0143',
    ],
    Paris: ['+33 1 42 27 81 86', '0033142278186', '33142278186', '01 42 27 81 86', '142278186'],
  };
  const stored = {
    London: [
      ['+44 20 7946 0958'],
      ['020 7946 0958', 'GB'],
      ['020 7946 0958'],
      ['0044 20 7946 0958'],
      ['442079460958'],
      ['020 7946 0958 ext. 12', 'GB'],
      ['020 7946 0958 ext. 12'],
    ],
    Washington: [['+1 202 555 0143'], ['202.555.0143', 'us'], ['(202) 555-0143'], ['1-202-555-0143']],
    Paris: [['+33 1 42 27 81 86'], ['01 42 27 81 86', 'FR'], ['01 42 27 81 86'], ['0033 142278186']],
  } as const;
  const cities = ['London', 'Washington', 'Paris'] as const;
  for (const city of cities) {
    test.each(spellings[city])(`finds the number in ${city}, and no other, by %s`, (searched) => {
      for (const [phone, country] of stored[city]) {
        expect([phone, country, finds(searched, phone, country)]).toEqual([phone, country, true]);
      }
      for (const other of cities.filter((each) => each !== city)) {
        for (const [phone, country] of stored[other]) {
          expect([phone, country, finds(searched, phone, country)]).toEqual([phone, country, false]);
        }
      }
    });
  }

  test('does not find a number whose last digit differs', () => {
    for (const searched of [...spellings.London, ...spellings.Washington]) {
      if (/[x#]|[^\x20-\x7e\t]/.test(searched)) continue;
      const other = searched.trimEnd().replace(/.$/, (digit) => String((Number(digit) + 1) % 10));
      for (const [phone, country] of [...stored.London, ...stored.Washington]) {
        expect([other, phone, finds(other, phone, country)]).toEqual([other, phone, false]);
      }
    }
  });

  test('does not find the same digits in another country if the country code is known', () => {
    expect(finds('+44 20 2555 0143', '+1 202 555 0143')).toBe(false);
    expect(finds('+49 2025550143', '+1 202 555 0143')).toBe(false);
    expect(finds('0049 2025550143', '+1 202 555 0143')).toBe(false);
    expect(finds('+1 202 555 0143', '202 555 0143', 'DE')).toBe(false);
    expect(finds('12025550143', '+49 2025550143')).toBe(false);
    // A number without a country matches both countries.
    expect(finds('202 555 0143', '+1 202 555 0143')).toBe(true);
    expect(finds('202 555 0143', '202 555 0143', 'DE')).toBe(true);
  });

  test('finds only the same number if the number has fewer than 7 digits', () => {
    for (const number of ['112', '0', '00', '110', '12345', '112112']) {
      expect(finds(number, number)).toBe(true);
      expect(finds(number, `0${number}`)).toBe(false);
      expect(finds(number, `+44207946${number}`)).toBe(false);
      expect(finds(number, `1${number}`)).toBe(false);
    }
    expect(finds('011 2', '0112')).toBe(true);
  });

  test('is undefined for a text without a digit', () => {
    for (const text of ['', ' ', '+', 'call me', '%', "' OR true", '\u{1F4DE}', 'Ⅳ', '½']) {
      expect(phoneSearch(text)).toBeUndefined();
    }
  });

  test('has at most 32 digits for a very long text', () => {
    for (const text of ['9'.repeat(255), '+'.repeat(254) + '1', `+44${'0'.repeat(250)}`, '٩'.repeat(255)]) {
      const search = phoneSearch(text);
      expect(search?.reversed).toMatch(/^[0-9]{1,32}$/);
    }
  });
});

describe('the search words', () => {
  test.each([
    ['Ada Lovelace', ['ada', 'lovelace']],
    ['ADA  LOVELACE', ['ada', 'lovelace']],
    ['Zoë Müller-Lüdenscheidt', ['zoe', 'muller', 'ludenscheidt']],
    ['Zoe\u0308', ['zoe']],
    ['José Ñandú', ['jose', 'nandu']],
    ['Søren Łukasz Straße Ægir Þór Đorđe', ['soren', 'lukasz', 'strasse', 'aegir', 'thor', 'dorde']],
    ["O'Brien d’Artagnan", ['obrien', 'dartagnan']],
    ['İstanbul IĞDIR ığdır', ['istanbul', 'igdir', 'igdir']],
    ['ΟΔΥΣΣΕΥΣ Οδυσσεύς', ['οδυσσευσ', 'οδυσσευσ']],
    ['ada.lovelace+x@example.io', ['ada', 'lovelace', 'x', 'example', 'io']],
    ['Ａｄａ 𝐀𝐝𝐚 ﬁn Acme™', ['ada', 'ada', 'fin', 'acmetm']],
    ['Анна Ёлкина', ['анна', 'елкина']],
    ['山田 太郎', ['山田', '太郎']],
    ["'':* & | ! ( ) \\ % _ \0", []],
    ['\ud800a\udc00b', ['a', 'b']],
    ['👍👩‍👧', []],
  ])('of %j are %j', (text, expected) => {
    expect(foldWords(text)).toEqual(expected);
  });

  test('consist of letters and digits only, and are bounded in number and length', () => {
    for (const text of ['a'.repeat(70_000), 'é '.repeat(70_000), "'\\&|!():*<->%_\0\u2028x ".repeat(999)]) {
      const words = foldWords(text);
      for (const word of words) expect(word).toMatch(/^[\p{L}\p{N}]{1,64}$/u);
      expect(words.length).toBeLessThanOrEqual(1000);
    }
    const lead = { name: Array.from({ length: 99 }, (_, i) => `n${i}`).join(' '), phone: '9'.repeat(999) };
    expect(searchWords(lead)).toHaveLength(32);
    expect(searchWords(lead)[0]).toHaveLength(32);
  });

  test('of a lead are its phone numbers, the words of its name with and without apostrophes, and of its email address', () => {
    expect(
      searchWords({
        name: "Pat O'Brien",
        email: 'pat@example.io',
        phone: '020 7946 0958',
        phoneE164: '+442079460958',
      }),
    ).toEqual(['02079460958', '442079460958', 'pat', 'obrien', 'o', 'brien', 'example', 'io']);
    expect(searchWords({ name: '👍', phone: 'ask' })).toEqual([]);
  });
});

describe('the search for a text', () => {
  test('looks for the words of the text, without the .io of an email address', () => {
    expect(leadSearch("  O'Bri PAT ")).toEqual({ text: "O'Bri PAT", words: ['obri', 'pat'] });
    expect(leadSearch(' ')).toEqual({ text: '', words: [] });
    expect(leadSearch('ada@example.IO')).toMatchObject({ words: ['ada', 'example'] });
    expect(leadSearch('example.io')).toMatchObject({ words: ['example', 'io'] });
  });

  test('looks for a part of a phone number if the text has at least 3 digits and no letters', () => {
    expect(leadSearch('+44 20')).toMatchObject({ phone: { digits: '4420', reversed: '0244' } });
    expect(leadSearch('0958')).toMatchObject({ phone: { digits: '0958', reversed: '859' } });
    expect(leadSearch('000')).toMatchObject({ phone: { digits: '000', reversed: '0' } });
    for (const text of ['44', '+4', 'a123', '123a', '12:34', '+']) {
      expect(leadSearch(text).phone).toBeUndefined();
    }
    for (const whole of ['+44 (0)20 7946 0958', '+44 20 7946 0958', '0044 20 7946 0958', '020 7946-0958']) {
      expect(leadSearch(whole).phone?.reversed).toBe('8590649702');
    }
    // Copied from pages and address books, which add invisible marks of the direction and other dashes, or typed in
    // another script.
    for (const whole of [
      '\u202a+44 20 7946 0958\u202c',
      '\u200e020 7946\u20110958',
      '020\u20137946\u20130958',
      '＋４４ ２０ ７９４６ ０９５８',
      '٠٢٠ ٧٩٤٦ ٠٩٥٨',
    ]) {
      expect(leadSearch(whole).phone?.reversed).toBe('8590649702');
    }
  });

  test('looks for the beginning of an id if the text has at least 8 hexadecimal digits', () => {
    const id = '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f';
    expect(leadSearch(id.toUpperCase()).ids).toEqual({ first: id, last: id });
    expect(leadSearch(id.replaceAll('-', '')).ids).toEqual({ first: id, last: id });
    expect(leadSearch('019c0a3e-5').ids).toEqual({
      first: '019c0a3e-5000-0000-0000-000000000000',
      last: '019c0a3e-5fff-ffff-ffff-ffffffffffff',
    });
    for (const text of ['019c0a3', '019c0a3g', `${id}0`, '-019c0a3e', 'deadbeef x']) {
      expect(leadSearch(text).ids).toBeUndefined();
    }
  });
});
