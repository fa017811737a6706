import { availableParallelism } from 'node:os';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { leadPath } from '../intake/lead-requests.ts';
import { startLoadProcess } from '../intake/load.ts';
import { usualConnections } from '../intake/peak.ts';
import type { FaultOptions } from '../options.ts';
import { type DrillFigures, type FailedDrill, runDrill } from './drill.ts';
import { createScenarios } from './scenarios.ts';
import { startStack } from './stack.ts';

/** Everything that `bench faults` finds. */
export interface FaultFigures {
  readonly cores: number;
  readonly node: string;
  readonly isShort: boolean;
  readonly syncAlways: boolean;
  readonly drills: readonly (DrillFigures | FailedDrill)[];
}

/** More would be no better a test of what is promised, and fill disks. */
const highestRate = 1_000;

/**
 * Each scenario on a stack of its own, one after the other; one that fails does not keep the others from running.
 *
 * @param stop ends it before its time.
 * @throws Error once all that was started has ended, where it was told to stop.
 */
export async function measureFaults(
  options: FaultOptions,
  onProgress: (line: string) => void,
  stop: AbortSignal,
): Promise<FaultFigures> {
  const common = {
    parent: options.dataDir,
    natsServer: await findNatsServer(),
    syncAlways: options.syncAlways,
    isShort: options.short,
    stop,
  };
  const rate = options.rate ?? (await measureRate(common, onProgress));
  const scenarios = createScenarios();
  const drills: (DrillFigures | FailedDrill)[] = [];
  for (const name of options.scenarios) {
    const scenario = scenarios[name];
    onProgress(`${name}: ${scenario.title}`);
    try {
      const impossible = scenario.impossible?.();
      if (impossible !== undefined) throw new Error(impossible);
      drills.push(await runDrill({ ...common, name, scenario, rate, onProgress }));
    } catch (error) {
      if (stop.aborted) throw error;
      const failure = (error as Error).message;
      onProgress(`  ${failure}`);
      drills.push({ scenario: name, title: scenario.title, failure });
    }
  }
  return {
    cores: availableParallelism(),
    node: process.version,
    isShort: options.short,
    syncAlways: options.syncAlways,
    drills,
  };
}

/** Half of what the intake takes at most, with everything beside it that a drill has. */
async function measureRate(
  common: { parent: string | undefined; natsServer: string; syncAlways: boolean; stop: AbortSignal },
  onProgress: (line: string) => void,
): Promise<number> {
  await using stack = await startStack(common);
  using load = startLoadProcess();
  const headers = { API_KEY: stack.credentials.API_KEY };
  const target = { port: stack.intakePort, path: leadPath, headers, connections: usualConnections };
  await load.send({ ...target, durationMs: 1_000 });
  const { requestsPerSecond } = await load.send({ ...target, durationMs: 3_000 });
  const rate = Math.max(1, Math.min(highestRate, Math.round(requestsPerSecond / 2)));
  onProgress(`The peak is ${requestsPerSecond.toFixed(0)} leads/s: the load is ${rate}`);
  return rate;
}
