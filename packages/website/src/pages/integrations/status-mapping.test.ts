import { expect, test } from 'vitest';
import { readMapping, writeMapping } from './status-mapping.ts';

const template = 'https://t.example/p?a={status:OnHold=lead,Approved=sale}&b={s1}&c={status}';

test('the mapping of the first macro is read, and that of every macro is replaced', () => {
  expect(readMapping(template)).toEqual({ OnHold: 'lead', Approved: 'sale' });
  expect(readMapping('https://t.example/p?a={status}')).toEqual({});
  expect(readMapping('https://t.example/p?a={s1}')).toBeUndefined();
  expect(writeMapping(template, { Approved: 'sale', Paid: '$&' })).toBe(
    'https://t.example/p?a={status:Approved=sale,Paid=$&}&b={s1}&c={status:Approved=sale,Paid=$&}',
  );
});

test('an empty name sends the status itself, and a name cannot change the macro', () => {
  expect(writeMapping(template, { Approved: '' })).toBe('https://t.example/p?a={status}&b={s1}&c={status}');
  expect(writeMapping('{status}', { Paid: ' a,b={c} ' })).toBe('{status:Paid=abc}');
  expect(writeMapping('https://t.example/p?a={s1}', { Paid: 'sale' })).toBe('https://t.example/p?a={s1}');
});
