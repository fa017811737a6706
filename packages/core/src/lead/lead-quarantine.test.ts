import { expect, test } from 'vitest';
import { storedLater } from './lead-quarantine.ts';
import type { LeadToInsert } from './lead-store.ts';

test('a lead that is stored later counts as changed now, and never before its creation', () => {
  const created = (createdAt: Date) =>
    ({ name: 'Ada Lovelace', createdAt, updatedAt: createdAt }) as LeadToInsert;
  const hour = 60 * 60 * 1000;
  const start = Date.now();
  const earlier = created(new Date(start - hour));
  const later = storedLater(earlier);
  expect(later).toEqual({ ...earlier, updatedAt: expect.any(Date) });
  expect(later.updatedAt.getTime()).toBeGreaterThanOrEqual(start);
  // By the clock of another process.
  const ahead = created(new Date(start + hour));
  expect(storedLater(ahead)).toEqual(ahead);
});
