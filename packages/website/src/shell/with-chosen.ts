export interface Option {
  readonly value: string;
  readonly label: string;
}

/**
 * Returns the options of a select with further ones for chosen values that are not among them. Without these, the select
 * looks as if nothing is chosen until its options are loaded, and for a value that is none of them.
 */
export const withChosen = (
  options: readonly Option[],
  chosen: readonly (string | undefined)[],
  labelOf: (value: string) => string,
): Option[] => [
  ...options,
  ...chosen.flatMap((value) =>
    value === undefined || options.some((option) => option.value === value)
      ? []
      : { value, label: labelOf(value) },
  ),
];
