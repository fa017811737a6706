export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Parses the text format of Prometheus.
 *
 * @throws Error on an invalid line, and on a sample without a preceding type of its family.
 */
export function parseMetrics(text: string): {
  families: ReadonlyMap<string, { type: string; help: string }>;
  samples: Sample[];
} {
  const families = new Map<string, { type: string; help: string }>();
  const samples: Sample[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, kind, family = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind !== undefined) {
      const { type, help } = families.get(family) ?? { type: '', help: '' };
      families.set(family, kind === 'HELP' ? { type, help: rest } : { type: rest, help });
      continue;
    }
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || Number.isNaN(Number(value))) throw new Error(`Not a metric: ${line}`);
    if (!families.has(name) && !families.has(name.replace(/_(bucket|sum|count)$/, ''))) {
      throw new Error(`Sample without a type: ${line}`);
    }
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
    samples.push({
      name,
      labels: Object.fromEntries(pairs.map(([, label = '', labelValue = '']) => [label, labelValue])),
      value: Number(value),
    });
  }
  return { families, samples };
}

/** Returns the sum of all samples of a name that have the labels. */
export function sumOf(samples: readonly Sample[], name: string, labels: Sample['labels'] = {}): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
