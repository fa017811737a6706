import { describe, expect, test } from 'vitest';
import { SetupError } from '../errors.ts';
import { createSecretBox, SealedTextError } from './secret-box.ts';

const first = 'first-secret-of-thirty-two-chars';
const second = 'other-secret-of-thirty-two-chars';

function codeOf(open: () => unknown): string | undefined {
  try {
    open();
  } catch (error) {
    return error instanceof SealedTextError ? error.code : String(error);
  }
  return undefined;
}

describe('a secret box', () => {
  test.each(['', 'whsec_abc', '{"X-Key":"ключ 🔑"}'])('opens the text that it has sealed: %j', (text) => {
    const box = createSecretBox({ current: first });
    expect(box.open(box.seal(text, 'endpoint 1'), 'endpoint 1')).toBe(text);
  });

  test('seals equal texts differently, and neither shows the text', () => {
    const box = createSecretBox({ current: first });
    const sealed = [box.seal('confidential', 'a'), box.seal('confidential', 'a')];
    expect(new Set(sealed).size).toBe(2);
    for (const text of sealed) {
      expect(text).toMatch(/^v1\.[\w-]{8}\.[\w-]+$/);
      expect(Buffer.from(text.split('.')[2] ?? '', 'base64url').toString()).not.toContain('confidential');
    }
  });

  test('refuses a text of another context as damaged', () => {
    const box = createSecretBox({ current: first });
    const sealed = box.seal('text', 'endpoint 1');
    expect(codeOf(() => box.open(sealed, 'endpoint 2'))).toBe('damaged');
  });

  test('refuses a text with any changed character', () => {
    const box = createSecretBox({ current: first });
    const sealed = box.seal('text', 'a');
    for (let i = 0; i < sealed.length; i += 1) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1);
      expect([i, codeOf(() => box.open(changed, 'a'))]).toEqual([
        i,
        expect.stringMatching(/^(damaged|unknown_key)$/),
      ]);
    }
    // The last character of 32 bytes in base64url has two unused bits.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet[alphabet.indexOf(sealed.at(-1) ?? '') ^ 1];
    expect(codeOf(() => box.open(sealed.slice(0, -1) + last, 'a'))).toBe('damaged');
    expect(codeOf(() => box.open('', 'a'))).toBe('damaged');
    expect(codeOf(() => box.open('v1.abcdefgh.', 'a'))).toBe('damaged');
  });

  test('opens the texts of a previous secret, and seals with the current one', () => {
    const old = createSecretBox({ current: first });
    const box = createSecretBox({ current: second, previous: [first] });
    const sealed = old.seal('text', 'a');
    expect(box.open(sealed, 'a')).toBe('text');
    expect(box.isCurrent(sealed)).toBe(false);
    expect(box.isCurrent(box.seal('text', 'a'))).toBe(true);
    expect(codeOf(() => old.open(box.seal('text', 'a'), 'a'))).toBe('unknown_key');
  });

  test('refuses a secret of fewer than 32 characters', () => {
    expect(() => createSecretBox({ current: first.slice(1) })).toThrow(SetupError);
    expect(() => createSecretBox({ current: first, previous: ['short'] })).toThrow(/32 characters/);
  });

  test('hashes a text with the current secret: the same for the same text, another for another text or secret', () => {
    const box = createSecretBox({ current: first, previous: [second] });
    expect(box.hash('a')).toBe(createSecretBox({ current: first }).hash('a'));
    expect(new Set([box.hash('a'), box.hash('b'), createSecretBox({ current: second }).hash('a')]).size).toBe(
      3,
    );
    expect(box.hash('a')).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
