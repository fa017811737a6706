import { statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type LocalPostgres, startPostgres } from '@leads/local-stack/processes/postgres';
import { baselines, worseRatios } from '../baseline.ts';
import { defineCommand, flag, integer, listOf, number, oneOf } from '../command.ts';
import { startLoadProcess } from '../load/load-process.ts';
import { startWrkLoad } from '../load/wrk-load.ts';
import { migrateTemplate, query } from '../stack/database.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { type Bench, usualConnections } from './bench.ts';
import { compareWithReferences } from './comparison.ts';
import { measureCrmAtLoad } from './crm-at-load.ts';
import { measureOverload } from './overload.ts';
import { measurePayoutCost } from './payout-cost.ts';
import { measureRejectedLeads } from './rejected-leads.ts';
import { measureSoak } from './soak.ts';
import { measureStartup } from './startup.ts';

const steps = {
  table: compareWithReferences,
  overload: measureOverload,
  rejected: measureRejectedLeads,
  crmload: measureCrmAtLoad,
  payouts: measurePayoutCost,
  start: measureStartup,
  soak: measureSoak,
};
type StepName = keyof typeof steps;
const stepNames = Object.keys(steps) as StepName[];

/** The figures of the steps that ran. */
export type IntakeFigures = { [Step in StepName]?: Awaited<ReturnType<(typeof steps)[Step]>> } & {
  /** The durability settings of Postgres, as the server reports them. */
  readonly settings: readonly string[];
};

export const intake = defineCommand({
  summary: 'measures how the intake stores leads, against references in the same run',
  options: {
    steps: listOf(oneOf(stepNames, 'table', 'steps to run')),
    connections: listOf(integer(1_000, '1,16,64,256', 'connections of the comparison')),
    rounds: integer(1_000, '5', 'rounds of each measurement'),
    seconds: number(0.1, 600, '3', 'duration of one measurement'),
    minutes: number(0.01, 1440, '30', 'duration of the soak'),
    workers: integer(64, '1', 'INTAKE_WORKERS of the intake'),
    wrk: flag('sends the loads of table, crmload and payouts with wrk, which must be installed'),
    check: flag('runs table and crmload, and fails if a ratio is worse than in the committed baseline'),
  },
  async run(options, { dataDir, onProgress }) {
    const { rounds, seconds, workers, minutes } = options;
    const connections = options.check ? [usualConnections] : options.connections;
    const chosen: readonly StepName[] = options.check ? ['table', 'crmload'] : options.steps;
    using load = startLoadProcess();
    const peakLoad = options.wrk ? startWrkLoad() : load;
    await using temporary = temporaryDirectory(dataDir);
    const directory = temporary.path;
    await using postgres = await startPostgres({
      dataDir: join(directory, 'postgres'),
      maxConnections: Math.max(...connections) + 100,
    });
    const durationMs = seconds * 1000;
    const bench: Bench = {
      postgres,
      createDatabase: await migrateTemplate(postgres),
      load,
      peakLoad,
      directory,
      connections,
      rounds,
      durationMs,
      minutes,
      workers,
      onProgress,
    };
    const figures: IntakeFigures & Record<string, unknown> = {
      cores: availableParallelism(),
      node: process.version,
      settings: await durabilitySettings(postgres, directory),
      workers,
      rounds,
      seconds,
      load: options.wrk ? 'wrk' : 'load process',
    };
    for (const name of stepNames.filter((each) => chosen.includes(each))) {
      onProgress(`Step: ${name}`);
      Object.assign(figures, { [name]: await steps[name](bench) });
    }
    if (!options.check) return { figures };
    const worse = [
      ...worseRatios(figures.table?.ratios ?? [], baselines.table),
      ...worseRatios(figures.crmload?.ratios ?? [], baselines.crmload),
    ];
    return { figures: { ...figures, worseThanBaseline: worse }, passed: worse.length === 0 };
  },
});

/** The type of an in-memory file system on Linux (statfs(2)). */
const tmpfs = 0x01021994;

async function durabilitySettings(postgres: LocalPostgres, directory: string): Promise<string[]> {
  const names = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes'];
  const rows = await query<{ setting: string }>(
    postgres.url('postgres'),
    `SELECT name || ' ' || current_setting(name) AS setting FROM unnest($1::text[]) AS name`,
    [names],
  );
  const settings = rows.map(({ setting }) => setting);
  if (statfsSync(directory).type === tmpfs) settings.push('IN MEMORY: commits cost nothing, see --data-dir');
  return settings;
}
