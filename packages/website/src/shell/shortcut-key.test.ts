import { expect, test } from 'vitest';
import { shortcutKeyOf } from './shortcut-key.ts';

test.each([
  ['a', 'KeyA', 'a'],
  ['A', 'KeyA', 'a'],
  ['ф', 'KeyA', 'a'],
  ['ش', 'KeyA', 'a'],
  // The layouts of French and of Dvorak have other places of the Latin letters.
  ['a', 'KeyQ', 'a'],
  ['j', 'KeyC', 'j'],
  ['é', 'Digit2', 'é'],
  ['Enter', 'Enter', 'Enter'],
  ['/', 'Slash', '/'],
])('the key %s at the place %s is the shortcut %s', (key, code, shortcut) => {
  expect(shortcutKeyOf({ key, code, shiftKey: false })).toBe(shortcut);
});

test('a letter with Shift is no shortcut', () => {
  expect(shortcutKeyOf({ key: 'A', code: 'KeyA', shiftKey: true })).toBe('A');
});
