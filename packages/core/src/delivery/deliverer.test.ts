import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deliverer } from './deliverer.ts';
import type { ClaimedDelivery, DeliveryQueue } from './delivery-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const endpoints = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, workspaceId: id }));

/** Sends from a queue that always has more to plan and to send. Each statement takes a time. */
async function sendFromFullQueue(given: { statementMs: number; waitShare: number; lateSeconds: number }) {
  const { statementMs, waitShare, lateSeconds } = given;
  const seconds = 10;
  const usedMs = { plan: 0, claim: 0, complete: 0 };
  const use = async (loop: keyof typeof usedMs) => {
    await wait(statementMs);
    usedMs[loop] += statementMs;
  };
  let claims = 0;
  const queue: DeliveryQueue = {
    async plan() {
      await use('plan');
      return { statements: 1, lateSeconds };
    },
    dueEndpoints: async () => endpoints,
    async claim(room) {
      await use('claim');
      return [...room].flatMap(([endpointId, free]) =>
        Array.from({ length: free }, (): ClaimedDelivery => {
          const id = `${claims++}`;
          const endpoint = { endpointId, url: 'https://example.com', secret: '' };
          return {
            ...endpoint,
            id,
            workspaceId: endpointId,
            leaseId: id,
            type: '',
            attempts: 0,
            lateSeconds: 0,
          };
        }),
      );
    },
    readEvents: async () => () => undefined,
    async complete() {
      await use('complete');
      return [];
    },
    backlog: async () => ({ waiting: 0, lagSeconds: 0 }),
    createNotices: async () => 0,
    skipDisabled: async () => 0,
    deleteOld: async () => 0,
  };
  const send = async () => {
    await wait(20);
    return { status: 204, durationMs: 20, bodyStart: '', isDisableRequested: false };
  };
  const secrets = { open: () => `whsec_${Buffer.alloc(32).toString('base64')}`, hash: () => '' };
  const errors: unknown[] = [];
  const ignore = () => undefined;
  const onError = (error: unknown) => void errors.push(error);
  const events = { onError, onDisabled: ignore, onUnreadable: ignore, onAttempt: ignore };
  const deliverer = new Deliverer(
    queue,
    { sender: { send }, secrets, processorWait: { share: () => waitShare } },
    events,
  );
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
  const { delivered } = deliverer.counts;
  const shares = Object.values(usedMs).map((each) => each / (seconds * 1_000));
  const disposal = deliverer[Symbol.asyncDispose]();
  await vi.advanceTimersByTimeAsync(10_000);
  await disposal;
  expect(errors).toEqual([]);
  return { perSecond: delivered / seconds, least: Math.min(...shares), most: Math.max(...shares) };
}

test('each loop works for a third of the time on an idle machine', async () => {
  const idle = await sendFromFullQueue({ statementMs: 40, waitShare: 0, lateSeconds: 0 });
  expect(idle.perSecond).toBeGreaterThan(1_000);
  expect(idle.least).toBeGreaterThan(0.3);
  expect(idle.most).toBeLessThan(0.35);
});

test('each loop works for a fiftieth of the time at most while the process waits for a processor, and still sends', async () => {
  const busy = await sendFromFullQueue({ statementMs: 20, waitShare: 0.6, lateSeconds: 0 });
  expect(busy.perSecond).toBeGreaterThan(50);
  expect(busy.most).toBeLessThan(0.02);
});

test('late deliveries are sent on a busy machine as on an idle one', async () => {
  const late = await sendFromFullQueue({ statementMs: 40, waitShare: 0.6, lateSeconds: 60 });
  expect(late.perSecond).toBeGreaterThan(1_000);
  expect(late.least).toBeGreaterThan(0.3);
});
