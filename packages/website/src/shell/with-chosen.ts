interface Option {
  readonly value: string;
  readonly label: string;
}

/**
 * Returns the options of a select with one for the chosen value. Without it, the select looks as if nothing is chosen
 * until the options are loaded, and for a value that is none of them.
 */
export const withChosen = (
  options: readonly Option[],
  chosen: string | undefined,
  labelOf: (value: string) => string,
): Option[] =>
  chosen === undefined || options.some(({ value }) => value === chosen)
    ? [...options]
    : [...options, { value: chosen, label: labelOf(chosen) }];
