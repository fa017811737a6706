import { LeadsError, StoreError } from '../errors.ts';
import { keyReused } from './idempotency.ts';
import type { InsertOutcome, LeadStore, LeadToInsert } from './lead-store.ts';

/** The outcome of a lead that is stored. */
export type StoredOutcome = Exclude<InsertOutcome, { readonly result: 'key_reused' | 'unavailable' }>;

/**
 * Stores leads in one statement. If the store rejects a lead, the other leads are stored without it. If the store does
 * not name the rejected lead, the leads are halved until the lead is alone.
 *
 * @param on.stored receives each stored lead.
 * @param on.rejected receives a lead that cannot be stored, with the error of the store, or with LeadsError
 *   `idempotency_key_reused` or `unavailable`.
 * @throws any other error of the store. Leads that `on.stored` received remain stored.
 */
export async function insertEach<Item extends { readonly lead: LeadToInsert }>(
  leads: Pick<LeadStore, 'insert'>,
  items: readonly Item[],
  on: {
    readonly stored: (item: Item, outcome: StoredOutcome) => void;
    readonly rejected: (item: Item, error: unknown) => void;
  },
): Promise<void> {
  if (items.length === 0) return;
  let outcomes: readonly InsertOutcome[];
  try {
    outcomes = await leads.insert(items.map(({ lead }) => lead));
  } catch (error) {
    if (!(error instanceof StoreError && error.isRowRejected)) throw error;
    // If an id occurs twice, the first lead with the id is rejected.
    const index = items.length === 1 ? 0 : items.findIndex(({ lead }) => lead.id === error.rowId);
    const rejected = items[index];
    if (rejected !== undefined) {
      on.rejected(rejected, error);
      await insertEach(leads, items.toSpliced(index, 1), on);
      return;
    }
    const half = items.length >> 1;
    await insertEach(leads, items.slice(0, half), on);
    await insertEach(leads, items.slice(half), on);
    return;
  }
  for (const [at, item] of items.entries()) {
    const outcome = outcomes[at];
    if (outcome === undefined) throw new Error('The store returned fewer outcomes than leads');
    if (outcome.result === 'key_reused') on.rejected(item, keyReused());
    else if (outcome.result === 'unavailable')
      on.rejected(item, new LeadsError('unavailable', { retryAfterSeconds: 1 }));
    else on.stored(item, outcome);
  }
}
