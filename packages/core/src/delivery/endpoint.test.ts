import { expect, test } from 'vitest';
import { stateView } from './endpoint.ts';

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1_000);
const state = { id: 'x', failures: 0, createdAt: at(0), updatedAt: at(0) };

test('the lag is the time for which the next attempt is overdue; a disabled endpoint has none', () => {
  const overdue = { ...state, nextAttemptAt: at(90.5) };
  expect(stateView(overdue)).toMatchObject({
    nextAttemptAt: overdue.nextAttemptAt.toISOString(),
    lagSeconds: 90,
  });
  expect(stateView({ ...state, nextAttemptAt: at(-60) }).lagSeconds).toBe(0);
  const disabled = stateView({ ...overdue, disabledAt: at(10), disabledReason: 'user' });
  expect(disabled).toMatchObject({ enabled: false, lagSeconds: 0 });
  expect(disabled).not.toHaveProperty('nextAttemptAt');
});
