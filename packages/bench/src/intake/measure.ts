import { availableParallelism } from 'node:os';
import type { IntakeOptions } from '../options.ts';
import { compare, type Comparison } from './compare.ts';
import { startContenders } from './contenders.ts';
import { type CrmFigures, measureCrm } from './crm.ts';
import { type Cluster, startCluster } from './database.ts';
import { type EventsFigures, measureEvents } from './events.ts';
import { type LoadProcess, startLoadProcess } from './load.ts';
import { measureOverload, type OverloadFigures } from './overload.ts';
import { measurePoison, type PoisonFigures } from './poison.ts';
import { measureSoak, type SoakFigures } from './soak.ts';
import { measureStart, type StartFigures } from './start.ts';

/** Everything that `bench` measures of the intake; what was not asked for is absent. */
export interface IntakeFigures {
  readonly cores: number;
  readonly node: string;
  /** Of Postgres. */
  readonly settings: readonly string[];
  readonly workers: number;
  readonly rounds: number;
  readonly seconds: number;
  comparison?: Comparison;
  overload?: OverloadFigures;
  poison?: PoisonFigures;
  events?: EventsFigures;
  soak?: SoakFigures;
  start?: StartFigures;
  crm?: CrmFigures;
}

/** What the steps are measured with. */
export interface Bench {
  readonly cluster: Cluster;
  readonly load: LoadProcess;
  readonly options: IntakeOptions;
  readonly onProgress: (line: string) => void;
}

export async function measureIntake(
  options: IntakeOptions,
  onProgress: (line: string) => void,
): Promise<IntakeFigures> {
  const { steps, workers, rounds, seconds } = options;
  await using cluster = await startCluster(options.dataDir, Math.max(...options.connections));
  using load = startLoadProcess();
  const bench: Bench = { cluster, load, options, onProgress };
  const figures: IntakeFigures = {
    cores: availableParallelism(),
    node: process.version,
    settings: cluster.settings,
    workers,
    rounds,
    seconds,
  };
  if (steps.includes('table')) {
    onProgress('The intake and what it is measured against');
    const contenders = await startContenders(cluster, load, workers);
    try {
      figures.comparison = await compare(contenders, options, onProgress);
    } finally {
      for (const contender of contenders) await contender[Symbol.asyncDispose]();
    }
  }
  if (steps.includes('overload')) figures.overload = await measureOverload(bench);
  if (steps.includes('poison')) figures.poison = await measurePoison(bench);
  if (steps.includes('events')) figures.events = await measureEvents(bench);
  if (steps.includes('crm')) figures.crm = await measureCrm(bench);
  if (steps.includes('start')) figures.start = await measureStart(bench);
  if (steps.includes('soak')) figures.soak = await measureSoak(bench);
  return figures;
}
