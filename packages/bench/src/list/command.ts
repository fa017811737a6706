import { availableParallelism } from 'node:os';
import { DisposeStack } from '@leads/core/dispose-stack';
import { defineCommand, listOf, number, oneOf, size } from '../command.ts';
import { startLoadProcess } from '../load/load-process.ts';
import type { ListBench } from './bench.ts';
import { measureExport } from './export.ts';
import { startFilledDatabases } from './filled-databases.ts';
import { measureQueries } from './queries.ts';
import { measureRates } from './rates.ts';
import { measureReplica } from './replica.ts';
import { measureWebsite } from './website.ts';

/** The export is the last step, since it adds leads. */
const steps = {
  queries: measureQueries,
  rate: measureRates,
  website: measureWebsite,
  replica: measureReplica,
  export: measureExport,
};
type StepName = keyof typeof steps;
const stepNames = Object.keys(steps) as StepName[];

/** The figures of the steps that ran. */
export type ListFigures = { [Step in StepName]?: Awaited<ReturnType<(typeof steps)[Step]>> };

export const list = defineCommand({
  summary: 'fills databases with leads and measures the list, the website, a replica and exports',
  options: {
    sizes: listOf(size('10k,1m', 'leads of the databases; 10m takes 15 minutes and 12 GB')),
    rateSizes: listOf(size('100k,1m', 'leads of the databases that are listed over HTTP')),
    exportSize: size('1m', 'leads of the database that is exported'),
    steps: listOf(oneOf(stepNames, stepNames.join(), 'steps to run')),
    effort: number(0.01, 10, '1', 'measurements as a share of the usual number'),
  },
  async run({ steps: chosen, ...options }, { dataDir, onProgress }) {
    await using resources = new DisposeStack();
    const databases = await startFilledDatabases(dataDir, resources, onProgress);
    using load = startLoadProcess();
    const bench: ListBench = { ...options, databases, load, onProgress };
    const figures: Record<string, unknown> = { cores: availableParallelism() };
    for (const name of stepNames.filter((each) => chosen.includes(each))) {
      onProgress(`Step: ${name}`);
      figures[name] = await steps[name](bench);
    }
    return { figures };
  },
});
