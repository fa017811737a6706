import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { type Service, startService } from '@leads/test-kit/services';
import { type Fixture, openFixture, type TestMember } from '@leads/test-kit/fixture';
import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';

const database = await createTestDatabase();
const fixture: Fixture = openFixture(database.url);
const { owner } = await fixture.createWorkspace();
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const route = '/api/v1/leads';
const lead = JSON.stringify({ name: 'Ada', phone: '+44 20 7946 0958' });
const soon = { interval: 20 };
/** The labels of the metrics of accepted leads. */
const accepted = { route, method: 'POST', status: '200' };

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly reqId?: string;
  readonly worker?: number;
  readonly pid?: number;
}

/** The intake as two workers and their primary. It runs until the end of the test. */
class Pair {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  static async start(settings: Record<string, string> = {}): Promise<Pair> {
    const env = { DATABASE_URL: database.url, DATABASE_POOL_SIZE: '3', INTAKE_WORKERS: '2', ...settings };
    const service = await startService('intake', { env });
    // The processes are killed even if the test times out.
    onTestFinished(() => service.kill());
    return new Pair(service);
  }

  get pid() {
    return this.#service.pid;
  }

  /** Resolves when the primary and all workers have exited. */
  get exited() {
    return this.#service.exited;
  }

  lines(text?: string): LogLine[] {
    return this.#service
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ msg }) => text === undefined || msg === text);
  }

  /** The process ids of all workers so far. */
  workerPids(): number[] {
    return this.lines('Worker started').map(({ pid = 0 }) => pid);
  }

  /** The worker of each answered request, in order. */
  answeredBy(): (number | undefined)[] {
    return this.lines('Request').map(({ worker }) => worker);
  }

  /** Opens a request on a new connection, because connections are distributed among the workers. */
  open(path: string, member?: TestMember, signal?: AbortSignal): ClientRequest {
    return request(`${this.#service.url}${path}`, {
      agent: false,
      signal,
      method: member === undefined ? 'GET' : 'POST',
      headers: member && {
        ...member.headers,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(lead),
      },
    });
  }

  async send(path: string, member?: TestMember): Promise<{ status: number; text: string }> {
    const outgoing = this.open(path, member);
    outgoing.end(member && lead);
    return answerTo(outgoing);
  }

  /** Returns the error code of a new connection; `undefined` if it is answered. */
  async refusal(): Promise<string | undefined> {
    // A connection that arrives while the last worker closes waits in the Node.js cluster until the primary exits.
    const outgoing = this.open('/health/live', undefined, AbortSignal.timeout(1_000));
    outgoing.end();
    return answerTo(outgoing).then(
      () => undefined,
      ({ code }: NodeJS.ErrnoException) => code,
    );
  }

  async metrics() {
    const answer = await vi.waitFor(async () => {
      const { status, text } = await this.send('/metrics');
      // The answer is 503 if the primary takes longer than 3 s to collect the metrics.
      if (status !== 200) throw new Error(`${status} ${text}`);
      return text;
    }, 60_000);
    return parseMetrics(answer).samples;
  }
}

async function answerTo(outgoing: ClientRequest): Promise<{ status: number; text: string }> {
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk as string;
  return { status: incoming.statusCode ?? 0, text };
}

const countLeads = async () =>
  Number((await fixture.sql<{ count: string }>('SELECT count(*) FROM lead'))[0]?.count);

