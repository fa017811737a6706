import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { migrationsDir } from '@leads/local-stack/repository';
import { expect, test } from 'vitest';
import { type Fixture, openFixture, type TestMember } from '../fixture.ts';
import type { Answer } from '../http-client.ts';
import { finiteRoutesOf, exampleEntity, fillPath } from '../openapi-document.ts';
import type { RunningService } from '../running-service.ts';

const unavailable = { success: false, error: 'error', message: 'Service temporarily unavailable' };

/** Statuses of the example requests: success, an unknown user in the body, an unknown id in the path, and an existing object. */
const expectedStatuses = [200, 400, 404, 409];

/** Tests that a service answers 503 and never 500 while Postgres is down, and recovers without a restart. */
export function describeOutage(start: (databaseUrl: string) => Promise<RunningService>): void {
  test('a service answers 503 while its database is down, reports it in its health, and recovers without a restart', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'leads-outage-'));
    // The account of Postgres must be able to enter this directory.
    chmodSync(directory, 0o711);
    const options = { dataDir: join(directory, 'data'), durable: false };
    let postgres: LocalPostgres = await startPostgres(options);
    let fixture: Fixture | undefined;
    let service: RunningService | undefined;
    try {
      await postgres.createDatabase('leads');
      const databaseUrl = postgres.url('leads');
      await migrate({ databaseUrl, migrationsDir });
      fixture = openFixture(databaseUrl);
      const workspace = await fixture.createWorkspace();
      const { owner } = workspace;
      const otherMember = await workspace.addMember('owner');
      service = await start(databaseUrl);
      const all = answersOf(service);

      for (const answer of await all(owner)) expect(expectedStatuses).toContain(answer.status);
      const readiness = async () => (await service?.send({ path: '/health/ready' }))?.status;
      await expect.poll(readiness).toBe(200);

      const { port } = postgres;
      const stopped = postgres.stop();
      // While Postgres stops, requests in progress are completed or rejected with 503.
      for (const answer of await all(owner)) expect([...expectedStatuses, 503]).toContain(answer.status);
      await stopped;

      for (const member of [owner, otherMember]) {
        // Cached credentials, and credentials that must be looked up. The requests outlast the cache of error
        // responses.
        for (const answer of await all(member)) {
          expect([answer.status, answer.json()]).toEqual([503, unavailable]);
          expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        }
      }
      const ready = await service.send({ path: '/health/ready' });
      expect([ready.status, ready.json()]).toEqual([
        503,
        { status: 'unavailable', checks: { database: 'down' } },
      ]);
      expect((await service.send({ path: '/health/live' })).status).toBe(200);
      const unknownRoute = await service.send({ path: '/nowhere' });
      expect(unknownRoute.status).toBe(404);
      for (const answer of await all({
        ...owner,
        apiKey: 'x',
        headers: { ...owner.headers, API_KEY: 'x' },
      })) {
        expect(answer.status).toBe(401);
      }

      const loggedBefore = service.logs.entries().length;
      postgres = await startPostgres({ ...options, port });
      await expect.poll(readiness).toBe(200);
      for (const member of [owner, otherMember]) {
        for (const answer of await all(member)) expect(expectedStatuses).toContain(answer.status);
      }
      const unexpected = service.logs.entries().filter(
        ({ level, msg }, at) =>
          (level === 'error' || level === 'fatal') &&
          // Postgres may stop between a change and its entry in the audit log. Then the log has the action.
          !(at < loggedBefore && msg === 'An action was not recorded in the audit log'),
      );
      expect(unexpected).toEqual([]);
    } finally {
      await service?.[Symbol.asyncDispose]();
      await fixture?.[Symbol.asyncDispose]();
      await postgres.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

/** The answer of this route is a constant, which needs no database. */
const constantPath = '/api/v1/postbacks/presets';

/** Returns a function that sends a request to every other guarded route as a member. */
function answersOf(service: RunningService) {
  return (member: TestMember): Promise<Answer[]> =>
    Promise.all(
      finiteRoutesOf(service.document)
        .filter(({ path }) => path !== constantPath)
        .map(({ method, path, operation }) => {
          const entity = exampleEntity(operation);
          const headers = { ...member.headers, ...(entity !== undefined && { 'Content-Type': entity.type }) };
          return service.send({ method, path: fillPath(path), headers, body: entity?.text });
        }),
    );
}
