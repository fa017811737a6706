import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { LeadsError } from '@leads/core/errors';
import { createServer } from '@leads/http/server/create-server';
import { createLogger } from '@leads/http/service/log';
import { afterAll, expect, test } from 'vitest';
import { createTransferLimits } from '../src/transfer-limits.ts';
import { startCrm } from './crm.ts';
import { fillWorkspace } from './leads-api.ts';
import { signInAs } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner: neighbor } = await fixture.createWorkspace();
const { visitor, member } = await signInAs(service, workspace, 'owner');
const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
const sessionHeaders = { Cookie: cookie, Origin: `http://127.0.0.1:${service.port}` };

/** Sends a request without reading the answer. Keeps the body open if `lines` is given. */
function open(path: string, headers: Readonly<Record<string, string>>, lines?: string) {
  const outgoing = request({
    host: '127.0.0.1',
    port: service.port,
    path,
    headers,
    method: lines === undefined ? 'GET' : 'POST',
  });
  outgoing.on('error', () => undefined);
  if (lines === undefined) outgoing.end();
  else outgoing.write(lines);
  const answered = once(outgoing, 'response').then(([answer]) => {
    (answer as IncomingMessage).on('error', () => undefined);
    return answer as IncomingMessage;
  });
  answered.catch(() => undefined);
  return { outgoing, answered };
}

test('a workspace gets 4 of 8 exports over all export routes, the rest are answered with 429, and its neighbor gets an export', async () => {
  await fillWorkspace(fixture, workspace, 8000, 'x'.repeat(5000));
  const list = '/order/leads';
  const exports = [
    ...[1, 2, 3, 4].map(() => open(`/api/v1${list}`, { ...member.headers, Accept: 'text/csv' })),
    ...[1, 2, 3].map(() => open(`/api/console${list}`, { ...sessionHeaders, Accept: 'text/csv' })),
    ...[1, 2, 3].map(() => open(`/api/console${list}.csv`, sessionHeaders)),
    ...[1, 2, 3].map(() => open(`/api/console${list}.ndjson`, sessionHeaders)),
  ];
  const answers = await Promise.all(exports.map(({ answered }) => answered));
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
  expect(statuses.filter((status) => status === 429)).toHaveLength(9);
  const ofNeighbor = open(`/api/v1${list}`, { ...neighbor.headers, Accept: 'text/csv' });
  expect((await ofNeighbor.answered).statusCode).toBe(200);
  for (const { outgoing } of [...exports, ofNeighbor]) outgoing.destroy();
});

test('a workspace gets 4 of 8 imports over all import routes, the rest are answered with 429, and its neighbor gets an import', async () => {
  const csv = { 'Content-Type': 'text/csv' };
  const imports = [1, 2, 3, 4].flatMap(() => [
    open('/api/v1/order/leads/import', { ...member.headers, ...csv }, 'campaignCode,name,phone\n'),
    open('/api/console/order/leads/import', { ...sessionHeaders, ...csv }, 'campaignCode,name,phone\n'),
  ]);
  const statuses: (number | undefined)[] = [];
  const all = imports.map(({ answered }) => answered.then(({ statusCode }) => statuses.push(statusCode)));
  // The admitted imports wait for the rest of their files, so only the rejected ones are answered.
  await expect.poll(() => statuses).toEqual([429, 429, 429, 429]);
  const ofNeighbor = open(
    '/api/v1/order/leads/import',
    { ...neighbor.headers, ...csv },
    'campaignCode,name,phone\n',
  );
  ofNeighbor.outgoing.end();
  expect((await ofNeighbor.answered).statusCode).toBe(200);
  for (const { outgoing } of imports) outgoing.end();
  await Promise.all(all);
  expect(statuses.slice(4)).toEqual([200, 200, 200, 200]);
});

const createApp = () =>
  createServer({ log: createLogger({ service: 'crm', level: 'silent' }), trustProxy: '' });

test('exports and imports have separate shares', () => {
  const transfers = createTransferLimits({ export: 2, import: 2 });
  transfers.begin('export', 'a');
  expect(() => transfers.begin('export', 'a')).toThrow(LeadsError);
  transfers.begin('import', 'a');
});

test('a transfer gives way to other requests for a bounded time, and never to itself', async () => {
  const app = createApp();
  const transfers = createTransferLimits();
  transfers.watch(app);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waited = async () => {
    const start = performance.now();
    await transfers.yieldToRequests();
    return performance.now() - start;
  };
  const during: number[] = [];
  app.get('/transfer', async (_request, reply) => {
    reply.raw.once('close', transfers.begin('export', 'a'));
    during.push(await waited());
    return {};
  });
  app.get('/other', async () => {
    await held;
    return {};
  });
  app.get('/stream', { config: { isEndless: true } }, async () => {
    await held;
    return {};
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = app.listeningOrigin;
  const stream = fetch(`${url}/stream`);
  for (let i = 0; i < 5; i++) await fetch(`${url}/transfer`);
  const other = fetch(`${url}/other`);
  // When this request is answered, the server has accepted both of the earlier ones.
  await fetch(`${url}/transfer`);
  await expect.poll(waited).toBeGreaterThan(40);
  release();
  await Promise.all([other, stream]);
  await expect.poll(waited).toBeLessThan(40);
  // A busy machine can delay single requests, so the minimum counts.
  expect(Math.min(...during)).toBeLessThan(40);
  await app.close();
});
