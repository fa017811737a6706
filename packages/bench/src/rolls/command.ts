import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '@leads/core/db-admin/migrate';
import { DisposeStack } from '@leads/core/dispose-stack';
import type { ServiceName } from '@leads/local-stack/processes/services';
import { migrationsDir } from '@leads/local-stack/repository';
import { defineCommand, integer } from '../command.ts';
import { isSeamless, runUnderTraffic, usualRate } from '../stack/client-traffic.ts';
import { serviceNames, startProxiedStack } from '../stack/proxied-stack.ts';

interface Restart {
  readonly service: ServiceName;
  readonly stopMs: number;
  readonly startMs: number;
}

export const rolls = defineCommand({
  summary: 'restarts the instances of both services one by one behind nginx, under load',
  options: {
    rolls: integer(1_000, '20', 'restarts of each instance; 20 take 4 min'),
    rate: integer(100_000, usualRate, 'leads per second'),
  },
  async run(options, { dataDir, onProgress }) {
    await using resources = new DisposeStack();
    const stack = await startProxiedStack(resources, {
      parent: dataDir,
      migrate: (databaseUrl) => migrate({ databaseUrl, migrationsDir }),
    });
    const instances = serviceNames.flatMap((service) =>
      ([0, 1] as const).map((slot) => ({ service, instance: stack.instance(service, slot) })),
    );
    await Promise.all(instances.map(({ instance }) => instance.start()));
    const restarts: Restart[] = [];
    const rollAll = async (service: ServiceName) => {
      for (let roll = 1; roll <= options.rolls; roll++) {
        for (const { instance } of instances.filter((each) => each.service === service)) {
          restarts.push({ service, stopMs: await instance.stop(), startMs: await instance.start() });
        }
        onProgress(`  ${service}: ${roll} of ${options.rolls}`);
      }
    };
    const traffic = await runUnderTraffic(stack, options.rate, async () => {
      await sleep(1_000);
      await Promise.all(serviceNames.map(rollAll));
      await sleep(1_000);
    });
    const restartsOf = (service: ServiceName) => restarts.filter((restart) => restart.service === service);
    const figures = {
      cores: availableParallelism(),
      node: process.version,
      rate: options.rate,
      rolls: options.rolls,
      ...traffic,
      restarts: serviceNames.map((service) => ({
        service,
        count: restartsOf(service).length,
        maxStopMs: Math.max(...restartsOf(service).map(({ stopMs }) => stopMs)),
        maxStartMs: Math.max(...restartsOf(service).map(({ startMs }) => startMs)),
      })),
      /**
       * The messages in nginx's error log, including those for requests that nginx retried on another
       * instance.
       */
      proxyErrors: countErrors(stack.nginx.output()),
    };
    return { figures, passed: isSeamless(traffic) };
  },
});

/** Counts lines such as `2026/11/22 07:31:30 [error] 9024#9024: *140 connect() failed (...) while ..., client: ...`. */
function countErrors(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, message] of log.matchAll(/^.*?\[error\] \S+ (?:\*\d+ )?(.*?), client:/gm)) {
    if (message !== undefined) counts[message] = (counts[message] ?? 0) + 1;
  }
  return counts;
}
