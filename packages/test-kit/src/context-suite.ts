import { type Database, openDatabase } from '@leads/core/db';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

/** A test double for the tracing of a service. */
interface TestTracing extends AsyncDisposable {
  start(): { readonly traceId: string; readonly traceparent: undefined; end(): void };
}

const applicationName = 'leads-context-test';
/** No server listens on this port, so the broker client keeps reconnecting. */
const brokerUrl = 'nats://127.0.0.1:1';

/**
 * Tests that a context disposes every resource that it opens.
 *
 * @param create builds the context. If `fails` is set, one of its last steps must throw an error.
 */
export function testContext(
  create: (options: {
    readonly settings: Record<string, string>;
    readonly database: Database;
    readonly tracing: TestTracing;
    readonly fails: boolean;
  }) => Promise<AsyncDisposable>,
): void {
  describe('the context', () => {
    let testDatabase: TestDatabase;
    let observer: pg.Client;

    beforeAll(async () => {
      testDatabase = await createTestDatabase();
      observer = new pg.Client({ connectionString: testDatabase.url });
      await observer.connect();
    });
    afterAll(async () => {
      await observer.end();
      await testDatabase[Symbol.asyncDispose]();
    });

    async function setUp() {
      const disposed: string[] = [];
      const database = openDatabase({
        url: testDatabase.url,
        poolSize: 2,
        connectTimeoutMs: 30_000,
        statementTimeoutMs: 60_000,
        applicationName,
      });
      await database.ping();
      const recorded = <Resource extends AsyncDisposable>(name: string, resource: Resource): Resource => ({
        ...resource,
        async [Symbol.asyncDispose]() {
          disposed.push(name);
          await resource[Symbol.asyncDispose]();
        },
      });
      const tracing: TestTracing = {
        start: () => ({ traceId: '', traceparent: undefined, end: () => undefined }),
        [Symbol.asyncDispose]: async () => undefined,
      };
      return {
        disposed,
        settings: { DATABASE_URL: testDatabase.url, NATS_URL: brokerUrl },
        database: recorded('database', database),
        tracing: recorded('tracing', tracing),
      };
    }

    async function countConnections(): Promise<number> {
      const { rows } = await observer.query<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1',
        [applicationName],
      );
      return rows.length;
    }

    test('disposes its resources in reverse order: the database after its users, tracing last', async () => {
      const { disposed, ...given } = await setUp();
      const context = await create({ ...given, fails: false });
      expect(await countConnections()).toBeGreaterThan(0);
      await context[Symbol.asyncDispose]();
      expect(disposed).toEqual(['database', 'tracing']);
      await expect.poll(countConnections).toBe(0);
    });

    test('disposes the opened resources if its construction fails', async () => {
      const { disposed, ...given } = await setUp();
      expect(await countConnections()).toBeGreaterThan(0);
      await expect(create({ ...given, fails: true })).rejects.toBeInstanceOf(Error);
      expect(disposed).toEqual(['database', 'tracing']);
      await expect.poll(countConnections).toBe(0);
    });
  });
}
