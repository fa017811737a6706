import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposeStack } from '@leads/core/dispose-stack';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type ServiceName, startService } from '@leads/local-stack/processes/services';
import { defineCommand, integer, text } from '../command.ts';
import { isSeamless, runUnderTraffic, usualRate } from '../stack/client-traffic.ts';
import { jwtSecret } from '../stack/credentials.ts';
import { type ProxiedStack, serviceNames, startProxiedStack } from '../stack/proxied-stack.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { waitUntil } from '../stack/wait-until.ts';
import { buildRelease, migrateWith, ownMigrations, previousRevision } from './release.ts';

/** The minimum duration of each state of the upgrade. */
const stateMs = 3_000;

export const upgrade = defineCommand({
  summary: 'replaces the previous release with this one under load: the schema first, then the services',
  options: {
    from: text(
      'previous release in git (default: the newest tag v*, else the commit before the newest migration)',
    ),
    rate: integer(100_000, usualRate, 'leads per second'),
  },
  async run({ from, rate }, { dataDir, onProgress }) {
    await using resources = new DisposeStack();
    const buildDirectory = resources.use(temporaryDirectory(dataDir)).path;
    const revision = from ?? (await previousRevision());
    onProgress(`Building ${revision}`);
    const release = await buildRelease(revision, join(buildDirectory, 'release'));
    const migrations = ownMigrations().filter((name) => !release.migrations.includes(name));
    const stack = await startProxiedStack(resources, {
      parent: dataDir,
      migrate: (databaseUrl) => migrateWith(databaseUrl, release.root),
    });
    const oldInstances = serviceNames.map((name) => stack.instance(name, 0, release.root));
    const newInstances = serviceNames.map((name) => stack.instance(name, 1));
    await Promise.all(oldInstances.map((instance) => instance.start()));
    /** True if the services of this release wait for the migration. */
    let waitForMigration: boolean | undefined;
    let migrateMs = Number.NaN;
    const state = async (name: string) => {
      onProgress(`  ${name}`);
      await sleep(stateMs);
    };
    const traffic = await runUnderTraffic(stack, rate, async () => {
      await state('the previous release serves');
      if (migrations.length > 0) {
        const waiting = await Promise.all(serviceNames.map((name) => waitsForMigration(name, stack)));
        waitForMigration = waiting.every(Boolean);
      }
      const startedAt = performance.now();
      await migrateWith(stack.databaseUrl);
      migrateMs = performance.now() - startedAt;
      await state('the previous release serves from the migrated database');
      await Promise.all(newInstances.map((instance) => instance.start()));
      await state('both releases serve');
      await Promise.all(oldInstances.map((instance) => instance.stop()));
      await state('this release serves');
    });
    const figures = {
      cores: availableParallelism(),
      node: process.version,
      rate,
      from: release.name,
      migrations,
      migrateMs,
      waitForMigration,
      ...traffic,
    };
    return { figures, passed: isSeamless(traffic) && waitForMigration !== false };
  },
});

const readinessTimeoutMs = 30_000;

/**
 * Starts a service of this release on a port that no client uses. @returns whether it waits for the schema.
 */
async function waitsForMigration(
  name: ServiceName,
  { databaseUrl, natsUrl }: ProxiedStack,
): Promise<boolean> {
  const port = await freePort();
  const stop = new AbortController();
  const env = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, JWT_SECRET: jwtSecret, LOG_LEVEL: 'warn' };
  const becameReady = startService(name, { port, env, signal: stop.signal }).then(
    async (service) => {
      await service.stop();
      return true;
    },
    () => false,
  );
  const reportsSchemaBehind = await waitUntil(
    () =>
      fetch(`http://127.0.0.1:${port}/health/ready`).then(
        async (response) => response.status === 503 && (await response.text()).includes('"schema":"behind"'),
        () => false,
      ),
    readinessTimeoutMs,
  );
  stop.abort();
  return !(await becameReady) && reportsSchemaBehind;
}
