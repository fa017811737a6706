import * as texts from '../../texts/index.ts';

/** The roles as options of a select. */
export const roleChoices = (['owner', 'manager', 'publisher'] as const).map((value) => ({
  value,
  label: texts.common.roles[value],
}));
