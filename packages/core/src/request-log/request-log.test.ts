import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeadsError } from '../errors.ts';
import { type AnsweredRequest, maxKeys, maxListed, RequestLog } from './request-log.ts';
import type { RequestBatch } from './request-log-store.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

const route = '/api/v1/leads';
const key = { workspaceId: 'w', apiKeyId: 'k' };
const answered: AnsweredRequest = { method: 'POST', route, status: 200, code: undefined, durationMs: 3 };
const refused = { ...answered, status: 400, code: 'invalid_input' };

function open() {
  const state = {
    written: [] as RequestBatch[],
    errors: [] as unknown[],
    failure: undefined as Error | undefined,
  };
  const append = async (batch: RequestBatch) => {
    if (state.failure !== undefined) throw state.failure;
    state.written.push(batch);
  };
  const log = new RequestLog('intake', { append }, (error) => state.errors.push(error));
  return Object.assign(state, { log, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() });
}
const noteMany = (log: RequestLog, count: number, request = answered, of = key) => {
  for (let i = 0; i < count; i++) log.note(of, request);
};
const next = () => vi.advanceTimersByTimeAsync(5_000);

test('writes the requests of 5 s together, lists a bounded number of a key and counts the rest', async () => {
  vi.setSystemTime('2026-01-31T23:59:50Z');
  await using opened = open();
  const { log, written } = opened;
  noteMany(log, maxListed.perKey + 7);
  // As many failures are listed, although the successes have used up their part.
  noteMany(log, 2, refused);
  log.note(key, { ...answered, status: 503, code: 'unavailable' });
  log.note({ workspaceId: 'w' }, answered);
  expect(written).toEqual([]);
  await next();
  const success = maxListed.perKey + 7;
  expect(written.map(({ counts }) => counts)).toEqual([
    [{ apiKeyId: 'k', day: '2026-01-31', success, clientErrors: 2, serverErrors: 1, unlisted: 7 }],
  ]);
  expect(written[0]?.requests.map(({ status }) => status)).toEqual([
    ...Array.from({ length: maxListed.perKey }, () => 200),
    400,
    400,
    503,
  ]);
  expect(written[0]?.requests[0]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: new Date('2026-01-31T23:59:50Z'),
    apiKeyId: 'k',
    service: 'intake',
    ...answered,
  });
  // Without a request, nothing is written. The quota of a key is that of 5 s.
  await next();
  expect(written).toHaveLength(1);
  noteMany(log, maxListed.perKey);
  await next();
  expect(written[1]?.requests).toHaveLength(maxListed.perKey);
  expect(written[1]?.counts).toMatchObject([{ day: '2026-02-01', unlisted: 0 }]);
  expect(log.totals).toEqual({ listed: 2 * maxListed.perKey + 3, counted: 7, lost: 0 });
});

test('bounds the memory, and the part of it that one workspace can use', async () => {
  await using opened = open();
  const { log, written } = opened;
  for (let i = 0; i < 100; i++) noteMany(log, 100, refused, { workspaceId: 'attacker', apiKeyId: `a${i}` });
  log.note(key, answered);
  for (let i = 0; i < maxKeys; i++) log.note({ workspaceId: `w${i}`, apiKeyId: `b${i}` }, answered);
  await next();
  const [{ requests, counts } = { requests: [], counts: [] }] = written;
  expect(requests).toHaveLength(maxListed.total);
  expect(requests.filter(({ apiKeyId }) => apiKeyId.startsWith('a'))).toHaveLength(maxListed.perWorkspace);
  expect(requests.find(({ apiKeyId }) => apiKeyId === 'k')).toBeDefined();
  expect(counts).toHaveLength(maxKeys);
  expect(log.totals.lost).toBe(101);
});

test('keeps a bounded number of requests and their counts in an outage, and writes them after it', async () => {
  vi.setSystemTime('2026-01-31T23:59:50Z');
  await using opened = open();
  const { log, written, errors } = opened;
  opened.failure = new LeadsError('unavailable');
  for (let i = 0; i < 30; i++) {
    noteMany(log, 2 * maxListed.perKey);
    await next();
  }
  expect(errors).toHaveLength(1);
  log.note({ workspaceId: 'v', apiKeyId: 'other' }, answered);
  opened.failure = undefined;
  await next();
  expect(written).toHaveLength(1);
  const ofKey = written[0]?.requests.filter(({ apiKeyId }) => apiKeyId === 'k');
  expect(ofKey).toHaveLength(maxListed.perWorkspace);
  expect(written[0]?.requests.some(({ apiKeyId }) => apiKeyId === 'other')).toBe(true);
  expect(
    written[0]?.counts.map(({ apiKeyId, day, success, unlisted }) => [apiKeyId, day, success, unlisted]),
  ).toEqual([
    ['k', '2026-01-31', 100, 50],
    ['k', '2026-02-01', 2_900, 2_450],
    ['other', '2026-02-01', 1, 0],
  ]);
});

test('drops requests that the database rejects, so that they do not block later ones, and writes the last at disposal', async () => {
  const opened = open();
  const { log, written } = opened;
  opened.failure = new Error('rejected');
  noteMany(log, 3);
  await next();
  expect(log.totals.lost).toBe(3);
  opened.failure = undefined;
  log.note(key, refused);
  await opened[Symbol.asyncDispose]();
  expect(written.map(({ requests }) => requests.map(({ code }) => code))).toEqual([['invalid_input']]);
});