describe('several workers', () => {
  test('all accept requests once the service is ready, serve the metrics of all, and exit with the primary', async () => {
    const pair = await Pair.start();
    const before = await countLeads();
    for (let i = 0; i < 20; i++) expect((await pair.send(route, owner)).status).toBe(200);
    expect(await countLeads()).toBe(before + 20);
    await expect.poll(() => pair.answeredBy(), soon).toHaveLength(20);
    const answered = pair.answeredBy();
    for (const worker of [1, 2]) expect(answered.filter((by) => by === worker).length).toBeGreaterThan(5);

    // Until a worker has reported in time, the primary uses its previous report.
    await expect
      .poll(async () => sumOf(await pair.metrics(), 'http_requests_total', accepted), soon)
      .toBe(20);
    for (let i = 0; i < 4; i++) {
      const samples = await pair.metrics();
      expect(sumOf(samples, 'http_requests_total', accepted)).toBe(20);
      expect(sumOf(samples, 'http_request_duration_seconds_bucket', { ...accepted, le: '+Inf' })).toBe(20);
      expect(sumOf(samples, 'db_client_connections_max')).toBe(6);
      expect(sumOf(samples, 'leads_workers')).toBe(2);
      expect(sumOf(samples, 'leads_build_info')).toBe(1);
    }

    process.kill(pair.pid, 'SIGKILL');
    expect(await pair.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('replace a killed worker without an interruption, and no counter decreases', async () => {
    const pair = await Pair.start();
    // A worker that reports late is counted with its previous report.
    const counts: number[] = [];
    const count = async () => {
      counts.push(sumOf(await pair.metrics(), 'http_requests_total', accepted));
      return counts.at(-1);
    };
    for (let i = 0; i < 10; i++) await pair.send(route, owner);
    await expect.poll(count, soon).toBe(10);
    // The log lines of the last 0.1 s would be lost with the worker.
    await expect.poll(() => pair.answeredBy(), soon).toHaveLength(10);

    process.kill(pair.workerPids()[0] ?? 0, 'SIGKILL');
    await expect.poll(() => pair.lines('A worker exited unexpectedly; restarting it'), soon).toHaveLength(1);
    for (let i = 0; i < 10; i++) expect((await pair.send(route, owner)).status).toBe(200);
    await expect.poll(count, soon).toBe(20);

    await expect.poll(() => pair.lines('Listening').map(({ worker }) => worker), soon).toEqual([1, 2, 3]);
    await expect.poll(async () => (await pair.send('/health/ready')).status, soon).toBe(200);
    for (let i = 0; i < 10; i++) expect((await pair.send(route, owner)).status).toBe(200);
    await expect.poll(() => pair.answeredBy(), soon).toHaveLength(30);
    expect(new Set(pair.answeredBy().slice(-10))).toEqual(new Set([2, 3]));
    await expect.poll(count, soon).toBe(30);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(sumOf(await pair.metrics(), 'leads_worker_restarts_total')).toBe(1);
  });

  test('replace a worker that hangs, log it, and exit at once after a second signal', async () => {
    const pair = await Pair.start({ SHUTDOWN_DELAY_MS: '20000' });
    const [hung = 0] = pair.workerPids();
    process.kill(hung, 'SIGSTOP');
    await expect
      .poll(() => pair.lines('A worker hangs; killing it'), { interval: 50 })
      .toMatchObject([{ level: 'error', worker: 1, pid: hung }]);
    await expect.poll(() => pair.lines('Listening').map(({ worker }) => worker), soon).toEqual([1, 2, 3]);
    for (let i = 0; i < 10; i++) expect((await pair.send(route, owner)).status).toBe(200);
    expect(pair.lines('A worker exited unexpectedly; restarting it')).toHaveLength(1);

    process.kill(pair.pid, 'SIGTERM');
    await expect.poll(() => pair.lines('Stopping').length, soon).toBe(3);
    // A stopped worker cannot exit by itself.
    process.kill(pair.workerPids().at(-1) ?? 0, 'SIGSTOP');
    process.kill(pair.pid, 'SIGTERM');
    expect(await pair.exited).toEqual({ code: 1, signal: null });
    // The other worker would log this after the shutdown delay.
    expect(pair.lines('Stopped')).toEqual([]);
  });

  test('switch the log level at SIGUSR2 to the primary or the whole group, also in later workers', async () => {
    const pair = await Pair.start();
    const switched = 'Log level switched';
    /** Returns the workers that answered since the last switch with a log line for the rejection, or without one. */
    const answering = async (hasDetails: boolean) => {
      for (let i = 0; i < 2; i++) expect((await pair.send(route)).status).toBe(405);
      const detailed = new Set(pair.lines('Request rejected').map(({ reqId }) => reqId));
      const lines = pair.lines();
      const since = lines.slice(lines.findLastIndex(({ msg }) => msg === switched) + 1);
      const answers = since.filter(
        ({ msg, reqId }) => msg === 'Request' && detailed.has(reqId) === hasDetails,
      );
      return new Set(answers.map(({ worker }) => worker));
    };
    await expect.poll(() => answering(false), soon).toEqual(new Set([1, 2]));
    expect(pair.lines('Request rejected')).toEqual([]);

    process.kill(pair.pid, 'SIGUSR2');
    await expect.poll(() => answering(true), soon).toEqual(new Set([1, 2]));
    process.kill(pair.workerPids()[0] ?? 0, 'SIGKILL');
    await expect.poll(() => pair.lines('A worker exited unexpectedly; restarting it'), soon).toHaveLength(1);
    await expect.poll(() => answering(true), soon).toContain(3);
    process.kill(-pair.pid, 'SIGUSR2');
    await expect.poll(() => answering(false), soon).toEqual(new Set([2, 3]));
    process.kill(-pair.pid, 'SIGUSR2');
    await expect.poll(() => answering(true), soon).toEqual(new Set([2, 3]));
    await expect
      .poll(() => pair.lines(switched), soon)
      .toMatchObject([{ logLevel: 'debug' }, { logLevel: 'info' }, { logLevel: 'debug' }]);
  });

  test('that exit repeatedly stop the service, which logs it', async () => {
    const pair = await Pair.start();
    for (let i = 2; i <= 6; i++) {
      // A worker is killed while it starts, because five starts may take longer than the minute that is counted.
      await expect.poll(() => pair.workerPids().length, soon).toBe(i);
      process.kill(pair.workerPids().at(-1) ?? 0, 'SIGKILL');
    }
    expect(await pair.exited).toEqual({ code: 1, signal: null });
    expect(pair.lines('Workers keep exiting; the service stops')).toMatchObject([{ level: 'fatal' }]);
    // The healthy worker stops gracefully.
    expect(pair.lines('Stopped').map(({ worker }) => worker)).toEqual([1, undefined]);
  });

  test.for([
    ['SIGTERM to the primary', 'SIGTERM', 1],
    ["a terminal's Ctrl-C", 'SIGINT', -1],
  ] as const)('drain requests in progress after %s', async ([, signal, group]) => {
    const pair = await Pair.start({ SHUTDOWN_DELAY_MS: '12000' });
    const before = await countLeads();
    const release = await fixture.holdTable('lead');
    onTestFinished(release);
    // Each worker has two requests, because connections are distributed in turn.
    const answers = Array.from({ length: 4 }, () => pair.send(route, owner));
    await expect.poll(() => fixture.countBlocked('%lead%'), soon).toBeGreaterThan(1);

    process.kill(group * pair.pid, signal);
    await expect.poll(async () => (await pair.send('/health/ready')).status, soon).toBe(503);
    expect((await pair.send('/health/ready')).status).toBe(503);
    answers.push(pair.send(route, owner));
    await expect.poll(() => pair.refusal(), soon).toBe('ECONNREFUSED');
    expect(pair.lines('Stopped')).toEqual([]);
    await release();
    for (const answer of answers) expect((await answer).status).toBe(200);

    expect(await pair.exited).toEqual({ code: 0, signal: null });
    expect(await countLeads()).toBe(before + 5);
    for (const text of ['Stopping', 'Stopped']) {
      const workers = pair.lines(text).map(({ worker = 0 }) => worker);
      expect([text, workers.toSorted((a, b) => a - b)]).toEqual([text, [0, 1, 2]]);
    }
  });

  test('report a port in use once, and exit', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    try {
      const { port } = other.address() as { port: number };
      const env = { DATABASE_URL: database.url, INTAKE_WORKERS: '2' };
      await expect(startService('intake', { env, port })).rejects.toThrow(
        /^intake does not start: [^]*Cannot start: already in use: 127\.0\.0\.1:\d+\nCannot start: [^\n]+$/,
      );
    } finally {
      other.close();
    }
  });
});

test('runs in the primary process with one worker', async () => {
  const alone = await Pair.start({ INTAKE_WORKERS: '1' });
  expect((await alone.send(route, owner)).status).toBe(200);
  await expect.poll(() => alone.answeredBy(), soon).toEqual([undefined]);
  expect(alone.workerPids()).toEqual([]);
});
