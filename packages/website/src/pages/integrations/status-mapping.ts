import type { LeadStatus } from '@leads/core/lead';

/** The macro of the status, with or without a mapping. */
const macro = /\{status(?::([^{}]*))?\}/;
const everyMacro = new RegExp(macro, 'g');

/** The names of statuses at a tracker. */
export type StatusMapping = Readonly<Partial<Record<LeadStatus, string>>>;

/** Returns the mapping of the first macro of the status in a template: `undefined` if there is no such macro. */
export function readMapping(template: string): StatusMapping | undefined {
  const found = macro.exec(template);
  if (found === null) return undefined;
  const entries = (found[1] ?? '').split(',').map((entry) => entry.split('=', 2));
  return Object.fromEntries(entries.filter(([status, name]) => status !== '' && name !== undefined));
}

/** Replaces the mapping of every macro of the status in a template. Characters of the syntax are removed from names. */
export function writeMapping(template: string, mapping: StatusMapping): string {
  const entries = Object.entries(mapping)
    .map(([status, name]) => [status, name.replaceAll(/[{}=,\s]/g, '')])
    .filter(([, name]) => name !== '');
  const text = entries.map((entry) => entry.join('=')).join(',');
  // A function, because a text could have replacement patterns.
  return template.replaceAll(everyMacro, () => (text === '' ? '{status}' : `{status:${text}}`));
}
