import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@leads/core/db-admin/migrate';
import type { ServiceName } from '@leads/local-stack/processes/services';
import type { RollOptions } from '../options.ts';
import { serviceNames, startGround } from './ground.ts';
import { type TrafficReport, underTraffic, usualRate } from './traffic.ts';

const migrationsDir = resolve(import.meta.dirname, '../../../prisma/migrations');

/** Everything that `bench rolls` finds. */
export interface RollFigures extends TrafficReport {
  readonly cores: number;
  readonly node: string;
  /** Leads a second of the intake. */
  readonly rate: number;
  /** How often each of the two instances of a service was stopped and started again. */
  readonly rolls: number;
  readonly restarts: readonly {
    readonly service: ServiceName;
    readonly stopMs: number;
    readonly startMs: number;
  }[];
  /** What nginx has written down, and how often: it tells of tries that went to another instance as well. */
  readonly proxyErrors: Readonly<Record<string, number>>;
}

/** Stops and starts the instances of both services one after the other, while leads come. */
export async function measureRolls(
  { rolls, rate = usualRate, dataDir }: RollOptions,
  onProgress: (line: string) => void,
): Promise<RollFigures> {
  await using ground = await startGround({
    parent: dataDir,
    prepare: (databaseUrl) => migrate({ databaseUrl, migrationsDir }),
  });
  const instances = serviceNames.flatMap((service) =>
    ([0, 1] as const).map((place) => ({ service, part: ground.instance(service, { place }) })),
  );
  await Promise.all(instances.map(({ part }) => part.start()));
  const restarts: { service: ServiceName; stopMs: number; startMs: number }[] = [];
  const rollAll = async (service: ServiceName) => {
    const own = instances.filter((instance) => instance.service === service);
    for (let roll = 1; roll <= rolls; roll++) {
      for (const { part } of own) {
        restarts.push({ service, stopMs: await part.stop(), startMs: await part.start() });
      }
      onProgress(`  ${service}: ${roll} of ${rolls}`);
    }
  };
  const report = await underTraffic(ground, rate, async () => {
    await sleep(1_000);
    await Promise.all(serviceNames.map(rollAll));
    await sleep(1_000);
  });
  return {
    cores: availableParallelism(),
    node: process.version,
    rate,
    rolls,
    restarts,
    proxyErrors: countErrors(ground.nginx.output()),
    ...report,
  };
}

/** Lines as `2026/11/22 07:31:30 [error] 9024#9024: *140 connect() failed (...) while ..., client: ...`. */
function countErrors(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, what] of log.matchAll(/^.*?\[error\] \S+ (?:\*\d+ )?(.*?), client:/gm)) {
    if (what !== undefined) counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}
