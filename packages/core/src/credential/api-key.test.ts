import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { generateApiKey, hashApiKey, isApiKey } from './api-key.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  test('have the prefix lk_, a secret of 43 digits and a checksum of 6 digits', () => {
    const keys = Array.from({ length: 2_000 }, () => generateApiKey().apiKey);
    for (const key of keys) {
      expect(key).toMatch(/^lk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
      expect(isApiKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(keys.length);
    // A CRC-32 has 2^32 values, fewer than the 62^6 values of 6 digits. The first digit is therefore 0 to 4.
    expect(keys.every((key) => '01234'.includes(key.charAt(46)))).toBe(true);
  });

  test('are generated with their SHA-256 and a display prefix', () => {
    const { apiKey, hash, prefix } = generateApiKey();
    expect(hash).toEqual(createHash('sha256').update(apiKey, 'ascii').digest());
    expect(hash).toHaveLength(32);
    expect(hashApiKey(apiKey)).toEqual(hash);
    expect(prefix).toBe(apiKey.slice(0, 11));
    expect(prefix).toMatch(/^lk_[0-9A-Za-z]{8}$/);
  });

  test('are rejected with any single character changed', () => {
    for (let round = 0; round < 5; round++) {
      const { apiKey } = generateApiKey();
      for (let at = 0; at < apiKey.length; at++) {
        for (const character of `${alphabet}_-. `) {
          if (character === apiKey.charAt(at)) continue;
          const changed = apiKey.slice(0, at) + character + apiKey.slice(at + 1);
          expect(isApiKey(changed), changed).toBe(false);
        }
      }
    }
  });

  test('are rejected with two adjacent characters swapped', () => {
    const { apiKey } = generateApiKey();
    for (let at = 0; at + 1 < apiKey.length; at++) {
      const [a, b] = [apiKey.charAt(at), apiKey.charAt(at + 1)];
      if (a === b) continue;
      expect(isApiKey(apiKey.slice(0, at) + b + a + apiKey.slice(at + 2))).toBe(false);
    }
  });

  test('are rejected if they are cut, lengthened or padded', () => {
    const { apiKey } = generateApiKey();
    for (let length = 0; length < apiKey.length; length++)
      expect(isApiKey(apiKey.slice(0, length))).toBe(false);
    for (const text of [`${apiKey}0`, `${apiKey}\n`, ` ${apiKey}`, `${apiKey}, ${apiKey}`, apiKey.slice(3)]) {
      expect(isApiKey(text)).toBe(false);
    }
    expect(isApiKey(apiKey.toLowerCase())).toBe(false);
    expect(isApiKey(`LK_${apiKey.slice(3)}`)).toBe(false);
    expect(isApiKey('lk_'.repeat(20_000))).toBe(false);
  });
});
