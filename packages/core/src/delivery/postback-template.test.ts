import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type PostbackTemplate,
  PostbackTemplateError,
  type PostbackValues,
  parseFormTemplate,
  parseJsonTemplate,
  parsePostbackTemplate,
  postbackMacros,
} from './postback-template.ts';

const values: PostbackValues = {
  order_id: '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f',
  s1: 'click 1/2?a=b&c#d',
  status: 'Approved',
  payout: '12.50',
  currency: 'EUR',
  campaign: 'SPRING',
  lp_name: 'Große Seite',
  reason: "it's (fine)*!",
  country: 'GB',
  time: '2026-11-21T09:30:00.000Z',
  event_id: '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f.3',
  name: 'Ada',
  phone: '+44 20 7946 0000',
  email: 'ada@example.io',
  address: '12 St James Square',
  ip: '192.0.2.1',
  extra: { gclid: 'g=1', count: 3, list: [1, 'b'], none: null },
};

const renderUrl = (url: string, given: PostbackValues = values) => parsePostbackTemplate(url).render(given);

describe('the template of a URL', () => {
  test.each([
    ['https://t.example/p?cid={s1}', 'https://t.example/p?cid=click%201%2F2%3Fa%3Db%26c%23d'],
    ['https://t.example/p?cid={clickid}', 'https://t.example/p?cid=click%201%2F2%3Fa%3Db%26c%23d'],
    ['https://t.example/{campaign}/{s1}?x', 'https://t.example/SPRING/click%201%2F2%3Fa%3Db%26c%23d?x'],
    [
      'https://t.example?l={lp_name}&r={reason}',
      'https://t.example?l=Gro%C3%9Fe%20Seite&r=it%27s%20%28fine%29%2A%21',
    ],
    ['https://t.example/?p={payout}{currency}', 'https://t.example/?p=12.50EUR'],
    ['https://t.example/?g={extra.gclid}', 'https://t.example/?g=g%3D1'],
    ['https://t.example/?g={extra.count},{extra.list}', 'https://t.example/?g=3,%5B1%2C%22b%22%5D'],
    ['https://t.example/?g={extra.none}{extra.constructor}{extra.toString}', 'https://t.example/?g='],
    ['https://t.example/?s={status}', 'https://t.example/?s=Approved'],
    ['https://t.example/?s={status:OnHold=lead,Approved=sale}', 'https://t.example/?s=sale'],
    ['https://t.example/?s={status:OnHold=lead}', 'https://t.example/?s=Approved'],
    ['https://t.example/?s={status:Approved=a/b}', 'https://t.example/?s=a%2Fb'],
    ['https://t.example/?s={status:Approved=}', 'https://t.example/?s='],
    ['https://t.example:8443/?t={time}', 'https://t.example:8443/?t=2026-11-21T09%3A30%3A00.000Z'],
  ])('%s is rendered as %s', (template, url) => {
    expect(renderUrl(template)).toBe(url);
  });

  test('renders each known macro, and an absent value as an empty text', () => {
    for (const macro of postbackMacros) {
      expect(renderUrl(`https://t.example/?v={${macro}}`)).not.toBe('https://t.example/?v=');
      expect(renderUrl(`https://t.example/?v={${macro}}`, {})).toBe('https://t.example/?v=');
    }
  });

  test.each([
    'https://t.example/?x={sub1}',
    'https://t.example/?x={}',
    'https://t.example/?x={S1}',
    'https://t.example/?x={s1:a=b}',
    'https://t.example/?x={extra.}',
    'https://t.example/?x={constructor}',
  ])('%s is refused with a list of the known macros', (template) => {
    expect(() => parsePostbackTemplate(template)).toThrow(PostbackTemplateError);
    expect(() => parsePostbackTemplate(template)).toThrow(
      /known macros are \{order_id\}, .*\{extra\.<field>\}/,
    );
  });

  test.each([
    '{s1}://t.example/',
    '{s1}',
    'http{s1}://t.example/',
    'https://{s1}/',
    'https://{s1}.t.example/',
    'https://t.example{s1}/',
    'https://t.example:{s1}/',
    'https://t.example:80{s1}/?a',
    'https://t.example\\{s1}/',
    'https:{s1}',
    'https:/{s1}',
    'https:///{s1}',
    'https://a{s1}@t.example/',
    'https://a@{s1}/',
    '//t.example/{s1}',
  ])('%s is refused, because a macro could change the host', (template) => {
    expect(() => parsePostbackTemplate(template)).toThrow(
      /must (begin with a scheme|not have a macro|not contain)/,
    );
  });

  test.each([
    ['', 'must begin'],
    ['t.example/?s={s1}', 'must begin'],
    ['ftp://t.example/{s1}', 'must begin'],
    ['https://t.example:99999/?s={s1}', 'must be a URL'],
    ['https://t.example/?s={s1', 'close each brace'],
    ['https://t.example/?s=s1}', 'close each brace'],
    ['https://t.example/?s={{s1}}', 'close each brace'],
    ['https://t.example/#{s1}', 'fragment'],
    ['https://t.exa\tmple/?s={s1}', 'white space'],
    ['https://t.example/?s={s1} ', 'white space'],
    ['https://t.example/?s={status:}', 'map each status once'],
    ['https://t.example/?s={status:Sold=sale}', 'OnHold, Trashed, Paid, Approved'],
    ['https://t.example/?s={status:Paid}', 'map each status once'],
    ['https://t.example/?s={status:Paid=a,Paid=b}', 'map each status once'],
    ['https://t.example/?s={status:Paid=a=b}', 'map each status once'],
  ])('%j is refused with an error that says: %s', (template, reason) => {
    expect(() => parsePostbackTemplate(template)).toThrow(reason);
  });

  test('names its personal macros and those of extra, each once', () => {
    const url = 'https://t.example/?a={phone}&b={s1}&c={phone}&d={email}&e={extra.name}';
    expect(parsePostbackTemplate(url).personalMacros).toEqual(['phone', 'email', 'extra.name']);
    expect(parsePostbackTemplate('https://t.example/?a={s1}').personalMacros).toEqual([]);
  });
});

