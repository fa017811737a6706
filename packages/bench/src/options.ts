import { parseArgs } from 'node:util';

const intakeSteps = ['table', 'overload', 'poison', 'events', 'soak', 'start', 'crm'] as const;
const listSteps = ['queries', 'indexes', 'rate', 'website', 'replica', 'export'] as const;
/** The commonest faults first. */
const scenarios = [
  'intake-killed',
  'relay-killed',
  'postgres-killed',
  'commit-cut',
  'postgres-frozen',
  'postgres-down',
  'nats-killed',
  'disks-full',
  'key-revoked',
  'postgres-replaced',
  'nats-cluster',
] as const;
/** A kind of fault (faults/scenarios.ts). */
export type ScenarioName = (typeof scenarios)[number];

/** What `bench` is told about the intake. */
export interface IntakeOptions {
  readonly command: 'intake';
  readonly steps: readonly (typeof intakeSteps)[number][];
  readonly connections: readonly number[];
  readonly rounds: number;
  /** Of one measurement. */
  readonly seconds: number;
  /** Of the soak. */
  readonly minutes: number;
  readonly workers: number;
  /** Where the data lies while it runs; a temporary place without it. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

/** What `bench list` is told. */
export interface ListOptions {
  readonly command: 'list';
  readonly sizes: readonly number[];
  readonly rateSizes: readonly number[];
  readonly exportSize: number;
  readonly steps: readonly (typeof listSteps)[number][];
  /** How often each thing is measured, as a share of what makes good figures. */
  readonly effort: number;
  /** Where filled databases stay for the next run; a temporary place without it. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

/** What `bench faults` is told. */
export interface FaultOptions {
  readonly command: 'faults';
  readonly scenarios: readonly ScenarioName[];
  /** Leads a second; where it is not said, half of what is measured, within bounds. */
  readonly rate: number | undefined;
  /** Seconds instead of minutes. */
  readonly short: boolean;
  /** Brokers sync each message to disk before they acknowledge it. */
  readonly syncAlways: boolean;
  /** Where the data lies while it runs; a temporary place without it. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

/** What `bench rolls` is told. */
export interface RollOptions {
  readonly command: 'rolls';
  /** How often each instance is stopped and started. */
  readonly rolls: number;
  /** Leads a second; a usual rate where it is not said. */
  readonly rate: number | undefined;
  /** Where the data lies while it runs; a temporary place without it. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

/** What `bench upgrade` is told. */
export interface UpgradeOptions {
  readonly command: 'upgrade';
  /** The git revision of the release before; where it is not said, see `defaultRevision`. */
  readonly from: string | undefined;
  /** Leads a second; a usual rate where it is not said. */
  readonly rate: number | undefined;
  /** Where the data lies while it runs; a temporary place without it. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

export type Options = IntakeOptions | ListOptions | FaultOptions | RollOptions | UpgradeOptions;

export const help = `Usage: npm run bench -- [intake | list | faults | rolls | upgrade] [options]

intake, which is what runs when nothing is said, measures how leads are taken, against what one would write instead.
list fills databases with leads and measures the list. faults kills what there is to kill under a steady load, and looks
for every lead that was acknowledged and for its events. rolls restarts instances one by one behind a proxy, and upgrade
replaces a release by this one, both under load. packages/bench/README.md tells how to read the figures.

Options of intake:
  --steps <names>          some of ${intakeSteps.join(',')} (default: table)
  --connections <numbers>  connections at once, of the table (default: 1,16,64,256)
  --rounds <number>        how often each thing is measured, in turn (default: 5)
  --seconds <number>       how long one measurement takes, 0.1 to 600 (default: 3)
  --minutes <number>       how long the soak takes, 0.01 to 1440 (default: 30)
  --workers <number>       INTAKE_WORKERS of the intake (default: 1)
  --data-dir <path>        where the databases lie meanwhile, on the disk that is meant (default: a temporary place)

Options of list:
  --sizes <sizes>        leads in the databases that are queried (default: 10k,1m; 10m takes a quarter of an hour and 12 GB);
                         the website shows the largest, in Chromium
  --rate-sizes <sizes>   leads in the databases that are asked over HTTP, the smallest with a replica (default: 100k,1m)
  --export-size <size>   leads of the export (default: 1m)
  --steps <names>        some of ${listSteps.join(',')} (default: all)
  --effort <number>      how often each thing is measured, as a share of the usual, 0.01 to 10 (default: 1)
  --data-dir <path>      keep the databases there, to be found filled by the next run

Options of faults:
  --scenarios <names>    some of ${scenarios.join(', ')}
                         (default: all, about 40 minutes)
  --rate <number>        leads a second (default: half of what is measured first, 1000 at most)
  --short                seconds instead of minutes, and a few kills instead of 20
  --sync-always          NATS is on disk before it acknowledges, as in production: nats-server 2.10 or newer
  --data-dir <path>      where the data lies meanwhile, on the disk that is meant (default: a temporary place)

Options of rolls:
  --rolls <number>       how often each instance is restarted (default: 20, about 4 minutes)
  --rate <number>        leads a second (default: 200)
  --data-dir <path>      where the data lies meanwhile (default: a temporary place)

Options of upgrade:
  --from <revision>      the release before, in git (default: the newest tag v* before this commit; where there is none, the
                         commit before the newest migration)
  --rate <number>        leads a second (default: 200)
  --data-dir <path>      where that release is built and the data lies meanwhile (default: a temporary place)

Options of all:
  --json                 the result as JSON, for machines; progress goes to stderr in any case
  --help`;

/**
 * @returns undefined when help is asked for.
 * @throws Error with one line about the first argument that does not hold.
 */
export function readOptions(args: readonly string[]): Options | undefined {
  if (args.includes('--help') || args.includes('-h')) return undefined;
  // What to measure comes first, if it is said at all.
  const [first = '', ...others] = args;
  if (first === 'list') return readListOptions(others);
  if (first === 'faults') return readFaultOptions(others);
  if (first === 'rolls') return readRollOptions(others);
  if (first === 'upgrade') return readUpgradeOptions(others);
  if (first === 'intake') return readIntakeOptions(others);
  if (first !== '' && !first.startsWith('-')) {
    throw new Error(
      `There is no ${first} to measure, but intake, list, faults, rolls and upgrade: see --help`,
    );
  }
  return readIntakeOptions(args);
}

function readIntakeOptions(args: readonly string[]): IntakeOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      steps: { type: 'string', default: 'table' },
      connections: { type: 'string', default: '1,16,64,256' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '3' },
      minutes: { type: 'string', default: '30' },
      workers: { type: 'string', default: '1' },
      'data-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    command: 'intake',
    steps: values.steps.split(',').map((text) => readStep(text, intakeSteps)),
    connections: values.connections.split(',').map((text) => readInteger('--connections', text, 1_000)),
    rounds: readInteger('--rounds', values.rounds, 1_000),
    seconds: readNumber('--seconds', values.seconds, 0.1, 600),
    minutes: readNumber('--minutes', values.minutes, 0.01, 1440),
    workers: readInteger('--workers', values.workers, 64),
    dataDir: values['data-dir'],
    json: values.json,
  };
}

function readListOptions(args: readonly string[]): ListOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: '10k,1m' },
      'rate-sizes': { type: 'string', default: '100k,1m' },
      'export-size': { type: 'string', default: '1m' },
      steps: { type: 'string', default: listSteps.join(',') },
      effort: { type: 'string', default: '1' },
      'data-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    command: 'list',
    sizes: values.sizes.split(',').map((text) => readSize('--sizes', text)),
    rateSizes: values['rate-sizes'].split(',').map((text) => readSize('--rate-sizes', text)),
    exportSize: readSize('--export-size', values['export-size']),
    steps: values.steps.split(',').map((text) => readStep(text, listSteps)),
    effort: readNumber('--effort', values.effort, 0.01, 10),
    dataDir: values['data-dir'],
    json: values.json,
  };
}

