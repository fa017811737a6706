import { StoreError } from '../errors.ts';
import type { StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/**
 * Stores leads in one statement. If the store rejects a lead, the other leads are stored without it. If the store does
 * not name the rejected lead, the leads are halved until the lead is alone.
 *
 * @param on.stored receives the stored leads and the result of {@link LeadStore.insert}.
 * @param on.rejected receives a lead that cannot be stored.
 * @throws any other error of the store. Leads that `on.stored` received remain stored.
 */
export async function insertEach<Item extends { readonly lead: LeadToInsert }>(
  leads: Pick<LeadStore, 'insert'>,
  items: readonly Item[],
  on: {
    readonly stored: (items: readonly Item[], added: ReadonlyMap<string, StoredLead>) => Promise<void> | void;
    readonly rejected: (item: Item, error: unknown) => void;
  },
): Promise<void> {
  if (items.length === 0) return;
  let added: ReadonlyMap<string, StoredLead>;
  try {
    added = await leads.insert(items.map(({ lead }) => lead));
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
  await on.stored(items, added);
}
