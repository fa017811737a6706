import { parseArgs } from 'node:util';

const steps = ['queries', 'indexes', 'rate', 'export'] as const;
type Step = (typeof steps)[number];

export interface Options {
  readonly sizes: readonly number[];
  readonly rateSizes: readonly number[];
  readonly exportSize: number;
  readonly steps: readonly Step[];
  /** How often each thing is measured, as a share of what makes good figures. */
  readonly effort: number;
  /** Where filled databases stay for the next run; a temporary place without it. */
  readonly dataDir: string | undefined;
  readonly json: boolean;
}

export const help = `Usage: npm run bench -- list [options]

Fills databases with leads and measures the list. See packages/bench/README.md for how to read the figures.

Options:
  --sizes <sizes>        leads in the databases that are queried (default: 10k,1m; 10m takes a quarter of an hour and 12 GB)
  --rate-sizes <sizes>   leads in the databases that are asked over HTTP (default: 100k,1m)
  --export-size <size>   leads of the export (default: 1m)
  --steps <names>        some of ${steps.join(',')} (default: all)
  --effort <number>      how often each thing is measured, as a share of the usual, 0.01 to 10 (default: 1)
  --data-dir <path>      keep the databases there, to be found filled by the next run
  --json                 the result as JSON, for machines; progress goes to stderr in any case
  --help`;

/**
 * @returns undefined when help is asked for.
 * @throws Error with one line about the first argument that does not hold.
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sizes: { type: 'string', default: '10k,1m' },
      'rate-sizes': { type: 'string', default: '100k,1m' },
      'export-size': { type: 'string', default: '1m' },
      steps: { type: 'string', default: steps.join(',') },
      effort: { type: 'string', default: '1' },
      'data-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  if (positionals.length !== 1 || positionals[0] !== 'list') {
    throw new Error(`What to measure? There is: list. See --help`);
  }
  const effort = Number(values.effort);
  if (!(effort >= 0.01 && effort <= 10))
    throw new Error(`--effort is a number from 0.01 to 10, not ${values.effort}`);
  return {
    sizes: values.sizes.split(',').map((text) => readSize('--sizes', text)),
    rateSizes: values['rate-sizes'].split(',').map((text) => readSize('--rate-sizes', text)),
    exportSize: readSize('--export-size', values['export-size']),
    steps: values.steps.split(',').map(readStep),
    effort,
    dataDir: values['data-dir'],
    json: values.json,
  };
}

function readStep(text: string): Step {
  const step = steps.find((name) => name === text);
  if (step === undefined) throw new Error(`There is no step ${text}: --steps takes ${steps.join(', ')}`);
  return step;
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
