import { expect, test } from 'vitest';
import { leadCounter } from './lead-counter.ts';

test.for([
  ['csv', 'name,extra\r\nAda,"{""a"":""1""}"\r\n"Grace\r\n""Amazing""\nHopper",\r\n', 2],
  ['csv', 'name,extra\r\n', 0],
  ['ndjson', `${JSON.stringify({ name: 'Ada "the\nfirst' })}\n{}\n`, 2],
  ['ndjson', '', 0],
] as const)(
  'the leads of a file in the format %s are counted, however it is divided',
  ([format, text, leads]) => {
    const bytes = new TextEncoder().encode(text);
    for (const size of [1, 2, 7, 1_000]) {
      const count = leadCounter(format);
      let counted = 0;
      for (let at = 0; at < bytes.length; at += size) counted = count(bytes.subarray(at, at + size));
      expect(counted).toBe(leads);
    }
  },
);
