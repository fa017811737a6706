import { LeadsError } from '@leads/core/errors';
import {
  insertEach,
  type LeadSink,
  type LeadStore,
  type LeadToInsert,
  type StoredOutcome,
} from '@leads/core/lead';
import { charactersOf } from '../lead/lead.ts';
import { type BatchBounds, Batcher, type BatchObserver } from './batcher.ts';

/**
 * Stores leads of concurrent requests in batches, each in one statement and one commit. The promise of a lead resolves when
 * the lead is committed.
 */
export class LeadBatcher extends Batcher<LeadToInsert, StoredOutcome> implements LeadSink {
  constructor(
    leads: Pick<LeadStore, 'insert'>,
    options: { bounds?: Partial<BatchBounds> | undefined; observer?: BatchObserver | undefined } = {},
  ) {
    super(
      {
        workspaceOf: ({ workspaceId }) => workspaceId,
        charactersOf,
        process: (batch) =>
          insertEach(
            leads,
            batch.map(({ item, resolve, reject }) => ({ lead: item, resolve, reject })),
            {
              stored: ({ resolve }, outcome) => resolve(outcome),
              rejected: ({ reject }, error) => reject(toInvalidInput(error)),
            },
          ),
      },
      options,
    );
  }
}

/** Returns the error of a request whose values the database rejects. */
function toInvalidInput(error: unknown): LeadsError {
  if (error instanceof LeadsError) return error;
  const reason = 'The body has a value that cannot be stored';
  return new LeadsError('invalid_input', { fields: [{ at: 'body', reason }], cause: error });
}
