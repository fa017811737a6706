import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@leads/local-stack/processes/free-port';
import { type ServiceName, startService } from '@leads/local-stack/processes/services';
import { makeDirectory } from '../drills/stack.ts';
import { jwtSecret } from '../list/crm-process.ts';
import type { UpgradeOptions } from '../options.ts';
import { serviceNames, startGround } from './ground.ts';
import { buildRelease, defaultRevision, migrateWith, ownMigrations } from './release.ts';
import { type TrafficReport, underTraffic, usualRate } from './traffic.ts';

/** Everything that `bench upgrade` finds. */
export interface UpgradeFigures extends TrafficReport {
  readonly cores: number;
  readonly node: string;
  /** Leads a second of the intake. */
  readonly rate: number;
  /** The release before. */
  readonly from: string;
  /** Migrations that it does not have. */
  readonly migrations: readonly string[];
  readonly migrateMs: number;
  /**
   * Whether the services of this release say that they are not ready before it is migrated; undefined where there is
   * nothing to migrate.
   */
  readonly waitForMigration: boolean | undefined;
}

/** In each state of the upgrade leads come for so long. */
const calmMs = 3_000;

/** Replaces a release by this one while leads come: the schema first, then the services, old and new side by side. */
export async function measureUpgrade(
  { from, rate = usualRate, dataDir }: UpgradeOptions,
  onProgress: (line: string) => void,
): Promise<UpgradeFigures> {
  await using workplace = makeDirectory(dataDir);
  const revision = from ?? (await defaultRevision());
  onProgress(`Building ${revision}`);
  const release = await buildRelease(revision, join(workplace.path, 'release'));
  const migrations = ownMigrations().filter((name) => !release.migrations.includes(name));
  await using ground = await startGround({
    parent: dataDir,
    prepare: (databaseUrl) => migrateWith(databaseUrl, release.root),
  });
  const old = serviceNames.map((name) => ground.instance(name, { place: 0, root: release.root }));
  const next = serviceNames.map((name) => ground.instance(name, { place: 1 }));
  await Promise.all(old.map((part) => part.start()));
  let waitForMigration: boolean | undefined;
  let migrateMs = Number.NaN;
  const report = await underTraffic(ground, rate, async () => {
    onProgress('  the release before serves');
    await sleep(calmMs);
    if (migrations.length > 0) {
      const answers = await Promise.all(serviceNames.map((name) => saysBehind(name, ground)));
      waitForMigration = answers.every(Boolean);
    }
    const startedAt = performance.now();
    await migrateWith(ground.databaseUrl);
    migrateMs = performance.now() - startedAt;
    onProgress('  it serves from the migrated database');
    await sleep(calmMs);
    await Promise.all(next.map((part) => part.start()));
    onProgress('  both releases serve');
    await sleep(calmMs);
    await Promise.all(old.map((part) => part.stop()));
    onProgress('  this release serves');
    await sleep(calmMs);
  });
  return {
    cores: availableParallelism(),
    node: process.version,
    rate,
    from: release.name,
    migrations,
    migrateMs,
    waitForMigration,
    ...report,
  };
}

const patienceMs = 30_000;

/** Starts a service of this release where no client reaches it. @returns whether it waits for the schema. */
async function saysBehind(
  name: ServiceName,
  { databaseUrl, natsUrl }: { databaseUrl: string; natsUrl: string },
): Promise<boolean> {
  const port = await freePort();
  const isOver = new AbortController();
  const env = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, JWT_SECRET: jwtSecret, LOG_LEVEL: 'warn' };
  const ready = startService(name, { port, env, signal: isOver.signal }).then(
    async (service) => {
      await service.stop();
      return true;
    },
    () => false,
  );
  const deadline = Date.now() + patienceMs;
  let isBehind = false;
  while (!isBehind && Date.now() < deadline) {
    await sleep(50);
    isBehind = await fetch(`http://127.0.0.1:${port}/health/ready`).then(
      async (response) => response.status === 503 && (await response.text()).includes('"schema":"behind"'),
      () => false,
    );
  }
  isOver.abort();
  return !(await ready) && isBehind;
}
