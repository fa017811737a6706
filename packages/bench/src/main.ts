import { availableParallelism, constants } from 'node:os';
import { findChromium } from '@leads/local-stack/processes/find-chromium';
import { listenForStop } from '@leads/local-stack/stop-request';
import { measureFaults } from './drills/measure.ts';
import { isKept, reportFaults } from './drills/report.ts';
import { measureIntake } from './intake/measure.ts';
import { reportIntake } from './intake/report.ts';
import { openDatabases } from './list/databases.ts';
import { measureExport } from './list/export.ts';
import { measureIndexPrices } from './list/index-prices.ts';
import { measureQueries } from './list/queries.ts';
import { measureRates } from './list/rate.ts';
import { measureReplica } from './list/replica.ts';
import { measureWebsite } from './list/website.ts';
import { help, type ListOptions, readOptions } from './options.ts';
import { type ListFigures, report } from './report.ts';
import { isSmooth, reportRolls, reportUpgrade } from './rolling/report.ts';
import { measureRolls } from './rolling/rolls.ts';
import { isUnnoticed } from './rolling/traffic.ts';
import { measureUpgrade } from './rolling/upgrade.ts';

const progress = (line: string) => console.error(line);

async function measureList(options: ListOptions): Promise<ListFigures> {
  const { sizes, rateSizes, exportSize, steps, effort } = options;
  // Whoever has to install it first hears so at once.
  const chromium = steps.includes('website') ? await findChromium() : undefined;
  await using databases = await openDatabases(options.dataDir, progress);
  const figures: ListFigures = {
    cores: availableParallelism(),
    queries: [],
    indexes: [],
    rates: [],
    website: [],
    exports: [],
    replica: [],
  };

  if (steps.includes('queries')) {
    const urls = new Map<number, string>();
    for (const leads of sizes) urls.set(leads, await databases.filled(leads));
    figures.queries.push(...(await measureQueries(urls, effort, progress)));
  }
  if (steps.includes('rate')) {
    for (const leads of rateSizes) {
      const url = await databases.filled(leads);
      progress(`The newest 100 over HTTP, from ${leads} leads`);
      figures.rates.push(...(await measureRates(url, leads, effort, progress)));
    }
  }
  if (steps.includes('indexes')) {
    const leads = Math.max(...sizes);
    const url = await databases.filled(leads);
    figures.indexes.push(...(await measureIndexPrices(url, leads, effort, progress)));
  }
  if (chromium !== undefined) {
    const leads = Math.max(...sizes);
    const url = await databases.filled(leads);
    figures.website.push(...(await measureWebsite(url, leads, { chromium, effort, onProgress: progress })));
  }
  if (steps.includes('replica')) {
    figures.replica.push(...(await measureReplica(Math.min(...rateSizes), effort, progress)));
  }
  // Last, since it adds leads.
  if (steps.includes('export')) {
    const url = await databases.filled(exportSize);
    figures.exports.push(...(await measureExport(url, exportSize, effort, progress)));
  }
  return figures;
}

/** As a shell tells it of a process that a signal has ended. */
const exitStopped = () => process.exit(128 + constants.signals[stop.reason as NodeJS.Signals]);
const stop = listenForStop(exitStopped);
try {
  const options = readOptions(process.argv.slice(2));
  // What these have started is told to end when this process does; what faults have, which write on until they have
  // ended, is waited for.
  if (options?.command !== 'faults') stop.addEventListener('abort', exitStopped);
  const print = <Figures>(figures: Figures, asTables: (figures: Figures) => string) =>
    console.log(options?.json === true ? JSON.stringify(figures, undefined, 2) : asTables(figures));
  if (options === undefined) console.log(help);
  else if (options.command === 'list') print(await measureList(options), report);
  else if (options.command === 'faults') {
    const figures = await measureFaults(options, progress, stop);
    print(figures, reportFaults);
    if (!figures.drills.every(isKept)) process.exitCode = 1;
  } else if (options.command === 'rolls') {
    const figures = await measureRolls(options, progress);
    print(figures, reportRolls);
    if (!isUnnoticed(figures)) process.exitCode = 1;
  } else if (options.command === 'upgrade') {
    const figures = await measureUpgrade(options, progress);
    print(figures, reportUpgrade);
    if (!isSmooth(figures)) process.exitCode = 1;
  } else print(await measureIntake(options, progress), reportIntake);
} catch (error) {
  // What was under way may be so still, without an end of its own.
  if (stop.aborted) exitStopped();
  console.error((error as Error).message);
  process.exitCode = 1;
}
