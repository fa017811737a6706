import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { LeadsError } from '@leads/core/errors';
import { createServer } from '@leads/http/server/create-server';
import { createLogger } from '@leads/http/service/log';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTransferLimits, type TransferLimits } from '../src/transfer-limits.ts';
import { startCrm } from './crm.ts';
import { disconnectWhile } from './disconnect.ts';
import { fillWorkspace } from './leads-api.ts';
import { queueLoad } from './queue-load.ts';
import { signInAs, type Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();
const { owner: neighbor } = await fixture.createWorkspace();
const { visitor, member } = await signInAs(service, workspace, 'owner');
// Clients that do not read keep these exports open.
await fillWorkspace(fixture, workspace, 8000, 'x'.repeat(5000));
const paymentPath = `/payments/${await addPayment()}`;
const sessionHeaders = sessionHeadersOf(visitor);

/** Returns the headers of a request with the session of a visitor. */
function sessionHeadersOf({ cookies }: Visitor) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return { Cookie: cookie, Origin: `http://127.0.0.1:${service.port}` };
}

/** Stores a payment of the workspace with one lead. Returns its id. */
async function addPayment(): Promise<string> {
  const id = randomUUID();
  await fixture.sql(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, state)
     VALUES ($1, $2, 1, $3, $3, '2026-01-01', '2026-02-01', 'EUR', '2026-02-01', 'paid')`,
    [id, workspace.id, member.userId],
  );
  await fixture.sql(
    `INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount, state)
     SELECT $1, id, workspace_id, 1, 'skipped' FROM lead WHERE workspace_id = $2 LIMIT 1`,
    [id, workspace.id],
  );
  return id;
}

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

test('exports of the audit log and of payments share the slots of the exports of leads', async () => {
  const asCsv = { ...member.headers, Accept: 'text/csv' };
  const statusOf = async (path: string, headers: Readonly<Record<string, string>>) =>
    (await service.send({ path, headers })).status;
  const others = () =>
    Promise.all([
      statusOf('/api/v1/audit', asCsv),
      statusOf('/api/console/audit.csv', sessionHeaders),
      statusOf(`/api/v1${paymentPath}`, asCsv),
      statusOf(`/api/console${paymentPath}`, { ...sessionHeaders, Accept: 'text/csv' }),
    ]);
  // Exports of the test before may not have ended yet.
  await expect.poll(others).toEqual([200, 200, 200, 200]);
  const exports = [1, 2, 3, 4].map(() => open('/api/v1/order/leads', asCsv));
  const answers = await Promise.all(exports.map(({ answered }) => answered));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  expect(await others()).toEqual([429, 429, 429, 429]);
  for (const { outgoing } of exports) outgoing.destroy();
});

test('exports of the audit log and of payments read one page of a workspace at a time', async () => {
  const statusOf = async (path: string) =>
    (await service.send({ path: `/api/v1${path}`, headers: { ...member.headers, Accept: 'text/csv' } }))
      .status;
  const reads = () => queueLoad(service, 'costly_reads');
  // Exports of the test before may not have ended yet.
  await expect.poll(reads).toEqual([0, 0]);
  const release = await fixture.holdTable('payment_lead', 'ACCESS EXCLUSIVE');
  onTestFinished(release);
  const first = statusOf(paymentPath);
  await expect.poll(() => fixture.countBlocked('%FROM payment_lead%')).toBe(1);
  const others = [statusOf(paymentPath), statusOf('/audit')];
  await expect.poll(reads).toEqual([1, 2]);
  await release();
  expect(await Promise.all([first, ...others])).toEqual([200, 200, 200]);
});

/** Requests an export for each member, and closes them when all are answered. Returns the statuses. */
async function exportAtOnce(members: readonly TestMember[]): Promise<(number | undefined)[]> {
  const exports = members.map(({ headers }) =>
    open('/api/v1/order/leads', { ...headers, Accept: 'text/csv' }),
  );
  const answers = await Promise.all(exports.map(({ answered }) => answered));
  for (const { outgoing } of exports) outgoing.destroy();
  return answers.map(({ statusCode }) => statusCode);
}

test('an export whose client disconnects during the authentication counts toward no limit', async () => {
  const members = await Promise.all([1, 2, 3, 4].map(() => workspace.addMember('manager')));
  // The keys are not cached, so each authentication waits for the table.
  const release = await fixture.holdTable('api_key', 'ACCESS EXCLUSIVE');
  onTestFinished(release);
  await disconnectWhile(
    service,
    members.map(({ headers }) => ({
      path: '/api/v1/order/leads',
      headers: { ...headers, Accept: 'text/csv' },
    })),
    async () => (await fixture.countBlocked('SELECT%api_key%')) === 4,
  );
  await release();
  // The same members send these requests, so the service authenticates the former ones first. Exports of the test before
  // may not have ended yet.
  await expect.poll(() => exportAtOnce(members)).toEqual([200, 200, 200, 200]);
});

test('a pipelined export whose client disconnects before its turn counts toward no limit', async () => {
  const { API_KEY: apiKey, Authorization: authorization } = member.headers;
  const text = `GET /api/v1/order/leads HTTP/1.1\r\nHost: leads.example\r\nAccept: text/csv\r\nAPI_KEY: ${apiKey}\r\nAuthorization: ${authorization}\r\n\r\n`;
  const statusOfExport = async () => (await exportAtOnce([member]))[0];
  await expect.poll(statusOfExport).toBe(200);
  const sockets: Socket[] = [];
  // The export of this test can take a slot before a pipelined one, so another connection sends them again.
  const requestAndProbe = () => {
    const socket = connect(service.port, '127.0.0.1').pause();
    sockets.push(socket);
    socket.write(text.repeat(4));
    return statusOfExport();
  };
  await expect.poll(requestAndProbe).toBe(429);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => exportAtOnce([member, member, member, member])).toEqual([200, 200, 200, 200]);
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

/** Adds 4 members whose transfers lose their permission by the returned function: 2 by API keys, and 2 by sessions. */
async function addLeavers() {
  const managers = await Promise.all([1, 2].map(() => workspace.addMember('manager')));
  const visitors = [
    await signInAs(service, workspace, 'manager'),
    await signInAs(service, workspace, 'manager'),
  ];
  const [revoked, demoted] = managers as [TestMember, TestMember];
  const [removed, demotedVisitor] = visitors.map(({ member: { userId } }) => userId);
  return {
    callers: [
      ...managers.map((manager) => ({ base: '/api/v1', headers: manager.headers })),
      ...visitors.map((each) => ({ base: '/api/console', headers: sessionHeadersOf(each.visitor) })),
    ],
    leave: async () => {
      await fixture.credentials.revokeApiKey(workspace.id, revoked.apiKeyId, new Date());
      await fixture.sql(`UPDATE member SET role = 'publisher' WHERE user_id = ANY($1)`, [
        [demoted.userId, demotedVisitor],
      ]);
      await fixture.sql('DELETE FROM member WHERE user_id = $1', [removed]);
    },
  };
}

/** Sends an empty import of the owner. It is answered with 429 while 4 others of the workspace are in progress. */
async function statusOfImport(): Promise<number> {
  const headers = { ...member.headers, 'Content-Type': 'text/csv' };
  const path = '/api/v1/order/leads/import';
  return (await service.send({ method: 'POST', path, headers, body: 'campaignCode,name,phone\n' })).status;
}

/** Opens an import of each caller, and returns when the 4 are in progress. */
async function openImports(
  { callers }: Pick<Awaited<ReturnType<typeof addLeavers>>, 'callers'>,
  path: string,
) {
  const openImport = ({ base, headers }: (typeof callers)[number]) => {
    const lines = 'campaignCode,name,phone,status\nDEMO,Ada,+1 202 555 0143,Approved\n';
    const opened = open(base + path, { ...headers, 'Content-Type': 'text/csv' }, lines);
    const state = { ...opened, isAnswered: false };
    void opened.answered.then(() => (state.isAnswered = true));
    return state;
  };
  const imports = callers.map(openImport);
  await expect
    .poll(async () => {
      // The import of the owner can take the slot of one of these, which is then rejected.
      const rejected = imports.findIndex(({ isAnswered }) => isAnswered);
      if (rejected === -1) return statusOfImport();
      imports[rejected] = openImport(callers[rejected] as (typeof callers)[number]);
      return undefined;
    })
    .toBe(429);
  return imports;
}

test.each(['/order/leads/import', '/order/leads/status/import'])(
  'an import at %s whose key is revoked is answered with 401, and with 403 if its member was removed or has another role',
  async (path) => {
    const leavers = await addLeavers();
    const before = await fixture.sql('SELECT FROM lead WHERE workspace_id = $1', [workspace.id]);
    const imports = await openImports(leavers, path);
    await leavers.leave();
    const answers = await Promise.all(imports.map(({ answered }) => answered));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 403, 403, 403]);
    for (const { outgoing } of imports) outgoing.destroy();
    const after = await fixture.sql('SELECT FROM lead WHERE workspace_id = $1', [workspace.id]);
    expect(after).toHaveLength(before.length);
  },
);

test('an export whose key is revoked, and one whose member was removed or has another role, is aborted', async () => {
  const { callers, leave } = await addLeavers();
  const exports = callers.map(({ base, headers }) =>
    open(`${base}/order/leads`, { ...headers, Accept: 'text/csv' }),
  );
  const answers = await Promise.all(exports.map(({ answered }) => answered));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  await leave();
  const aborted = () =>
    service.logs.entries().filter(({ msg }) => msg === 'Export aborted: its credentials are no longer valid');
  await expect.poll(() => aborted().length).toBe(4);
  const areComplete = await Promise.all(
    answers.map(async (answer) => {
      await new Promise((resolve) => answer.resume().once('close', resolve));
      return answer.complete;
    }),
  );
  expect(areComplete).toEqual([false, false, false, false]);
});

test('the imports and exports of a session continue after a check of the session that failed by a database error', async () => {
  const caller = { base: '/api/console', headers: sessionHeaders };
  const imports = await openImports({ callers: [caller, caller, caller, caller] }, '/order/leads/import');
  const exported = open('/api/console/order/leads', { ...sessionHeaders, Accept: 'text/csv' });
  const answer = await exported.answered;
  const failures = () =>
    service.logs.entries().filter(({ msg }) => msg === 'Credentials were not verified; retrying').length;
  // The database works, so the error is none of an outage.
  await fixture.sql('ALTER TABLE session RENAME TO renamed_session');
  try {
    await expect.poll(failures).toBeGreaterThanOrEqual(5);
  } finally {
    await fixture.sql('ALTER TABLE renamed_session RENAME TO session');
  }
  for (const { outgoing } of imports) outgoing.end();
  const answers = await Promise.all(imports.map(({ answered }) => answered));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  await new Promise((resolve) => answer.resume().once('close', resolve));
  expect(answer.complete).toBe(true);
});

const createApp = () =>
  createServer({ log: createLogger({ service: 'crm', level: 'silent' }), trustProxy: '' });

/** Returns how long a transfer gives way to other requests, in milliseconds. */
async function waitMs(transfers: TransferLimits): Promise<number> {
  const start = performance.now();
  await transfers.yieldToRequests();
  return performance.now() - start;
}

test('exports and imports have separate shares', () => {
  const user = { workspaceId: 'a', userId: 'ada', role: 'owner' } as const;
  const transfers = createTransferLimits({ export: 2, import: 2 });
  transfers.begin('export', user);
  expect(() => transfers.begin('export', user)).toThrow(LeadsError);
  transfers.begin('import', user);
});

test('a transfer gives way to other requests for a bounded time, and never to itself', async () => {
  const app = createApp();
  const transfers = createTransferLimits();
  transfers.watch(app);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const during: number[] = [];
  app.get('/transfer', async (_request, reply) => {
    reply.raw.once('close', transfers.begin('export', { workspaceId: 'a', userId: 'ada', role: 'owner' }));
    during.push(await waitMs(transfers));
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
  await expect.poll(() => waitMs(transfers)).toBeGreaterThan(40);
  release();
  await Promise.all([other, stream]);
  await expect.poll(() => waitMs(transfers)).toBeLessThan(40);
  // A busy machine can delay single requests, so the minimum counts.
  expect(Math.min(...during)).toBeLessThan(40);
  await app.close();
});

test('a transfer does not wait for pipelined requests whose client has disconnected', async () => {
  const app = createApp();
  const transfers = createTransferLimits();
  transfers.watch(app);
  let arrived = 0;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  app.get('/held', async () => {
    arrived += 1;
    await held;
    return {};
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1');
  socket.write('GET /held HTTP/1.1\r\nHost: leads.example\r\n\r\n'.repeat(20));
  await expect.poll(() => arrived).toBe(20);
  socket.destroy();
  await expect.poll(() => waitMs(transfers)).toBeLessThan(40);
  release();
  await app.close();
});

test('the connection of a client that reads nothing of a response is closed', async () => {
  const app = createApp();
  const bytes = 64 * 1024 * 1024;
  let isClosed = false;
  app.get('/large', { config: { idleMs: 200 } }, async (_request, { raw }) => {
    raw.once('close', () => {
      isClosed = true;
    });
    return 'x'.repeat(bytes);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1').pause();
  socket.on('error', () => undefined).write('GET /large HTTP/1.1\r\nHost: leads.example\r\n\r\n');
  await expect.poll(() => isClosed).toBe(true);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
  expect(socket.bytesRead).toBeLessThan(bytes);
  await app.close();
});
