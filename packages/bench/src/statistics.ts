/**
 * Returns the smallest value that at least `share` (0 to 1) of all values do not exceed; NaN without values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the standard error of the mean of values; NaN for fewer than 2 values. */
export function standardError(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/** Returns the median of each figure over all rounds. */
export function medianFigures<Figures extends Readonly<Record<string, number>>>(
  rounds: readonly Figures[],
): Figures {
  const names = Object.keys(rounds[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [name, median(rounds.map((round) => round[name] ?? Number.NaN))]),
  ) as Figures;
}

/** Returns the median over the rounds of the ratio of two values of the same round. */
export function medianRatio(values: readonly number[], references: readonly number[]): number {
  return median(values.map((value, round) => value / (references[round] ?? Number.NaN)));
}

/** Returns the slope of the least-squares line through points of x and y. */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const covariance = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  return covariance / mean(points.map(([x]) => (x - meanX) ** 2));
}

/**
 * Measures each subject once per round. Each round starts with another subject, so changes of the machine's
 * speed affect all subjects alike. A first round is a warm-up and is dropped.
 *
 * @returns the figures of each subject, one for each round.
 */
export async function measureInTurn<Subject, Figures>(
  subjects: readonly Subject[],
  rounds: number,
  measure: (subject: Subject) => Promise<Figures>,
): Promise<Figures[][]> {
  const measured = subjects.map((): Figures[] => []);
  for (let round = -1; round < rounds; round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const index = (turn + round + 1) % subjects.length;
      const figures = await measure(subjects[index] as Subject);
      if (round >= 0) measured[index]?.push(figures);
    }
  }
  return measured;
}

/** Returns the duration of `work` in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Returns a number of measurements: a share of the usual number, but at least `min`. */
export function scaled(usual: number, effort: number, min = 1): number {
  return Math.max(min, Math.round(usual * effort));
}
