import type { StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/**
 * Stores leads together. A lead that the database refuses costs only itself: they are halved until it is alone.
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
  const [first, ...others] = items;
  if (first === undefined) return;
  let added: ReadonlyMap<string, StoredLead>;
  try {
    added = await leads.insert(items.map(({ lead }) => lead));
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    if (others.length === 0) {
      on.refused(first, error);
      return;
    }
    const half = items.length >> 1;
    await insertEach(leads, items.slice(0, half), on);
    await insertEach(leads, items.slice(half), on);
    return;
  }
  await on.stored(items, added);
}

/** Data, integrity, a limit of the program (PostgreSQL, appendix A): the row is at fault. */
function isRefusedRow(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'DatabaseError' &&
    /^(22|23|54)/.test((error as { sqlState?: string }).sqlState ?? '')
  );
}
