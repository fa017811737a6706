import { memberRoles } from '@leads/core/credential/roles';
import * as texts from '../../texts/index.ts';

/** The roles as options of a select. */
export const roleChoices = memberRoles.map((value) => ({
  value,
  label: texts.common.roles[value],
}));
