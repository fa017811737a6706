import type { StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/**
 * Stores leads together. A lead that the database refuses costs only itself: where it is not named they are halved until it is
 * alone.
 *
 * @param stored is told of those that are stored, with what {@link LeadStore.insert} answers about them.
 * @param refused is told of one that cannot be stored.
 * @throws what keeps the database from storing any; what was told before is so all the same.
 */
export async function insertEach<Item extends { readonly lead: LeadToInsert }>(
  leads: Pick<LeadStore, 'insert'>,
  items: readonly Item[],
  on: {
    readonly stored: (items: readonly Item[], added: ReadonlyMap<string, StoredLead>) => Promise<void> | void;
    readonly refused: (item: Item, error: unknown) => void;
  },
): Promise<void> {
  if (items.length === 0) return;
  let added: ReadonlyMap<string, StoredLead>;
  try {
    added = await leads.insert(items.map(({ lead }) => lead));
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    // Of an id that is there twice, the first was tried.
    const refusedAt = items.length === 1 ? 0 : items.findIndex(({ lead }) => lead.id === error.rowId);
    const refused = items[refusedAt];
    if (refused !== undefined) {
      on.refused(refused, error);
      await insertEach(leads, items.toSpliced(refusedAt, 1), on);
      return;
    }
    const half = items.length >> 1;
    await insertEach(leads, items.slice(0, half), on);
    await insertEach(leads, items.slice(half), on);
    return;
  }
  await on.stored(items, added);
}

/** A row is at fault: data, integrity, a limit of the program (PostgreSQL, appendix A). */
function isRefusedRow(error: unknown): error is Error & { readonly rowId?: string } {
  return (
    error instanceof Error &&
    error.name === 'DatabaseError' &&
    /^(22|23|54)/.test((error as { sqlState?: string }).sqlState ?? '')
  );
}