/** Any text, with many of the characters that have a meaning in URLs, forms, JSON and templates. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'.%/\\?#&=+;:@{}[]"\'<> \t\r\n\u0000\ud800é東🔑2eE'.split('')) }),
  fc.constantFrom('.', '..', '%2e', '%2E%2e', '../../admin', '{s1}', '\ud800', '__proto__'),
);
const anyValues = fc.record({
  s1: anyText,
  lp_name: anyText,
  reason: anyText,
  extra: fc.record({ a: anyText }),
});

describe('whatever the values are', () => {
  test('a rendered URL keeps its origin, path segments and parameters, and holds the values', () => {
    const template = parsePostbackTemplate(
      'https://t.example:8443/a/{s1}/b{lp_name}/c?x={s1}&y=1{reason}&z={extra.a}',
    );
    fc.assert(
      fc.property(anyValues, (given) => {
        const rendered = template.render(given);
        const url = new URL(rendered);
        expect(url.origin).toBe('https://t.example:8443');
        expect(url.hash).toBe('');
        const segments = url.pathname.split('/');
        expect(segments).toHaveLength(5);
        expect([segments[1], segments[4]]).toEqual(['a', 'c']);
        const wellFormed = given.s1.toWellFormed();
        const isDots = wellFormed === '.' || wellFormed === '..';
        expect(decodeURIComponent(segments[2] ?? '')).toBe(isDots ? '' : wellFormed);
        expect([...url.searchParams]).toEqual([
          ['x', wellFormed],
          ['y', `1${given.reason.toWellFormed()}`],
          ['z', given.extra.a.toWellFormed()],
        ]);
        // The sent bytes are the rendered text.
        expect(url.href).toBe(rendered);
      }),
      { numRuns: 2000 },
    );
  });

  test('a rendered form keeps its fields', () => {
    const template = parseFormTemplate('cid={s1}&r={reason}&fixed=1');
    fc.assert(
      fc.property(anyValues, (given) => {
        expect([...new URLSearchParams(template.render(given))]).toEqual([
          ['cid', given.s1.toWellFormed()],
          ['r', given.reason.toWellFormed()],
          ['fixed', '1'],
        ]);
      }),
      { numRuns: 1000 },
    );
  });

  test('a rendered JSON body keeps its structure', () => {
    const template = parseJsonTemplate(
      '{"cid":"{s1}","a":[1,null,"x{reason}"],"b":{"__proto__":"{extra.a}"}}',
    );
    fc.assert(
      fc.property(anyValues, (given) => {
        const body = JSON.parse(template.render(given)) as { cid: string; a: unknown[]; b: object };
        expect(Object.keys(body)).toEqual(['cid', 'a', 'b']);
        expect([body.cid, body.a]).toEqual([given.s1, [1, null, `x${given.reason}`]]);
        expect(Object.entries(body.b)).toEqual([['__proto__', given.extra.a]]);
      }),
      { numRuns: 1000 },
    );
  });

  test('a template that is not refused keeps its host', () => {
    const unit = fc.constantFrom(
      '{s1}',
      '{',
      '}',
      '{status:Paid=x}',
      '//',
      't.example',
      ...':/\\?#@.&=%\t ['.split(''),
    );
    const start = fc.constantFrom('https:', 'https://', 'https://t.example', 'https://t.example/');
    fc.assert(
      fc.property(start, fc.string({ unit, maxLength: 8 }), anyText, (first, rest, s1) => {
        const template = parseOrRefuse(first + rest);
        if (template === undefined) return;
        expect(new URL(template.render({ s1 })).host).toBe(new URL(template.render({})).host);
      }),
      { numRuns: 5000 },
    );
  });
});

/** Returns `undefined` for a refused template. @throws any other error. */
function parseOrRefuse(url: string): PostbackTemplate | undefined {
  try {
    return parsePostbackTemplate(url);
  } catch (error) {
    if (error instanceof PostbackTemplateError) return undefined;
    throw error;
  }
}

describe('the template of a JSON body', () => {
  test.each([
    ['{"a":{s1}}', 'must be JSON'],
    ['', 'must be JSON'],
    ['{"{s1}":1}', "member's name"],
    ['{"a":["{sub1}"]}', 'unknown macro {sub1}'],
  ])('%s is refused with an error that says: %s', (body, reason) => {
    expect(() => parseJsonTemplate(body)).toThrow(reason);
  });

  test('names its personal macros at any depth', () => {
    expect(parseJsonTemplate('{"a":[{"b":"{name}"}],"c":"{ip}{s1}"}').personalMacros).toEqual(['name', 'ip']);
  });
});
