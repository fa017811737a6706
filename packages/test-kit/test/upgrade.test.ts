import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { freePort } from '@leads/local-stack/processes/free-port';
import { longTimeouts, type Service, type ServiceName, startService } from '@leads/test-kit/services';
import { migrationsDir } from '@leads/local-stack/repository';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpClient } from '../src/http-client.ts';
import {
  createPath,
  leadBody,
  prepareEnvironment,
  serviceNames,
  spawnService,
  type TestEnvironment,
} from '../src/running-stack.ts';

/** Migrations that a next release may contain. They must not affect this release. */
const nextMigrations = {
  '29990101000000_expand': `
    ALTER TABLE lead ADD COLUMN next_note TEXT, ADD COLUMN next_count INT NOT NULL DEFAULT 0;
    ALTER TABLE lead ADD CONSTRAINT lead_next_count_check CHECK (next_count >= 0) NOT VALID;
    CREATE TABLE next_lead (lead_id UUID PRIMARY KEY);
    CREATE FUNCTION note_next_leads() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO next_lead SELECT id FROM inserted;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER lead_next AFTER INSERT ON lead REFERENCING NEW TABLE AS inserted
      FOR EACH STATEMENT EXECUTE FUNCTION note_next_leads();`,
  '29990102000000_index': `-- leads: no transaction
    CREATE INDEX CONCURRENTLY IF NOT EXISTS lead_next_note_idx ON lead (workspace_id, next_note);
    ALTER TABLE lead VALIDATE CONSTRAINT lead_next_count_check;`,
  '29990103000000_after': 'CREATE INDEX next_lead_idx ON next_lead (lead_id);',
};

let environment: TestEnvironment;
let directory: string;
beforeAll(async () => {
  environment = await prepareEnvironment();
  directory = mkdtempSync(join(tmpdir(), 'leads-upgrade-'));
  cpSync(migrationsDir, directory, { recursive: true });
  for (const [name, sql] of Object.entries(nextMigrations)) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'migration.sql'), sql);
  }
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await environment[Symbol.asyncDispose]();
});

/** Creates leads one after the other until `stop` is called. */
function sendLeads(name: ServiceName, service: Service) {
  const client = new HttpClient(Number(new URL(service.url).port));
  const statuses: number[] = [];
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      const answer = await client.send({
        method: 'POST',
        path: createPath[name],
        headers: environment.workspace.owner.headers,
        body: leadBody(name),
      });
      statuses.push(answer.status);
    }
  })();
  return {
    statuses,
    async stop() {
      isOver = true;
      await sending;
      client.close();
    },
  };
}

test('services accept leads while the next release migrates their database, and after that', async () => {
  const { env } = environment;
  const [crm, intake] = await Promise.all([startService('crm', { env }), startService('intake', { env })]);
  await using _crm = crm;
  await using _intake = intake;
  const services = { crm, intake };
  const senders = serviceNames.flatMap((name) => [1, 2].map(() => sendLeads(name, services[name])));
  const moreLeads = async () => {
    const before = senders.map(({ statuses }) => statuses.length);
    await expect
      .poll(() => senders.every(({ statuses }, index) => statuses.length >= (before[index] ?? 0) + 10))
      .toBe(true);
  };
  await moreLeads();
  const applied = await migrate({ databaseUrl: environment.databaseUrl, migrationsDir: directory });
  expect(applied.applied).toEqual(Object.keys(nextMigrations));
  await moreLeads();
  await Promise.all(senders.map((sender) => sender.stop()));

  expect(new Set(senders.flatMap(({ statuses }) => statuses))).toEqual(new Set([200]));
  const answered = senders.reduce((sum, { statuses }) => sum + statuses.length, 0);
  const [counts] = await environment.fixture.sql<{ leads: number; noted: number; valid: boolean }>(
    `SELECT (SELECT count(*)::int FROM lead) AS leads, (SELECT count(*)::int FROM next_lead) AS noted,
      (SELECT indisvalid FROM pg_index WHERE indexrelid = 'lead_next_note_idx'::regclass) AS valid`,
  );
  expect(counts).toMatchObject({ leads: answered, valid: true });
  expect(counts?.noted).toBeGreaterThanOrEqual(40);
  expect(counts?.noted).toBeLessThan(answered);
  // Services do not require that the database has no later migrations.
  for (const { url } of [crm, intake]) {
    await expect.poll(async () => (await fetch(`${url}/health/ready`)).status).toBe(200);
  }
});

test('services that are newer than their database are not ready, and log the missing migration', async () => {
  await using olderDatabase = await prepareEnvironment();
  const newest = `DELETE FROM _prisma_migrations WHERE migration_name =
    (SELECT max(migration_name) FROM _prisma_migrations) RETURNING migration_name AS name`;
  const [removed] = await olderDatabase.fixture.sql<{ name: string }>(newest);
  for (const name of serviceNames) {
    const port = await freePort();
    await using service = spawnService(name, {
      ...longTimeouts,
      ...olderDatabase.env,
      [`${name.toUpperCase()}_PORT`]: String(port),
    });
    const log = () => service.output('stdout');
    await expect.poll(log).toContain('The database lacks a migration');
    expect(log()).toContain(removed?.name);
    await expect.poll(log).toContain('Listening');
    const readiness = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
      return [answer.status, await answer.json()];
    };
    await expect
      .poll(readiness)
      .toEqual([503, { status: 'unavailable', checks: { database: 'up', schema: 'behind' } }]);
  }
});
