import { texts } from '../../texts/index.ts';

/** The roles, as a list to choose from takes them. */
export const roleChoices = (['owner', 'manager', 'publisher'] as const).map((value) => ({
  value,
  label: texts.common.roles[value],
}));
