import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@leads/core/db-admin/migrate';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { openFixture } from '@leads/test-kit/fixture';
import { fillPath } from '@leads/test-kit/openapi-document';
import { expect, test } from 'vitest';
import { startCrmService } from './crm.ts';
import { signInAs } from './visitor.ts';

const unavailable = { success: false, error: 'error', message: 'Service temporarily unavailable' };
const migrationsDir = join(import.meta.dirname, '../../../prisma/migrations');

test('the website answers 503 instead of 401 while its database is unavailable, and recovers automatically', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'leads-outage-'));
  // The account of Postgres needs access to its data directory.
  chmodSync(directory, 0o711);
  const options = { dataDir: join(directory, 'data'), durable: false };
  let postgres: LocalPostgres = await startPostgres(options);
  try {
    await postgres.createDatabase('leads');
    const databaseUrl = postgres.url('leads');
    await migrate({ databaseUrl, migrationsDir });
    await using fixture = openFixture(databaseUrl);
    await using service = await startCrmService(databaseUrl);
    const workspace = await fixture.createWorkspace();
    const { visitor } = await signInAs(service, workspace, 'owner');
    // These routes send no query in this test.
    const withoutDatabase = new Set(['/api/console/features', '/api/console/integration/{token}']);
    const paths = new Set(service.routes.map(({ path }) => path));
    const readPaths: string[] = [];
    for (const path of paths) {
      if (!path.startsWith('/api/console/') || withoutDatabase.has(path)) continue;
      const { status } = await visitor.send('GET', fillPath(path).slice('/api'.length));
      if (status !== 405) readPaths.push(path);
    }
    expect(readPaths.length).toBeGreaterThan(12);

    const { port } = postgres;
    await postgres.stop();
    for (const path of readPaths) {
      const answer = await visitor.send('GET', fillPath(path).slice('/api'.length));
      expect([path, answer.status, answer.json()]).toEqual([path, 503, unavailable]);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    for (const [path, body] of [
      ['/sign-in/email', { email: 'a@b.example', password: 'correct horse' }],
      ['/sign-out', {}],
      ['/update-user', { name: 'Someone' }],
      ['/organization/set-active', { organizationId: workspace.id }],
    ] as const) {
      const answer = await visitor.account(path, body);
      expect([path, answer.status]).toEqual([path, 503]);
    }
    expect((await service.send({ path: '/leads' })).status).toBe(200);

    postgres = await startPostgres({ ...options, port });
    expect((await visitor.get('/me')).status).toBe(200);
  } finally {
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
});
