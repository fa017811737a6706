import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { type LocalNats, startNats } from '@leads/local-stack/processes/nats-server';
import { type LocalPgBouncer, startPgBouncer } from '@leads/local-stack/processes/pgbouncer';
import { type Service, startService } from '@leads/test-kit/services';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Fixture, jwtSecret, openFixture, type TestMember } from '../src/fixture.ts';
import { createServiceRoles, type ServiceRoles } from '../src/service-roles.ts';
import { createTestDatabase, type TestDatabase } from '../src/test-database.ts';

/*
 * Both services, each with its own role, connected through a PgBouncer. It has fewer connections to Postgres
 * than the services have to it, and assigns a free one to each transaction.
 */

/** Less than the timeout that the services set, which PgBouncer ignores. A busy machine does not reach it. */
const roleTimeoutMs = 20_000;

const directory = mkdtempSync(join(tmpdir(), 'leads-pooled-'));
let nats: LocalNats;
let database: TestDatabase;
let roles: ServiceRoles;
let pooler: LocalPgBouncer;
let fixture: Fixture;
let crm: Service;
let intake: Service;

beforeAll(async () => {
  nats = await startNats({ binary: await findNatsServer(), dataDir: directory });
  database = await createTestDatabase();
  roles = await createServiceRoles(database.url, roleTimeoutMs);
  pooler = await startPgBouncer([roles.crm, roles.intake]);
  fixture = openFixture(database.url);
  const env = {
    JWT_SECRET: jwtSecret,
    NATS_URL: nats.url,
    DATABASE_PREPARED_STATEMENTS: 'false',
    LOG_LEVEL: 'warn',
  };
  crm = await startService('crm', { env: { ...env, DATABASE_URL: pooler.url(roles.crm) } });
  intake = await startService('intake', { env: { ...env, DATABASE_URL: pooler.url(roles.intake) } });
});

afterAll(async () => {
  await crm.stop();
  await intake.stop();
  await pooler[Symbol.asyncDispose]();
  await nats.stop();
  rmSync(directory, { recursive: true, force: true });
  await fixture[Symbol.asyncDispose]();
  await roles[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function ask<Body>(service: Service, member: TestMember, path: string, body?: object): Promise<Body> {
  const answer = await fetch(`${service.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...member.headers, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect([path, answer.status, text]).toEqual([path, 200, text]);
  return JSON.parse(text) as Body;
}

test('services behind PgBouncer store, list, search and change leads and publish their events, separated by workspace', async () => {
  const workspaces = [await fixture.createWorkspace(), await fixture.createWorkspace()] as const;
  const phone = '+1 202 555 0143';
  // Requests of both workspaces at once, so they share connections.
  await Promise.all(
    workspaces.flatMap(({ owner, slug }) =>
      Array.from({ length: 40 }, async (_, n) => {
        const path = n % 2 === 0 ? '/leads' : '/order/leads';
        const to = n % 2 === 0 ? {} : { campaignCode: 'DEMO' };
        await ask(n % 2 === 0 ? intake : crm, owner, path, { name: `${slug} lead`, phone, ...to });
        const leads = await ask<{ name: string }[]>(crm, owner, '/order/leads?limit=1000');
        expect(leads.filter(({ name }) => name !== `${slug} lead`)).toEqual([]);
        expect(leads.length).toBeGreaterThan(0);
      }),
    ),
  );
  for (const { owner } of workspaces) {
    const all = await ask<{ id: string }[]>(crm, owner, '/order/leads?limit=1000&q=lead');
    expect(all).toHaveLength(40);
    const ids = all.map(({ id }) => id);
    const { results } = await ask<{ results: { success: boolean }[] }>(crm, owner, '/order/leads/status', {
      ids,
      status: 'Approved',
    });
    expect(results.filter(({ success }) => success)).toHaveLength(40);
    const history = await ask<unknown[]>(crm, owner, `/order/leads/${ids[0]}/history`);
    expect(history).toHaveLength(2);
  }
  await vi.waitFor(async () => expect(await fixture.sql('SELECT FROM lead_outbox')).toEqual([]), {
    timeout: 60_000,
    interval: 100,
  });

  // PgBouncer ignores the timeouts in the startup message, but statements still have the timeout of the role. Without it, the
  // service would answer when its own timeout of 61 s ends.
  const releaseTable = await fixture.holdTable('lead');
  const blockedRequest = fetch(`${crm.url}/api/v1/order/leads`, {
    method: 'POST',
    headers: { ...workspaces[0].owner.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ campaignCode: 'DEMO', name: 'held', phone }),
  });
  const timeout = sleep(2 * roleTimeoutMs, 'nothing', { ref: false });
  expect(await Promise.race([blockedRequest.then(({ status }) => status), timeout])).toBe(503);
  await releaseTable();
  expect(await fixture.sql(`SELECT FROM lead WHERE name = 'held'`)).toEqual([]);

  for (const service of [crm, intake]) {
    // Statements that need the state of another session would cause these errors.
    expect(service.output()).not.toMatch(/"level":"(error|fatal)"|42501|26000|42P05/);
  }
});
