import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type Service, startService } from '@leads/local-stack/processes/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpClient } from '../src/http-client.ts';
import { createPath, type Ground, leadBody, prepareGround, serviceNames } from '../src/running-stack.ts';

const kills = 4;
const writers = 12;

let ground: Ground;
let directory: string;

beforeAll(async () => {
  ground = await prepareGround();
  directory = mkdtempSync(join(tmpdir(), 'leads-kill-'));
});
afterAll(async () => {
  await ground[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

describe.each(serviceNames)('kill -9 of %s during writes', (name) => {
  test(`${kills} times: every lead that was answered is in the table, exactly once`, {
    timeout: 90_000,
  }, async () => {
    const { fixture, workspace } = ground;
    // A machine that is slow is no outage.
    const patience = { DATABASE_CONNECT_TIMEOUT_MS: '15000', DATABASE_STATEMENT_TIMEOUT_MS: '15000' };
    const env = { ...ground.env, ...patience };
    const port = await freePort();
    const client = new HttpClient(port);
    const file = join(directory, `${name}.acknowledged`);
    const descriptor = openSync(file, 'a');
    let writing = true;
    let sent = 0;
    let refused = 0;
    let answered = 0;

    /** Each request is a lead of its own, never sent again, so that none may be there twice. */
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
          if (!isHangUp(error)) throw error;
          refused += 1;
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
        await expect.poll(() => answered - before, { timeout: 30_000, interval: 10 }).toBeGreaterThan(30);
        // Not always at the same point of a turn.
        await sleep(7 * kill);
        await service.kill();
        expect(await service.exited).toEqual({ code: null, signal: 'SIGKILL' });
        service = await startService(name, { env, port });
      }
      const before = answered;
      await expect.poll(() => answered - before, { timeout: 30_000 }).toBeGreaterThan(30);
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
    // One request is one lead at most, answered or not.
    expect(new Set(rows.map(({ line }) => line.split(' ')[1])).size).toBe(rows.length);
    // It was under load that it was killed, and it served between the kills.
    expect(refused).toBeGreaterThanOrEqual(kills);
    expect(acknowledged).toHaveLength(answered);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
  });
});

function isHangUp(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE'].includes(code);
}
