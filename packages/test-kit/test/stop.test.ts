import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, type ServiceName, startService } from '@leads/test-kit/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpClient } from '../src/http-client.ts';
import { createPath, leadBody, prepareEnvironment, type TestEnvironment } from '../src/running-stack.ts';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await prepareEnvironment();
});
afterAll(() => environment[Symbol.asyncDispose]());

const portOf = (service: Service) => Number(new URL(service.url).port);
const signal = (service: Service, name: NodeJS.Signals) => process.kill(service.pid, name);

function startWith(name: ServiceName, shutdownDelayMs: number) {
  return startService(name, {
    env: { ...environment.env, SHUTDOWN_DELAY_MS: String(shutdownDelayMs) },
  });
}

const create = (client: HttpClient, service: ServiceName, fields: Record<string, unknown> = {}) =>
  client.send({
    method: 'POST',
    path: createPath[service],
    headers: environment.workspace.owner.headers,
    body: leadBody(service, fields),
  });

/** The result of a request on a connection of its own. */
interface Exchange {
  readonly lead: string;
  readonly code: string | undefined;
  readonly bytes: string;
}

/** Sends a lead on a new connection and keeps every byte of the response. */
function exchange(port: number, service: ServiceName, lead: string): Promise<Exchange> {
  const body = JSON.stringify(leadBody(service, { name: lead }));
  const { API_KEY, Authorization } = environment.workspace.owner.headers;
  return new Promise((resolve) => {
    let bytes = '';
    let code: string | undefined;
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('utf8').on('data', (text: string) => {
      bytes += text;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code;
    });
    socket.on('close', () => resolve({ lead, code, bytes }));
    socket.write(
      `POST ${createPath[service]} HTTP/1.1\r\nHost: x\r\nAPI_KEY: ${API_KEY}\r\nAuthorization: ${Authorization}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
}

/** Opens and closes a connection. @returns the error of a connection that is rejected. */
function connectionError(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
  });
}

/** Returns the status of a complete response; undefined if it is truncated or missing. */
function completeStatus({ bytes }: Exchange): number | undefined {
  const [head = '', body] = bytes.split('\r\n\r\n', 2);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (body === undefined || Number(length) !== Buffer.byteLength(body)) return undefined;
  JSON.parse(body);
  return Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
}

async function storedNames(like: string): Promise<Set<string>> {
  const rows = await environment.fixture.sql<{ name: string }>('SELECT name FROM lead WHERE name LIKE $1', [
    like,
  ]);
  return new Set(rows.map(({ name }) => name));
}

/** Locks a table, so statements that write to it wait. */
async function holdTable(table: 'lead' | 'landing_page') {
  return {
    /** Settles when a statement of a service waits for the table. */
    async waitForBlocked(service: ServiceName) {
      await expect
        .poll(async () => {
          const [row] = await environment.fixture.sql<{ waiting: number }>(
            `SELECT count(*)::int AS waiting FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'`,
            [`leads-${service}`],
          );
          return row?.waiting;
        })
        .toBeGreaterThan(0);
    },
    release: await environment.fixture.holdTable(table),
  };
}

async function isRunning(service: Service): Promise<boolean> {
  return Promise.race([service.exited.then(() => false), sleep(0, true)]);
}