function readFaultOptions(args: readonly string[]): FaultOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scenarios: { type: 'string', default: scenarios.join(',') },
      rate: { type: 'string' },
      short: { type: 'boolean', default: false },
      'sync-always': { type: 'boolean', default: false },
      'data-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    command: 'faults',
    scenarios: values.scenarios.split(',').map((text) => {
      const name = scenarios.find((each) => each === text);
      if (name !== undefined) return name;
      throw new Error(`There is no scenario ${text}: --scenarios takes ${scenarios.join(', ')}`);
    }),
    rate: values.rate === undefined ? undefined : readInteger('--rate', values.rate, 100_000),
    short: values.short,
    syncAlways: values['sync-always'],
    dataDir: values['data-dir'],
    json: values.json,
  };
}

function readRollOptions(args: readonly string[]): RollOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rolls: { type: 'string', default: '20' },
      rate: { type: 'string' },
      'data-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    command: 'rolls',
    rolls: readInteger('--rolls', values.rolls, 1_000),
    rate: values.rate === undefined ? undefined : readInteger('--rate', values.rate, 100_000),
    dataDir: values['data-dir'],
    json: values.json,
  };
}

function readUpgradeOptions(args: readonly string[]): UpgradeOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      rate: { type: 'string' },
      'data-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    command: 'upgrade',
    from: values.from,
    rate: values.rate === undefined ? undefined : readInteger('--rate', values.rate, 100_000),
    dataDir: values['data-dir'],
    json: values.json,
  };
}

function readStep<Step extends string>(text: string, steps: readonly Step[]): Step {
  const step = steps.find((name) => name === text);
  if (step === undefined) throw new Error(`There is no step ${text}: --steps takes ${steps.join(', ')}`);
  return step;
}

function readNumber(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!(number >= least && number <= most)) {
    throw new Error(`${option} is a number from ${least} to ${most}, not ${text}`);
  }
  return number;
}

function readInteger(option: string, text: string, most: number): number {
  if (!/^[1-9]\d*$/.test(text) || Number(text) > most) {
    throw new Error(`${option} takes whole numbers from 1 to ${most}, not ${text}`);
  }
  return Number(text);
}

function readSize(option: string, text: string): number {
  const [, digits, unit] = /^([1-9]\d{0,8})([km]?)$/i.exec(text) ?? [];
  const size = Number(digits) * ({ k: 1_000, m: 1_000_000 }[unit?.toLowerCase() ?? ''] ?? 1);
  if (!(size >= 10_000 && size <= 100_000_000)) {
    throw new Error(`${option} takes sizes from 10k to 100m, as 10k,1m, not ${text}`);
  }
  return size;
}

/** 10000 as `10k`. */
export function formatSize(size: number): string {
  if (size % 1_000_000 === 0) return `${size / 1_000_000}m`;
  return size % 1_000 === 0 ? `${size / 1_000}k` : String(size);
}
