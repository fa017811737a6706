import { optionalSortFields, sortFields } from '@leads/core/lead/sort-fields';
import { slugOf } from '@leads/core/workspace';
import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import {
  parseCount,
  parseDuplicateWindow,
  parseDuration,
  parseEmail,
  parsePayout,
  parseSlug,
  parseText,
  parseTimeAgo,
  parseUuid,
} from '../src/cli/runtime/arguments.ts';
import { runLeads } from './command-line.ts';

describe('parseDuration', () => {
  test.each([
    ['1s', 1],
    ['30m', 1_800],
    ['12h', 43_200],
    ['90d', 7_776_000],
    ['4w', 2_419_200],
    ['36500d', 3_153_600_000],
  ])('parses %s to %i seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each([
    '',
    '90',
    'd',
    '1y',
    '1.5h',
    '-1d',
    '1d2h',
    ' 1d',
    '1D',
    '1e3d',
    '0d',
    '36501d',
    '9'.repeat(12) + 'w',
  ])('rejects %j', (text) => {
    expect(() => parseDuration(text)).toThrow(InvalidArgumentError);
  });
});

describe('parseTimeAgo', () => {
  test('parses a time, or a duration before now', () => {
    expect(parseTimeAgo('2026-01-31T09:30:00+01:00')).toEqual(new Date('2026-01-31T08:30:00Z'));
    expect(parseTimeAgo('2026-01-31')).toEqual(new Date('2026-01-31T00:00:00Z'));
    expect(Math.abs(Date.now() - 3_600_000 - parseTimeAgo('1h').getTime())).toBeLessThan(5_000);
  });

  test.each(['', 'now', '1', '1y', '2026', '2026-13-01', '31.01.2026'])('rejects %j', (text) => {
    expect(() => parseTimeAgo(text)).toThrow(InvalidArgumentError);
  });
});

test('parsePayout parses an amount with a currency, or off, and rejects other texts', () => {
  expect(parsePayout('12.50 EUR')).toEqual({ amount: '12.5', currency: 'EUR' });
  expect(parsePayout('off')).toBeNull();
  for (const text of ['', '12.50', '-1 EUR', '1e3 EUR', '1 XQX', '1,5 EUR', '1 eur', '1  EUR', '1 EUR EUR']) {
    expect(() => parsePayout(text)).toThrow(InvalidArgumentError);
  }
  expect(() => parsePayout(`${'9'.repeat(13)} EUR`)).toThrow(InvalidArgumentError);
});

describe('parseCount', () => {
  test('parses a positive whole number', () => {
    expect(parseCount('12')).toBe(12);
  });

  test.each(['', '0', '-1', '1.5', '1e3', '01', 'x'])('rejects %j', (text) => {
    expect(() => parseCount(text)).toThrow(InvalidArgumentError);
  });
});

describe('parseUuid', () => {
  test('parses a UUID in upper or lower case', () => {
    const id = '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f';
    expect(parseUuid(id.toUpperCase())).toBe(id);
  });

  test.each(['', 'acme', '019c0a3e5d2b7c4e9f102a6b8c0d1e2f'])('rejects %j', (text) => {
    expect(() => parseUuid(text)).toThrow(InvalidArgumentError);
  });
});

describe('parseDuplicateWindow', () => {
  test.each([
    ['off', 0],
    ['1s', 1],
    ['30d', 2_592_000],
    ['3650d', 315_360_000],
  ])('parses %s to %i seconds', (text, seconds) => {
    expect(parseDuplicateWindow(text)).toBe(seconds);
  });

  test.each(['', '0', '0d', 'Off', 'none', '3651d', '36501d'])('rejects %j', (text) => {
    expect(() => parseDuplicateWindow(text)).toThrow(InvalidArgumentError);
  });
});

describe('parseText', () => {
  test('trims white space, and accepts 1 to 255 characters', () => {
    expect(parseText(' Ada Lovelace ')).toBe('Ada Lovelace');
    expect(parseText('\u{1F600}'.repeat(255))).toHaveLength(510);
    for (const text of ['', '  ', 'x'.repeat(256), 'a\nb', 'a\u001b[31mb']) {
      expect(() => parseText(text)).toThrow(InvalidArgumentError);
    }
  });
});

describe('parseEmail', () => {
  test.each(['ada@example.com', 'a.b+c@sub.example.co', 'Ada@Example.COM'])('accepts %s', (text) => {
    expect(parseEmail(text)).toBe(text);
  });

  test.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'a b@example.com',
    'a@b@c',
    'a@b.c\n',
    `${'a'.repeat(251)}@b.c`,
  ])('rejects %j', (text) => {
    expect(() => parseEmail(text)).toThrow(InvalidArgumentError);
  });
});

describe('parseSlug', () => {
  test.each(['a', 'acme', 'acme-inc-2', '0', 'a'.repeat(63)])('accepts %s', (text) => {
    expect(parseSlug(text)).toBe(text);
  });

  test.each(['', 'Acme', 'a_b', '-a', 'a-', 'a--b', 'é', 'a b', 'a\n', 'a'.repeat(64)])(
    'rejects %j',
    (text) => {
      expect(() => parseSlug(text)).toThrow(InvalidArgumentError);
    },
  );

  test.each([
    ['Ada.Lovelace', 'ada-lovelace'],
    ['  Café Zürich! ', 'cafe-zurich'],
    ['ada+test', 'ada-test'],
    ['__x__', 'x'],
    [`${'a'.repeat(62)} b`, 'a'.repeat(62)],
  ])('accepts the slug that slugOf derives from %j', (text, slug) => {
    expect(slugOf(text)).toBe(slug);
    expect(parseSlug(slug)).toBe(slug);
  });

  test('agrees with slugOf, which returns undefined for a text without Latin letters', () => {
    expect(slugOf('日本')).toBeUndefined();
  });
});

test('the help of leads export names every value of --has and --sort, and everything that --search finds', async () => {
  const { stdout } = await runLeads(['export', '--help']);
  /** Returns the words of an option's text. */
  const wordsOf = (option: string) => {
    const [, text = ''] = stdout.split(new RegExp(`^ +--${option} <\\w+>`, 'm'));
    return text.split(/^ +--/m)[0]?.match(/[\w-]+/g);
  };
  expect(wordsOf('has')).toEqual(expect.arrayContaining([...optionalSortFields]));
  expect(wordsOf('sort')).toEqual(expect.arrayContaining([...sortFields]));
  const found = ['name', 'email', 'phone', 'id', 'sub-id', 'campaign'];
  expect(wordsOf('search')).toEqual(expect.arrayContaining(found));
});
