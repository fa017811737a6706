/** The value that a share of all, from 0 to 1, does not exceed. NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The slope of the straight line that fits points of x and y best, by least squares. */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const covariance = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  return covariance / mean(points.map(([x]) => (x - meanX) ** 2));
}
