import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type Service, startService } from '@leads/test-kit/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpClient } from '../src/http-client.ts';
import {
  createPath,
  leadBody,
  prepareEnvironment,
  serviceNames,
  type TestEnvironment,
} from '../src/running-stack.ts';

const kills = 2;
const writers = 12;

let environment: TestEnvironment;
let directory: string;

beforeAll(async () => {
  environment = await prepareEnvironment();
  directory = mkdtempSync(join(tmpdir(), 'leads-kill-'));
});
afterAll(async () => {
  await environment[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

describe.each(serviceNames)('after kill -9 during writes, %s', (name) => {
  test(`has stored every acknowledged lead exactly once (${kills} kills)`, async () => {
    const { fixture, workspace, env } = environment;
    const port = await freePort();
    const client = new HttpClient(port);
    const file = join(directory, `${name}.acknowledged`);
    const descriptor = openSync(file, 'a');
    let writing = true;
    let sent = 0;
    let interrupted = 0;
    let answered = 0;

    /** Sends each lead once, so a lead stored twice is an error. */
    const write = async () => {
      while (writing) {
        const lead = `${name}-${(sent += 1)}`;
        try {
          const answer = await client.send({
            method: 'POST',
            path: createPath[name],
            headers: workspace.owner.headers,
            body: leadBody(name, { name: lead }),
          });
          expect(answer.status, answer.text).toBe(200);
          const body = answer.json<{ order_id?: string; lead?: { id: string } }>();
          writeSync(descriptor, `${body.order_id ?? body.lead?.id} ${lead}\n`);
          fsyncSync(descriptor);
          answered += 1;
        } catch (error) {
          if (!isConnectionError(error)) throw error;
          interrupted += 1;
          await sleep(20);
        }
      }
    };

    let service: Service | undefined;
    try {
      service = await startService(name, { env, port });
      const running = Promise.all(Array.from({ length: writers }, write));
      running.catch(() => undefined);
      for (let kill = 0; kill < kills; kill++) {
        const before = answered;
        await expect.poll(() => answered - before, { interval: 10 }).toBeGreaterThan(30);
        // Kills at different points of a batch.
        await sleep(7 * kill);
        await service.kill();
        expect(await service.exited).toEqual({ code: null, signal: 'SIGKILL' });
        service = await startService(name, { env, port });
      }
      const before = answered;
      await expect.poll(() => answered - before).toBeGreaterThan(30);
      writing = false;
      await running;
    } finally {
      writing = false;
      await service?.stop();
      client.close();
      closeSync(descriptor);
    }

    const acknowledged = readFileSync(file, 'utf8').trim().split('\n');
    const rows = await fixture.sql<{ line: string }>(
      `SELECT id || ' ' || name AS line FROM lead WHERE name LIKE $1`,
      [`${name}-%`],
    );
    const timesStored = new Map<string, number>();
    for (const { line } of rows) timesStored.set(line, (timesStored.get(line) ?? 0) + 1);
    expect(acknowledged.filter((line) => timesStored.get(line) !== 1)).toEqual([]);
    // A request creates at most one lead, acknowledged or not.
    expect(new Set(rows.map(({ line }) => line.split(' ')[1])).size).toBe(rows.length);
    // The kills happened under load, and the service accepted leads between them.
    expect(interrupted).toBeGreaterThanOrEqual(kills);
    expect(acknowledged).toHaveLength(answered);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
  });
});

function isConnectionError(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'].includes(code);
}
