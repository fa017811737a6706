import { leads as t } from '../texts/leads.ts';

/** Returns the shown name of a lead. The service accepts a name of spaces, which would make an empty link. */
export const shownName = (name: string): string => name.trim() || t.noName;
