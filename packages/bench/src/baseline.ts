import committed from './baseline.json' with { type: 'json' };

/** A ratio of a subject to its reference in one run. */
export interface Ratio {
  /** The figure, and its subject if it is not the intake. A rate ends in `/s`. */
  readonly ratio: string;
  /** The reference. */
  readonly to: string;
  readonly connections: number;
  readonly found: number;
}

/** The ratios of a former run by step. `--check` runs these steps. */
export const baselines: { readonly [Step in 'table' | 'crmload' | 'rate']: readonly Ratio[] } =
  committed.ratios;

/** The share by which a ratio may be worse than in the baseline. */
const tolerance = 0.15;

/**
 * Compares the ratios of a run with those of the baseline. A rate is worse if it is lower, any other figure if it is
 * higher.
 *
 * @returns the ratios that are worse by more than 15 %, and those that the run has not measured.
 */
export function worseRatios(
  measured: readonly Ratio[],
  baseline: readonly Ratio[],
): (Ratio & { readonly baseline: number })[] {
  return baseline.flatMap((known) => {
    const found =
      measured.find(
        ({ ratio, to, connections }) =>
          ratio === known.ratio && to === known.to && connections === known.connections,
      )?.found ?? Number.NaN;
    const isGood = known.ratio.endsWith('/s')
      ? found >= known.found * (1 - tolerance)
      : found <= known.found * (1 + tolerance);
    return isGood ? [] : [{ ...known, found, baseline: known.found }];
  });
}
