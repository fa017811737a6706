import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@leads/local-stack/processes/postgres';
import { defineCommand, flag, integer, listOf, number, oneOf } from '../command.ts';
import { startLoadProcess } from '../load/load-process.ts';
import { migrateTemplate } from '../stack/database.ts';
import { reserveCore } from '../stack/own-core.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { measureDrain } from './drain.ts';
import { measureFailingReceivers } from './failing-receivers.ts';
import { measureFirstAttempts } from './first-attempts.ts';
import { measureIntakeRate } from './intake-rate.ts';
import { measureMemory } from './memory.ts';

const steps = {
  intake: measureIntakeRate,
  first: measureFirstAttempts,
  drain: measureDrain,
  failing: measureFailingReceivers,
  memory: measureMemory,
};
type StepName = keyof typeof steps;
const stepNames = Object.keys(steps) as StepName[];

/** The figures of the steps that ran. */
export type DeliveryFigures = { [Step in StepName]?: Awaited<ReturnType<(typeof steps)[Step]>> };

export const deliveries = defineCommand({
  summary: 'measures how events reach webhooks, and what that costs the intake',
  options: {
    steps: listOf(oneOf(stepNames, stepNames.join(','), 'steps to run')),
    rounds: integer(1_000, '3', 'rounds of each measurement'),
    seconds: number(0.1, 600, '3', 'duration of one measurement'),
    waiting: integer(1_000_000, '20000', 'waiting deliveries of the step drain'),
    endpoints: integer(10_000, '1000', 'endpoints of the step memory'),
    ownCore: flag('step intake: the receivers and the process that sends have a core of their own'),
  },
  async run(options, { dataDir, onProgress }) {
    const { rounds, seconds, waiting, endpoints } = options;
    const moveToOwnCore = options.ownCore ? reserveCore() : undefined;
    await using temporary = temporaryDirectory(dataDir);
    await using postgres = await startPostgres({ dataDir: join(temporary.path, 'postgres') });
    using load = startLoadProcess();
    const bench = {
      postgres,
      load,
      createDatabase: await migrateTemplate(postgres),
      rounds,
      seconds,
      waiting,
      endpoints,
      moveToOwnCore,
      onProgress,
    };
    const figures: Record<string, unknown> = { cores: availableParallelism(), node: process.version };
    for (const name of stepNames.filter((each) => options.steps.includes(each))) {
      onProgress(`Step: ${name}`);
      figures[name] = await steps[name](bench);
    }
    return { figures };
  },
});
