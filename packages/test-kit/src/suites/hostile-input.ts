import fc from 'fast-check';

/** Checks a property of generated input. A failure reports the seed and the smallest counterexample. */
export async function forAll<Input>(
  inputs: fc.Arbitrary<Input>,
  check: (input: Input) => Promise<void>,
  runs = 150,
): Promise<void> {
  await fc.assert(fc.asyncProperty(inputs, check), { numRuns: runs });
}

/** Returns generated inputs. The same seed returns the same inputs. */
export function samplesOf<Input>(inputs: fc.Arbitrary<Input>, count: number, seed: number): Input[] {
  return fc.sample(inputs, { numRuns: count, seed });
}

/** Texts that JSON and Postgres store unchanged: characters of every plane, and edge cases. */
export const storableText: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.string({ maxLength: 40 }),
    fc.integer({ min: 1, max: 20_000 }).map((length) => 'é'.repeat(length)),
    fc.constantFrom(
      '',
      ' ',
      '\t\r\n',
      '\u0001\u001f\u007f\u0080\u009f',
      '\ufeffx',
      '\ufdd0\ufdef\ufffe\uffff\u{1fffe}\u{1ffff}\u{10fffe}\u{10ffff}',
      '\u{10000}\u{2f800}\u{30000}\u{e0001}\u{f0000}\u{100000}',
      '\u202e\u2066abc\u2069\u200f\u061c',
      'שלום مرحبا',
      `Z${'\u0301'.repeat(60)}`,
      '👩‍👩‍👧‍👦🏳️‍🌈',
      '\u2028\u2029\u0085',
      "'; DROP TABLE lead; --",
      '$1 ${x} %s {{x}} <script>',
      '\\u0000 \\ud800 \\ " /',
      'null',
      '{}',
      '__proto__',
    ),
  )
  .filter((text) => !text.includes('\0'));

/** Texts that Postgres cannot store: NUL and half a surrogate pair. */
export const unstorableText: fc.Arbitrary<string> = fc
  .tuple(storableText, fc.constantFrom('\0', '\ud800', '\udbff', '\udc00', '\udfff'), storableText)
  // A space keeps the neighbors from completing the surrogate pair.
  .map(([before, broken, after]) => `${before.slice(0, 20)} ${broken} ${after.slice(0, 20)}`);

/** Times that are valid by their format and that `Date` cannot represent: a leap second, and an offset without minutes. */
export const unrepresentableTimes = ['2016-12-31T23:59:60Z', '2026-01-31T09:30:00+01'] as const;

/** Times of the years 0 and 10000 in UTC, which Postgres cannot read as `Date` writes them. */
export const extremeTimes = ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-01:00'] as const;

/** These times, each with the status of a route that accepts every year. */
export const statusOfTime = new Map<string, number>([
  ...unrepresentableTimes.map((time) => [time, 400] as const),
  ...extremeTimes.map((time) => [time, 200] as const),
]);

export const anyText = fc.oneof({ arbitrary: storableText, weight: 4 }, unstorableText);

export const goodEmail: fc.Arbitrary<string> = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\.[A-Z0-9_-]{1,20})?$/),
    fc.stringMatching(/^([a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?\.){1,3}$/),
    fc.constantFrom('io', 'IO', 'Io', 'iO'),
  )
  .map(([local, domain, end]) => `${local}@${domain}${end}`);

export const email: fc.Arbitrary<string> = fc.oneof(
  goodEmail,
  fc.constantFrom(
    'a@b.com',
    'a@b.io.com',
    'a@b.ioo',
    'a@b.io ',
    ' a@b.io',
    'a@b.io\n',
    'a@b@c.io',
    '@b.io',
    'a@.io',
    'a@io',
    'a.io',
    '.io',
    'a..b@c.io',
    '.a@c.io',
    'a.@c.io',
    'a b@c.io',
    'a@-b.io',
    'a@b-.io',
    'a@b_c.io',
    'é@b.io',
    'a@é.io',
    `${'a'.repeat(60_000)}@b.io`,
    `a@${'b'.repeat(60_000)}`,
    `a@${'b.'.repeat(20_000)}`,
    '',
  ),
  anyText,
);

