import fc from 'fast-check';
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { describe, expect, test } from 'vitest';
import { parsePhone } from './phone.ts';

describe('parsePhone', () => {
  test.each([
    ['+44 20 7946 0958', '+442079460958'],
    ['+442079460958', '+442079460958'],
    ['+1 (202) 555-0143', '+12025550143'],
    ['  +1.202.555.0143  ', '+12025550143'],
    ['+７９１６１２３４５６７', '+79161234567'],
    ['＋４４ ２０ ７９４６ ０９５８', '+442079460958'],
    ['+४४ २० ७९४६ ०९५८', '+442079460958'],
    ['+𝟰𝟰 20 7946 0958', '+442079460958'],
    ['tel:+1-202-555-0143', '+12025550143'],
    ['+1 202 555 0143 ext. 12', '+12025550143'],
  ])('reads %s without a country', (phone, expected) => {
    expect(parsePhone(phone)?.e164).toBe(expected);
  });

  test.each([
    ['020 7946 0958', 'GB', '+442079460958'],
    ['(202) 555-0143', 'US', '+12025550143'],
    ['8 916 123-45-67', 'ru', '+79161234567'],
    ['030 901820', ' De ', '+4930901820'],
    ['०२० ७९४६ ०९५८', 'GB', '+442079460958'],
  ])('reads %s with the country %s, and not without a country', (phone, country, expected) => {
    expect(parsePhone(phone, country)?.e164).toBe(expected);
    expect(parsePhone(phone)?.e164).toBeUndefined();
  });

  test('prefers the country code of the number to the given country', () => {
    expect(parsePhone('+44 20 7946 0958', 'US')?.e164).toBe('+442079460958');
  });

  test.each(['England', 'XX', '', 'GBR', 'constructor', '__proto__', 'hasOwnProperty', '🇬🇧', 'G\u0000B'])(
    'ignores the country %j',
    (country) => {
      expect(parsePhone('020 7946 0958', country)?.e164).toBeUndefined();
      expect(parsePhone('+44 20 7946 0958', country)?.e164).toBe('+442079460958');
    },
  );

  test.each([
    '',
    ' ',
    '+',
    'call me',
    '12',
    '+1',
    '+999 123 456 789',
    '+1 202 555',
    '+1234567890123456',
    '0'.repeat(30),
    'ada@example.io',
    "'; DROP TABLE lead; --",
    '\u{1F4DE}',
  ])('returns undefined for %j', (phone) => {
    expect(parsePhone(phone)?.e164).toBeUndefined();
    expect(parsePhone(phone, 'US')?.e164).toBeUndefined();
  });

  test('reads hostile texts of 64 KiB in linear time', () => {
    const length = 64 * 1024;
    const hostile = [
      '+',
      '(',
      ')',
      '1',
      ' ',
      '-',
      'x',
      '+1 ',
      '(1)',
      '1 ext',
      '1;ext=',
      '\u200B',
      '٣',
      '९',
      '+1202555x',
    ];
    const usedBefore = process.cpuUsage();
    for (const piece of hostile) {
      const phone = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
      for (const text of [phone, `+1 202 555 0143${phone}`, `${phone}+1 202 555 0143`]) {
        expect(parsePhone(text)?.e164).toBeUndefined();
        expect(parsePhone(text, 'US')?.e164).toBeUndefined();
        parsePhone('020 7946 0958', text);
      }
    }
    // The test measures processor time in microseconds, because wall-clock time is longer on a busy machine.
    // The 126 calls take about 50 ms in total. A backtracking pattern takes seconds for one call.
    expect(process.cpuUsage(usedBefore).user).toBeLessThan(5_000_000);
  });
});

test('parsePhone reads numbers of every country as libphonenumber-js does', () => {
  const codes = [...new Set(getCountries().map((country) => getCountryCallingCode(country)))];
  const digits = fc.array(fc.integer({ min: 0, max: 9 }).map(String), { minLength: 1, maxLength: 15 });
  const drawn = fc.tuple(
    fc.constantFrom<string>(...codes),
    // National prefixes of several countries.
    fc.constantFrom('', '', '', '0', '1', '8', '00', '06', '15', '9'),
    digits,
    fc.constantFrom('', ' ', '-', '.', ') ('),
  );
  fc.assert(
    fc.property(drawn, ([code, prefix, national, separator]) => {
      const text = `+${code}${separator}${prefix}${national.join(separator)}`;
      const parsed = parsePhoneNumberFromString(text);
      const isKnown = parsed?.isPossible() === true && /^\+[1-9][0-9]{1,14}$/.test(parsed.number);
      expect(parsePhone(text), text).toEqual(
        isKnown ? { e164: parsed.number, national: parsed.nationalNumber } : undefined,
      );
    }),
    { numRuns: 60_000 },
  );
});
