import { AsyncLocalStorage } from 'node:async_hooks';
import type { LeadsError } from './errors.ts';

const watches = new AsyncLocalStorage<{ outage: LeadsError | undefined }>();

/** Records an outage of the database for {@link watchOutages}. */
export function noteOutage(outage: LeadsError): LeadsError {
  const watch = watches.getStore();
  if (watch !== undefined) watch.outage ??= outage;
  return outage;
}

/**
 * Runs work of a library that replaces or ignores errors of the database.
 *
 * @param work receives a function that returns the first outage that a statement of the work has met.
 */
export function watchOutages<Result>(
  work: (findOutage: () => LeadsError | undefined) => Promise<Result>,
): Promise<Result> {
  const watch: { outage: LeadsError | undefined } = { outage: undefined };
  return watches.run(watch, () => work(() => watch.outage));
}