/** Any JSON value of every type, including texts that cannot be stored. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.constantFrom(null, true, false, 0, -0, 1, -1.5, 1e308, 5e-324, 2 ** 53, [], {}, [null], [[]], ''),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.array(anyText, { maxLength: 3 }),
  fc.dictionary(anyText, anyText, { maxKeys: 3 }),
);

/** Names that a client could try for the columns that only the service sets. */
export const columns = [
  'id status state ip source extra createdAt created_at updatedAt updated_at',
  'workspaceId workspace_id userId user_id campaignId campaign_id phoneE164 phone_e164 lpName version contentHash content_hash duplicateOf duplicate_of words role principal success order_id API_KEY',
].flatMap((names) => names.split(' '));

/** Values that a client could try to store in these columns. */
export const columnValues: readonly unknown[] = [
  'Paid',
  '203.0.113.66',
  '2001-01-01T00:00:00Z',
  crypto.randomUUID(),
  'x',
  7,
  null,
  { status: 'Paid' },
];

const prototypeNames =
  '__proto__ constructor prototype toString hasOwnProperty __defineGetter__ valueOf toJSON then length 0 -1 NAME $ref $where'.split(
    ' ',
  );

/** Names of unknown fields: columns, members of prototypes, and any other text. */
export const unknownName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...columns),
  fc.constantFrom(...prototypeNames, '', ' ', 'name '),
  storableText.filter((text) => text.length < 100),
);

const storableJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...columnValues, 'x'.repeat(3000)),
  storableText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' }),
);

/** Unknown fields with their values; a few cannot be stored. */
export const unknownMembers: fc.Arbitrary<[string, unknown][]> = fc
  .tuple(
    fc.array(fc.tuple(unknownName, storableJson), { maxLength: 60 }),
    fc.oneof(
      { arbitrary: fc.constant(null), weight: 9 },
      fc.tuple(unknownName, anyJson),
      fc.tuple(unstorableText, storableJson),
      fc.tuple(unknownName, unstorableText),
    ),
  )
  .map(([members, last]) => (last === null ? members : members.concat([last])));

/** JSON text of a value nested as deeply as the body limit permits. */
export const deepJson: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(1, 20, 31, 32, 33, 34, 100, 5_000, 30_000), fc.constantFrom('[]', '{}', 'mixed'))
  .map(([levels, kind]) => {
    if (kind === '[]') return '['.repeat(levels) + ']'.repeat(levels);
    // `{"a":` takes 5 characters per level.
    const depth = Math.min(levels, kind === '{}' ? 10_000 : 8_000);
    const [open, close] = kind === '{}' ? ['{"a":', '}'] : ['[{"a":', '}]'];
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  });

/** Mutations of a text: truncated, or with bytes changed, removed or inserted. A few are unchanged. */
export function mutationsOf(text: string): fc.Arbitrary<Buffer> {
  const bytes = Buffer.from(text);
  const at = fc.nat({ max: bytes.length - 1 });
  const byte = fc.oneof(
    fc.nat({ max: 255 }),
    fc.constantFrom(0, 0x22, 0x5c, 0x7b, 0x7d, 0x80, 0xc0, 0xed, 0xff),
  );
  return fc.oneof(
    at.map((end) => bytes.subarray(0, end)),
    fc.array(fc.tuple(at, byte), { minLength: 1, maxLength: 4 }).map((changes) => {
      const copy = Buffer.from(bytes);
      for (const [index, value] of changes) copy[index] = value;
      return copy;
    }),
    fc.tuple(at, fc.nat({ max: 7 })).map(([index, bit]) => {
      const copy = Buffer.from(bytes);
      copy[index] = (copy[index] ?? 0) ^ (1 << bit);
      return copy;
    }),
    fc.tuple(at, at).map(([a, b]) => Buffer.concat([bytes.subarray(0, a), bytes.subarray(b)])),
    fc
      .tuple(at, fc.uint8Array({ minLength: 1, maxLength: 8 }))
      .map(([index, more]) => Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)])),
    // Invalid UTF-8: overlong, surrogate halves, beyond the last plane, truncated.
    fc
      .tuple(
        at,
        fc.constantFrom('c080', 'eda080', 'edbfbf', 'f4908080', 'f8888080', 'e282', 'ff', 'fe', '80'),
      )
      .map(([index, hex]) =>
        Buffer.concat([bytes.subarray(0, index), Buffer.from(hex, 'hex'), bytes.subarray(index)]),
      ),
  );
}

