import { expect, test } from 'vitest';
import { PaymentRunner } from './payment-runner.ts';

test('a payment runner reports how long the payment in progress has made no progress, and 0 without one', async () => {
  const lastSteps = [new Date(Date.now() - 600_000), undefined];
  const stalled: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const runner = new PaymentRunner(
      {
        step: async () => {
          // The first step begins in the constructor.
          await Promise.resolve();
          stalled.push(Math.floor(runner.stalledSeconds / 600));
          if (lastSteps.length > 0) runner.wake();
          else resolve(runner[Symbol.asyncDispose]());
          return undefined;
        },
        oldestStepAt: async () => lastSteps.shift(),
      },
      reject,
    );
  });
  expect(stalled).toEqual([0, 1, 0]);
});
