import { LeadsError } from '@leads/core/errors';
import { createServer } from '@leads/http/server/create-server';
import { createLogger } from '@leads/http/service/log';
import { expect, test } from 'vitest';
import { limitTransfers } from '../src/routes/api/leads/transfers.ts';

const soon = { timeout: 20_000 };

const createApp = () =>
  createServer({ log: createLogger({ service: 'crm', level: 'silent' }), trustProxy: '' });

test('only so many at once, and a place that is given back twice is free once', () => {
  const transfers = limitTransfers(createApp(), 2);
  const end = transfers.begin();
  transfers.begin();
  const isFull = () => {
    try {
      transfers.begin();
      return false;
    } catch (error) {
      return error instanceof LeadsError && error.code === 'unavailable';
    }
  };
  expect(isFull()).toBe(true);
  end();
  end();
  expect([isFull(), isFull()]).toEqual([false, true]);
});

test('others go first, but not for ever; a transfer does not wait for itself', async () => {
  const app = createApp();
  const transfers = limitTransfers(app, 1);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waited = async () => {
    const start = performance.now();
    await transfers.giveWay();
    return performance.now() - start;
  };
  const during: number[] = [];
  app.get('/transfer', async (_request, reply) => {
    reply.raw.once('close', transfers.begin());
    during.push(await waited());
    return {};
  });
  app.get('/other', async () => {
    await held;
    return {};
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = app.listeningOrigin;
  for (let i = 0; i < 5; i++) await fetch(`${url}/transfer`);
  const other = fetch(`${url}/other`);
  // Once its answer is on the way, the server has taken both.
  await fetch(`${url}/transfer`);
  await expect.poll(waited, soon).toBeGreaterThan(40);
  release();
  await other;
  await expect.poll(waited, soon).toBeLessThan(40);
  // The machine may hold up any one of them.
  expect(Math.min(...during)).toBeLessThan(40);
  await app.close();
});
