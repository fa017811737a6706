import { availableParallelism } from 'node:os';
import { DisposeStack } from '@leads/core/dispose-stack';
import { baselines, worseRatios } from '../baseline.ts';
import { defineCommand, flag, listOf, number, oneOf, size } from '../command.ts';
import { startLoadProcess } from '../load/load-process.ts';
import { startWrkLoad } from '../load/wrk-load.ts';
import { type ListBench, newestLists } from './bench.ts';
import { measureExport } from './export.ts';
import { startFilledDatabases } from './filled-databases.ts';
import { measureQueries } from './queries.ts';
import { measureRates } from './rates.ts';
import { measureReplica } from './replica.ts';
import { measureStatements } from './statement.ts';
import { measureWebsite } from './website.ts';

/** The steps in order. The export is the last one, since it adds leads. */
const steps = {
  queries: measureQueries,
  rate: measureRates,
  website: measureWebsite,
  statement: measureStatements,
  replica: measureReplica,
  export: measureExport,
};
type StepName = keyof typeof steps;
const stepNames = Object.keys(steps) as StepName[];

/** The figures of the steps that ran. */
export type ListFigures = { [Step in StepName]?: Awaited<ReturnType<(typeof steps)[Step]>> };

export const list = defineCommand({
  summary: 'fills databases with leads and measures the list, the website, statements, a replica and exports',
  options: {
    sizes: listOf(size('10k,1m', 'database sizes in leads; 10m takes 15 min and 12 GB')),
    rateSizes: listOf(size('100k,1m', 'database sizes for lists over HTTP')),
    exportSize: size('1m', 'database size for the export'),
    steps: listOf(oneOf(stepNames, stepNames.join(), 'steps to run')),
    wrk: flag('sends the lists of rate with wrk, which must be installed'),
    check: flag('runs rate with 1m leads, and fails if a ratio is worse than in the committed baseline'),
    effort: number(0.01, 10, '1', 'number of measurements, relative to the default'),
  },
  async run(options, { dataDir, onProgress }) {
    await using resources = new DisposeStack();
    using load = startLoadProcess();
    const peakLoad = options.wrk ? startWrkLoad() : load;
    const databases = await startFilledDatabases(dataDir, resources, onProgress);
    const rateSizes = options.check ? [1_000_000] : options.rateSizes;
    const bench: ListBench = { ...options, rateSizes, databases, load, peakLoad, onProgress };
    const chosen: readonly StepName[] = options.check ? ['rate'] : options.steps;
    const figures: ListFigures & Record<string, unknown> = { cores: availableParallelism() };
    for (const name of stepNames.filter((each) => chosen.includes(each))) {
      onProgress(`Step: ${name}`);
      Object.assign(figures, { [name]: await steps[name](bench) });
    }
    if (!options.check) return { figures };
    const ratios = (figures.rate ?? []).map(({ server, ratioOfService }) => ({
      ratio: 'lists/s',
      to: server,
      connections: newestLists.connections,
      found: ratioOfService,
    }));
    const worse = worseRatios(ratios, baselines.rate);
    return { figures: { ...figures, worseThanBaseline: worse }, passed: worse.length === 0 };
  },
});
