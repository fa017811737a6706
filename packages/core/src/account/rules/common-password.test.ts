import { expect, test } from 'vitest';
import { isCommonPassword } from './common-password.ts';

test.for([
  'qwertyuiop',
  'Password123',
  'P4ssw0rd!!',
  '2026sunshine!',
  'passwordpassword',
  'abcabcabcabc',
  'aaaaaaaaaaaa',
  'abcdefghijkl',
  '9876543210',
  'Lovelace-1815',
  'ada.lovelace1',
])('"%s" is a common password', (password) => {
  expect(isCommonPassword(password, ['Lovelace', 'ada.lovelace'])).toBe(true);
});

test.for([
  'correct horse battery',
  'another good phrase',
  'Tr0ub4dor&3xyz',
  'm7-Qz9-vR2-kL4',
  'пароль не для всех',
])('"%s" is no common password', (password) => {
  expect(isCommonPassword(password, ['Lovelace', 'ada.lovelace'])).toBe(false);
});
