import { availableParallelism } from 'node:os';
import { DisposeStack } from '@leads/core/dispose-stack';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { defineCommand, flag, integer, listOf, oneOf, optional } from '../command.ts';
import { startLoadProcess } from '../load/load-process.ts';
import { submitPath } from '../load/requests.ts';
import { isIntact } from '../stack/verify-leads.ts';
import { type DrillFigures, type FailedDrill, type NamedScenario, runDrills } from './drill.ts';
import { canShareStack, type CommonOptions, startDrillStack } from './drill-stack.ts';
import { createScenarios, scenarioNames } from './scenarios.ts';

/** A higher rate adds no test coverage, but fills disks. */
const maxRate = 1_000;
const requiredRecoveryMs = 60_000;

export const faults = defineCommand({
  summary: 'injects faults under a steady load, and looks up every acknowledged lead and its events',
  handlesStop: true,
  options: {
    scenarios: listOf(oneOf(scenarioNames, scenarioNames.join(','), 'all take 40 min')),
    rate: optional(
      integer(100_000, undefined, `leads per second (default: half of the maximum, at most ${maxRate})`),
    ),
    short: flag('seconds instead of minutes, and a few kills instead of 20'),
    shareStacks: flag('successive scenarios share a stack where possible'),
    syncAlways: flag('NATS syncs each message to the disk (nats-server 2.10 or newer)'),
  },
  async run(options, { dataDir: parent, onProgress, stop }) {
    const { syncAlways, short: isShort } = options;
    const sharedOptions: CommonOptions = { parent, natsServer: await findNatsServer(), syncAlways, stop };
    const rate = options.rate ?? (await measureRate(sharedOptions, onProgress));
    const scenarios = createScenarios();
    const named = options.scenarios.map((name) => ({ name, scenario: scenarios[name] }));
    const drills: (DrillFigures | FailedDrill)[] = [];
    for (const group of options.shareStacks ? groupByStack(named) : named.map((each) => [each])) {
      drills.push(...(await runDrills(group, { ...sharedOptions, isShort, rate, onProgress })));
    }
    const figures = { cores: availableParallelism(), node: process.version, isShort, syncAlways, drills };
    return { figures, passed: drills.every(hasPassed) };
  },
});

/** Groups successive scenarios that can share a stack. */
function groupByStack(scenarios: readonly NamedScenario[]): NamedScenario[][] {
  const groups: NamedScenario[][] = [];
  for (const each of scenarios) {
    const group = groups.at(-1);
    const last = group?.at(-1)?.scenario;
    const isShared = last?.endsStack !== true && canShareStack(last?.stack, each.scenario.stack);
    if (group !== undefined && isShared) group.push(each);
    else groups.push([each]);
  }
  return groups;
}

/** Returns half of the intake's maximum rate while the other processes of a drill run. */
async function measureRate(
  sharedOptions: CommonOptions,
  onProgress: (line: string) => void,
): Promise<number> {
  await using resources = new DisposeStack();
  const stack = await startDrillStack(resources, sharedOptions);
  using load = startLoadProcess();
  const headers = { API_KEY: stack.credentials.API_KEY };
  const target = { port: stack.intakePort, path: submitPath, headers, connections: 64 };
  await load.send({ ...target, durationMs: 1_000 });
  const { requestsPerSecond } = await load.send({ ...target, durationMs: 3_000 });
  const rate = Math.max(1, Math.min(maxRate, Math.round(requestsPerSecond / 2)));
  onProgress(`The maximum rate is ${requestsPerSecond.toFixed(0)} leads/s. The load is ${rate} leads/s.`);
  return rate;
}

function hasPassed(drill: DrillFigures | FailedDrill): boolean {
  if ('failure' in drill) return false;
  const { recoveryMs = Number.POSITIVE_INFINITY, unexpected, missingDeliveries = 0 } = drill;
  return isIntact(drill) && missingDeliveries + unexpected === 0 && recoveryMs < requiredRecoveryMs;
}
