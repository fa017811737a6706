import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, type ServiceName, startService } from '@leads/local-stack/processes/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpClient } from '../src/http-client.ts';
import { createPath, type Ground, leadBody, prepareGround, serviceNames } from '../src/running-stack.ts';

let ground: Ground;
beforeAll(async () => {
  ground = await prepareGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

const portOf = (service: Service) => Number(new URL(service.url).port);
const signal = (service: Service, name: NodeJS.Signals) => process.kill(service.pid, name);

function startWith(name: ServiceName, shutdownDelayMs: number) {
  return startService(name, {
    env: {
      ...ground.env,
      SHUTDOWN_DELAY_MS: String(shutdownDelayMs),
      // A machine that is slow is no outage.
      DATABASE_CONNECT_TIMEOUT_MS: '15000',
      DATABASE_STATEMENT_TIMEOUT_MS: '15000',
    },
  });
}

const create = (client: HttpClient, service: ServiceName, fields: Record<string, unknown> = {}) =>
  client.send({
    method: 'POST',
    path: createPath[service],
    headers: ground.workspace.owner.headers,
    body: leadBody(service, fields),
  });

/** How an exchange on a connection of its own ended. */
interface Exchange {
  readonly lead: string;
  readonly code: string | undefined;
  readonly bytes: string;
}

/** Sends a lead on a connection of its own and keeps every byte of the answer. */
function exchange(port: number, service: ServiceName, lead: string): Promise<Exchange> {
  const body = JSON.stringify(leadBody(service, { name: lead }));
  const { API_KEY, Authorization } = ground.workspace.owner.headers;
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

/** The status of an answer that is there to its last byte; undefined for half an answer or none. */
function completeStatus({ bytes }: Exchange): number | undefined {
  const [head = '', body] = bytes.split('\r\n\r\n', 2);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  if (body === undefined || Number(length) !== Buffer.byteLength(body)) return undefined;
  JSON.parse(body);
  return Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
}

async function storedNames(like: string): Promise<Set<string>> {
  const rows = await ground.fixture.sql<{ name: string }>('SELECT name FROM lead WHERE name LIKE $1', [like]);
  return new Set(rows.map(({ name }) => name));
}

/** Holds a table, so that whoever writes to it waits. */
async function holdTable(table: 'lead' | 'landing_page') {
  return {
    /** Settles when at least so many statements of a service wait for it. */
    async waitedForBy(service: ServiceName, statements = 1) {
      await expect
        .poll(
          async () => {
            const [row] = await ground.fixture.sql<{ waiting: number }>(
              `SELECT count(*)::int AS waiting FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'`,
              [`leads-${service}`],
            );
            return row?.waiting;
          },
          { timeout: 30_000 },
        )
        .toBeGreaterThanOrEqual(statements);
    },
    release: await ground.fixture.holdTable(table),
  };
}

async function isRunning(service: Service): Promise<boolean> {
  return Promise.race([service.exited.then(() => false), sleep(0, true)]);
}

describe.each(serviceNames)('%s', (name) => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s under load: what was accepted is answered, to the last byte, and it ends with code 0',
    async (signalName) => {
      const service = await startWith(name, 700);
      const prefix = `${name} ${signalName} `;
      let sending = true;
      let sent = 0;
      const exchanges: Exchange[] = [];
      const send = async () => {
        while (sending) exchanges.push(await exchange(portOf(service), name, `${prefix}${(sent += 1)}`));
      };
      const senders = Array.from({ length: 16 }, send);

      // And a client that keeps its connections, as most do.
      const client = new HttpClient(portOf(service));
      let kept = 0;
      let keptError: string | undefined;
      const keptAnswers: [number, string | undefined][] = [];
      const sendOnKept = async () => {
        while (sending) {
          try {
            const answer = await create(client, name, { name: `${prefix}kept ${(kept += 1)}` });
            keptAnswers.push([answer.status, answer.headers.connection]);
          } catch (error) {
            keptError = (error as NodeJS.ErrnoException).code;
            return;
          }
        }
      };
      const keptSenders = Array.from({ length: 8 }, sendOnKept);

      await expect.poll(() => exchanges.length, { timeout: 30_000 }).toBeGreaterThan(50);
      const before = exchanges.length;
      const startedAt = performance.now();
      signal(service, signalName);
      expect(await service.exited).toEqual({ code: 0, signal: null });
      const durationMs = performance.now() - startedAt;
      sending = false;
      await Promise.all([...senders, ...keptSenders]);
      client.close();

      expect(durationMs).toBeGreaterThan(690);
      expect(durationMs).toBeLessThan(30_000);
      const stored = await storedNames(`${prefix}%`);
      const answered = exchanges.filter((each) => completeStatus(each) === 200);
      expect(answered.filter(({ lead }) => !stored.has(lead))).toEqual([]);
      // It went on serving after the signal.
      expect(answered.length).toBeGreaterThan(before);

      // Who was not answered was never heard: not a byte came, and nothing was stored.
      const unanswered = exchanges.filter((each) => completeStatus(each) !== 200);
      for (const { lead, code, bytes } of unanswered) {
        expect({ bytes, stored: stored.has(lead) }).toEqual({ bytes: '', stored: false });
        expect(code).toMatch(/^(ECONNREFUSED|ECONNRESET)$/);
      }
      // Only a connection that nobody took before the door was closed is reset.
      expect(unanswered.filter(({ code }) => code === 'ECONNRESET').length).toBeLessThanOrEqual(16);

      expect(keptError).toMatch(/^(ECONNREFUSED|ECONNRESET)$/);
      expect(keptAnswers.every(([status]) => status === 200)).toBe(true);
      expect(keptAnswers.at(0)).toEqual([200, 'keep-alive']);
      expect(keptAnswers.at(-1)).toEqual([200, 'close']);
    },
  );

  test('is not ready from the signal on, but serves; then it takes no more connections, and those that are open end with their next answer', async () => {
    const service = await startWith(name, 6_000);
    const [client, idle] = [new HttpClient(portOf(service)), new HttpClient(portOf(service))];
    const ready = async () => (await client.send({ path: '/health/ready' })).status;
    try {
      expect(await ready()).toBe(200);
      expect((await create(idle, name)).status).toBe(200);
      signal(service, 'SIGTERM');
      const signalledAt = performance.now();
      await expect.poll(ready, { timeout: 20_000, interval: 10 }).toBe(503);
      while (performance.now() - signalledAt < 2_000) {
        const answer = await create(client, name, { name: `${name} drains` });
        expect([answer.status, answer.headers.connection]).toEqual([200, 'keep-alive']);
        expect(await ready()).toBe(503);
        expect((await client.send({ path: '/health/live' })).status).toBe(200);
      }
      const late = async () => (await exchange(portOf(service), name, `${name} late`)).code;
      await expect.poll(late, { timeout: 20_000, interval: 50 }).toBe('ECONNREFUSED');
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

  test('ends at once at a second signal', async () => {
    const service = await startWith(name, 20_000);
    try {
      signal(service, 'SIGTERM');
      await expect.poll(() => service.output(), { timeout: 20_000 }).toContain('Stopping');
      signal(service, 'SIGTERM');
      expect(await service.exited).toEqual({ code: 1, signal: null });
      expect(service.output()).not.toContain('Stopped');
    } finally {
      await service.kill();
    }
  });

  test('answers a slow request that is under way before it ends', async () => {
    const service = await startWith(name, 0);
    const client = new HttpClient(portOf(service));
    const lead = `${name} is slow`;
    const table = await holdTable('lead');
    try {
      const answers = Promise.all(Array.from({ length: 5 }, () => create(client, name, { name: lead })));
      answers.catch(() => undefined);
      // The intake sends the five in one batch or two.
      await table.waitedForBy(name, name === 'intake' ? 1 : 5);
      signal(service, 'SIGTERM');
      await sleep(1_000);
      expect(await isRunning(service)).toBe(true);
      // No more is taken meanwhile.
      expect((await exchange(portOf(service), name, `${name} late`)).code).toBe('ECONNREFUSED');
      await table.release();
      expect((await answers).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(await service.exited).toEqual({ code: 0, signal: null });
    } finally {
      await table.release();
      client.close();
      await service.kill();
    }
    const rows = await ground.fixture.sql('SELECT id FROM lead WHERE name = $1', [lead]);
    expect(rows).toHaveLength(5);
  });
});

describe('landing pages that are still to be registered', () => {
  test('are in the table when the intake has ended', async () => {
    const service = await startWith('intake', 0);
    const client = new HttpClient(portOf(service));
    const pages = Array.from({ length: 30 }, (_, i) => `page-${i}`);
    const table = await holdTable('landing_page');
    try {
      const answers = await Promise.all(pages.map((lp_name) => create(client, 'intake', { lp_name })));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      // The leads are answered; one batch of pages waits for the table, the rest behind it.
      await table.waitedForBy('intake');
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
    const rows = await ground.fixture.sql<{ name: string }>(
      'SELECT name FROM landing_page WHERE workspace_id = $1',
      [ground.workspace.id],
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(pages.toSorted());
  });
});
