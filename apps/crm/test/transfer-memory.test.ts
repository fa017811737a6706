import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { freePort } from '@leads/local-stack/processes/free-port';
import { jwtSecret, openFixture } from '@leads/test-kit/fixture';
import { longTimeouts } from '@leads/test-kit/services';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, expect, test } from 'vitest';

/*
 * Measures the memory of the service as it is deployed. Each file is larger than the memory limit of the process.
 */

const repository = resolve(import.meta.dirname, '../../..');
const dockerfile = readFileSync(resolve(repository, 'docker/crm.Dockerfile'), 'utf8');
/** The arguments with which the image starts the service. */
const [, ...args] = JSON.parse(/^CMD (\[.+\])$/m.exec(dockerfile)?.[1] ?? '') as string[];
const path = '/api/v1/order/leads';
/** The memory limit of the process, which starts with 130 MB on Linux. */
const maxBytes = 256 * 1024 * 1024;

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const port = await freePort();
const child = spawn(process.execPath, args, {
  cwd: repository,
  env: {
    PATH: process.env['PATH'],
    DATABASE_URL: database.url,
    JWT_SECRET: jwtSecret,
    CRM_PORT: String(port),
    SHUTDOWN_DELAY_MS: '0',
    ...longTimeouts,
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const exited = once(child, 'exit');
afterAll(async () => {
  child.kill('SIGTERM');
  await exited;
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Returns the peak memory of the service in bytes. Returns 0 on systems other than Linux. */
function peakMemory(): number {
  if (process.platform !== 'linux') return 0;
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

async function send(options: {
  method?: string;
  headers: Record<string, string>;
  path: string;
  body?: Readable;
}): Promise<IncomingMessage> {
  const outgoing = request({ host: '127.0.0.1', port, ...options });
  const answered = once(outgoing, 'response');
  await (options.body === undefined ? outgoing.end() : pipeline(options.body, outgoing));
  const [answer] = (await answered) as [IncomingMessage];
  return answer;
}

test('exports and imports files of more than 100 MB in less than 256 MiB of memory', async () => {
  const workspace = await fixture.createWorkspace();
  const { owner, id } = workspace;
  const count = 44_000;
  await fixture.sql(
    `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, description, version, words, created_at, updated_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', 'Lead ' || n, '1', repeat('x', 6200), 1, '{}', now(), now()
     FROM generate_series(1, $4) AS n`,
    [id, workspace.demoCampaignId, owner.userId, count],
  );
  const readiness = async () => {
    const answer = await send({ headers: {}, path: '/health/ready' });
    answer.resume();
    return answer.statusCode;
  };
  await expect.poll(readiness, { timeout: 120_000 }).toBe(200);

  for (const accept of ['text/csv', 'application/x-ndjson']) {
    const answer = await send({ headers: { ...owner.headers, Accept: accept }, path });
    let lines = 0;
    let bytes = 0;
    for await (const piece of answer as AsyncIterable<Buffer>) {
      bytes += piece.length;
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
    }
    expect([accept, answer.complete, lines]).toEqual([accept, true, count + (accept === 'text/csv' ? 1 : 0)]);
    expect(bytes).toBeGreaterThan(maxBytes);
    expect(peakMemory()).toBeLessThan(maxBytes);
  }

  // The file has lines of many sizes. Some lines are invalid.
  const body = Readable.from(
    (function* () {
      yield 'campaignCode,name,phone,description\n';
      for (let i = 0; i < 1_700; i++) {
        yield `DEMO,Lead ${i},1,"${'many\n'.repeat(12_000)}"\n`;
        if (i % 100 === 0) yield `DEMO,"open,1,${'x'.repeat(i % 1000 === 0 ? 3_000_000 : 10)}\n`;
      }
    })(),
  );
  const answer = await send({
    method: 'POST',
    headers: { ...owner.headers, 'Content-Type': 'text/csv' },
    path: `${path}/import`,
    body,
  });
  let text = '';
  for await (const piece of answer) text += String(piece);
  expect([answer.statusCode, JSON.parse(text)]).toMatchObject([200, { accepted: 1_700, rejected: 17 }]);
  expect(peakMemory()).toBeLessThan(maxBytes);
});