/** Header values that HTTP permits (RFC 9110, 5.5), with one character per byte. */
export const headerValue: fc.Arbitrary<string> = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }), fc.constant(0x09))
    .map((code) => String.fromCharCode(code)),
  maxLength: 60,
});

/** Header lines that do not change the meaning of a request. */
export const irrelevantHeaders: fc.Arbitrary<[string, string][]> = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom('Accept', 'Accept-Encoding', 'Accept-Language', 'Cookie', 'Origin', 'Referer', 'Range'),
      fc.constantFrom('X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Forwarded', 'X-Real-IP'),
      fc.constantFrom(
        'If-None-Match',
        'If-Modified-Since',
        'TE',
        'Via',
        'X-HTTP-Method-Override',
        'X-Request-Id',
      ),
      fc.constantFrom('User-Agent', 'From', 'Date', 'Pragma', 'Cache-Control', 'Content-Encoding', 'Expect'),
      fc.constantFrom('Access-Control-Request-Method', 'Idempotency', '__proto__', 'constructor', 'Link'),
      fc.stringMatching(/^x-[a-z0-9!#$%&'*+.^_`|~-]{1,20}$/).filter((name) => name !== 'x-api-key'),
    ),
    headerValue,
  ),
  { maxLength: 30 },
);

/** Query strings: known and unknown names, once or repeated, with valid and invalid escapes. */
export const query: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(
      fc.oneof(
        { arbitrary: fc.constantFrom('limit', 'cursor'), weight: 8 },
        fc.constantFrom(
          'Limit',
          'limit[]',
          'limit%5B%5D',
          'l%69mit',
          '%6cimit',
          'cursor%00',
          'offset',
          'page',
        ),
        fc.constantFrom(
          '__proto__',
          'constructor',
          'prototype',
          'toString',
          '__proto__[limit]',
          '',
          'API_KEY',
        ),
        storableText.filter((text) => text.length < 50).map(escape),
      ),
      fc.oneof(
        fc.constantFrom(
          '=',
          '=0',
          '=1',
          '=5',
          '=100',
          '=1000',
          '=1001',
          '=01',
          '=-1',
          '=1.0',
          '=1e2',
          '=+1',
          '',
        ),
        fc.constantFrom(
          '=%31',
          '=1%00',
          '=1%0A',
          '=%201',
          '=0x10',
          '=NaN',
          '=Infinity',
          '=null',
          '=%ZZ',
          '=%',
        ),
        fc.constantFrom(
          '=%F0%9F',
          '=%ED%A0%80',
          '=%C0%80',
          `=${'9'.repeat(400)}`,
          `=${'A'.repeat(2000)}`,
          '=1=1',
        ),
        fc.integer({ min: -5, max: 1005 }).map((limit) => `=${limit}`),
        storableText.filter((text) => text.length < 200).map((text) => `=${escape(text)}`),
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.map(([name, value]) => name + value).join('&'));

function escape(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+');
}

/** Whole numbers from `minimum` to `maximum`. */
export function integer(minimum: number, maximum: number): fc.Arbitrary<number> {
  return fc.integer({ min: minimum, max: maximum });
}

/** Lists with one value of each generator. */
export function tuple<Inputs extends unknown[]>(
  ...inputs: { [Index in keyof Inputs]: fc.Arbitrary<Inputs[Index]> }
): fc.Arbitrary<Inputs> {
  return fc.tuple(...inputs) as unknown as fc.Arbitrary<Inputs>;
}

export function oneOf<Input>(...inputs: fc.Arbitrary<Input>[]): fc.Arbitrary<Input> {
  return fc.oneof(...inputs);
}

export function constantFrom<Input>(...values: Input[]): fc.Arbitrary<Input> {
  return fc.constantFrom(...values);
}

/** Objects with some of the fields, each with its own generator. */
export function someOf(
  fields: Readonly<Record<string, fc.Arbitrary<string>>>,
): fc.Arbitrary<Partial<Record<string, string>>> {
  return fc.record({ ...fields }, { requiredKeys: [] });
}