// Each service gets both signals: one under load, and the other during a slow request.
describe.each([
  { name: 'crm', underLoad: 'SIGTERM', whileSlow: 'SIGINT' },
  { name: 'intake', underLoad: 'SIGINT', whileSlow: 'SIGTERM' },
] as const)('$name', ({ name, underLoad, whileSlow }) => {
  test(`on ${underLoad} under load completes the response of every accepted request and exits with code 0`, async () => {
    const service = await startWith(name, 700);
    const prefix = `${name} ${underLoad} `;
    let sending = true;
    let sent = 0;
    const exchanges: Exchange[] = [];
    const send = async () => {
      while (sending) exchanges.push(await exchange(portOf(service), name, `${prefix}${(sent += 1)}`));
    };
    const senders = Array.from({ length: 16 }, send);

    // Also a client with persistent connections, as most clients have.
    const client = new HttpClient(portOf(service));
    let persistentCount = 0;
    let persistentError: string | undefined;
    const persistentAnswers: [number, string | undefined][] = [];
    const sendOnPersistent = async () => {
      while (sending) {
        try {
          const answer = await create(client, name, { name: `${prefix}kept ${(persistentCount += 1)}` });
          persistentAnswers.push([answer.status, answer.headers.connection]);
        } catch (error) {
          persistentError = (error as NodeJS.ErrnoException).code;
          return;
        }
      }
    };
    const persistentSenders = Array.from({ length: 8 }, sendOnPersistent);

    await expect.poll(() => exchanges.length).toBeGreaterThan(50);
    const before = exchanges.length;
    const startedAt = performance.now();
    signal(service, underLoad);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    const durationMs = performance.now() - startedAt;
    sending = false;
    await Promise.all([...senders, ...persistentSenders]);
    client.close();

    expect(durationMs).toBeGreaterThan(690);
    expect(durationMs).toBeLessThan(30_000);
    const stored = await storedNames(`${prefix}%`);
    const answered = exchanges.filter((each) => completeStatus(each) === 200);
    expect(answered.filter(({ lead }) => !stored.has(lead))).toEqual([]);
    // The service accepted requests after the signal.
    expect(answered.length).toBeGreaterThan(before);

    // A request without a response was not processed: no byte arrived, and no lead was stored.
    const unanswered = exchanges.filter((each) => completeStatus(each) !== 200);
    for (const { lead, code, bytes } of unanswered) {
      expect({ bytes, stored: stored.has(lead) }).toEqual({ bytes: '', stored: false });
      expect(code).toMatch(/^(ECONNREFUSED|ECONNRESET)$/);
    }
    // Only connections in the backlog when the listener closed are reset.
    expect(unanswered.filter(({ code }) => code === 'ECONNRESET').length).toBeLessThanOrEqual(16);

    expect(persistentError).toMatch(/^(ECONNREFUSED|ECONNRESET)$/);
    expect(persistentAnswers.every(([status]) => status === 200)).toBe(true);
    expect(persistentAnswers.at(0)).toEqual([200, 'keep-alive']);
    expect(persistentAnswers.at(-1)).toEqual([200, 'close']);
  });

  test('is not ready after a stop signal but accepts requests, then rejects new connections and closes open ones after their next response', async () => {
    const service = await startWith(name, 15_000);
    const [client, idle] = [new HttpClient(portOf(service)), new HttpClient(portOf(service))];
    const ready = async () => (await client.send({ path: '/health/ready' })).status;
    try {
      await expect.poll(ready).toBe(200);
      expect((await create(idle, name)).status).toBe(200);
      signal(service, 'SIGTERM');
      const signalledAt = performance.now();
      await expect.poll(ready, { interval: 10 }).toBe(503);
      while (performance.now() - signalledAt < 2_000) {
        const answer = await create(client, name, { name: `${name} drains` });
        expect([answer.status, answer.headers.connection]).toEqual([200, 'keep-alive']);
        expect(await ready()).toBe(503);
        expect((await client.send({ path: '/health/live' })).status).toBe(200);
        await sleep(50);
      }
      await expect.poll(() => connectionError(portOf(service)), { interval: 50 }).toBe('ECONNREFUSED');
      for (const each of [client, idle]) {
        const answer = await create(each, name, { name: `${name} leaves` });
        expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
      }
      expect(await service.exited).toEqual({ code: 0, signal: null });
    } finally {
      client.close();
      idle.close();
      await service.kill();
    }
  });

  test('ends at once on a second stop signal', async () => {
    const service = await startWith(name, 20_000);
    try {
      signal(service, 'SIGTERM');
      await expect.poll(() => service.output()).toContain('Stopping');
      signal(service, 'SIGTERM');
      expect(await service.exited).toEqual({ code: 1, signal: null });
      expect(service.output()).not.toContain('Stopped');
    } finally {
      await service.kill();
    }
  });

  test('ends with code 0 although clients keep connections open on which they send no whole request', async () => {
    const service = await startWith(name, 0);
    const parts = ['', 'GET / HTTP/1.1\r\n', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'];
    const sockets = parts.map((part) => {
      const socket = connect({ port: portOf(service), host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      socket.write(part);
      return socket;
    });
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      signal(service, 'SIGTERM');
      expect(await service.exited).toEqual({ code: 0, signal: null });
      expect(service.output()).toContain('Stopped');
    } finally {
      for (const socket of sockets) socket.destroy();
      await service.kill();
    }
  });

  test(`completes a slow request on ${whileSlow} before it ends`, async () => {
    const service = await startWith(name, 0);
    const client = new HttpClient(portOf(service));
    const lead = `${name} is slow`;
    const table = await holdTable('lead');
    try {
      const answers = Promise.all(Array.from({ length: 5 }, () => create(client, name, { name: lead })));
      answers.catch(() => undefined);
      // The services store the five leads in one or two batches.
      await table.waitForBlocked(name);
      signal(service, whileSlow);
      // The service rejects new connections in the meantime.
      await expect.poll(() => connectionError(portOf(service)), { interval: 50 }).toBe('ECONNREFUSED');
      await sleep(1_000);
      expect(await isRunning(service)).toBe(true);
      await table.release();
      expect((await answers).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(await service.exited).toEqual({ code: 0, signal: null });
    } finally {
      await table.release();
      client.close();
      await service.kill();
    }
    const rows = await environment.fixture.sql('SELECT id FROM lead WHERE name = $1', [lead]);
    expect(rows).toHaveLength(5);
  });
});

/** Requests a response that is larger than the buffers of both ends of the connection, and does not read it. */
async function pausedRead(service: Service, path: string, accept: string): Promise<Socket> {
  const client = new HttpClient(portOf(service));
  const fields = { description: 'x'.repeat(60_000) };
  for (let n = 0; n < 25; n++) {
    await Promise.all(Array.from({ length: 10 }, () => create(client, 'crm', fields)));
  }
  client.close();
  const { API_KEY, Authorization } = environment.workspace.owner.headers;
  const reader = connect(portOf(service), '127.0.0.1');
  reader.on('error', () => undefined);
  reader.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAPI_KEY: ${API_KEY}\r\nAuthorization: ${Authorization}\r\n` +
      `Accept: ${accept}\r\n\r\n`,
  );
  await once(reader, 'data');
  reader.pause();
  // The response then waits for the client.
  await sleep(2_000);
  return reader;
}

test('the CRM ends with code 0 although a client does not read its export', async () => {
  const service = await startWith('crm', 0);
  try {
    const reader = await pausedRead(service, createPath.crm, 'text/csv');
    signal(service, 'SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.output()).toContain('Stopped');
    reader.destroy();
  } finally {
    await service.kill();
  }
});

test('the CRM closes the connection of an event stream that is read while it stops, although the client keeps it open', async () => {
  const service = await startWith('crm', 0);
  // The service closes a connection without a request after the request timeout.
  const silent = connect(portOf(service), '127.0.0.1').resume();
  try {
    const reader = await pausedRead(service, '/api/v1/events?since=2026-01-01', 'text/event-stream');
    const closedFirst = Promise.race([
      once(silent, 'close').then(() => 'silent'),
      once(reader, 'close').then(() => 'reader'),
    ]);
    signal(service, 'SIGTERM');
    await expect.poll(() => connectionError(portOf(service)), { interval: 50 }).toBe('ECONNREFUSED');
    // The server then closes its idle connections.
    await sleep(1_000);
    reader.resume();
    expect(await closedFirst).toBe('reader');
    silent.destroy();
    expect(await service.exited).toEqual({ code: 0, signal: null });
  } finally {
    silent.destroy();
    await service.kill();
  }
});

describe('unregistered landing pages', () => {
  test('are stored before the intake ends', async () => {
    const service = await startWith('intake', 0);
    const client = new HttpClient(portOf(service));
    const pages = Array.from({ length: 30 }, (_, i) => `page-${i}`);
    const table = await holdTable('landing_page');
    try {
      const answers = await Promise.all(pages.map((lp_name) => create(client, 'intake', { lp_name })));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      // The leads are acknowledged. One batch of landing pages waits for the table, and the others wait for
      // that batch.
      await table.waitForBlocked('intake');
      signal(service, 'SIGTERM');
      await sleep(700);
      expect(await isRunning(service)).toBe(true);
      await table.release();
      expect(await service.exited).toEqual({ code: 0, signal: null });
    } finally {
      await table.release();
      client.close();
      await service.kill();
    }
    const rows = await environment.fixture.sql<{ name: string }>(
      'SELECT name FROM landing_page WHERE workspace_id = $1',
      [environment.workspace.id],
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(pages.toSorted());
  });
});
