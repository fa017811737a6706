/** The waiting items of one tenant, oldest first. */
interface Backlog<Item> {
  readonly items: Item[];
  size: number;
}

/**
 * A bounded queue of items of many tenants. A tenant may add an item while it has fewer items than there is room for
 * (dynamic thresholds, as in {@link FairShares}). So one tenant gets at most half of the queue. If more items wait than
 * are taken, the tenants take turns. The items of one tenant keep their order.
 */
export class FairBacklog<Item extends { readonly size: number }> {
  readonly #maxItems: number;
  readonly #maxSize: number;
  /** By tenant, in the order of the tenants' turns. */
  readonly #backlogs = new Map<string, Backlog<Item>>();
  #count = 0;
  #size = 0;

  /** @param bounds the maximum number of items, and the maximum sum of their sizes. */
  constructor({ items, size }: { readonly items: number; readonly size: number }) {
    this.#maxItems = items;
    this.#maxSize = size;
  }

  /** The number of waiting items. */
  get count(): number {
    return this.#count;
  }

  /** Whether the tenant may add an item. */
  hasRoom(tenant: string): boolean {
    const backlog = this.#backlogs.get(tenant);
    const items = backlog?.items.length ?? 0;
    const size = backlog?.size ?? 0;
    return items < this.#maxItems - this.#count && size < this.#maxSize - this.#size;
  }

  add(tenant: string, item: Item): void {
    const backlog = this.#backlogs.get(tenant);
    if (backlog === undefined) this.#backlogs.set(tenant, { items: [item], size: item.size });
    else {
      backlog.items.push(item);
      backlog.size += item.size;
    }
    this.#count += 1;
    this.#size += item.size;
  }

  /**
   * Removes and returns items, as many of each tenant as of the others, and of the same size in all.
   *
   * @param maxSize the sum of the sizes from which no further item is taken.
   */
  take(maxItems: number, maxSize: number): Item[] {
    const taken: Item[] = [];
    let room = maxSize;
    const isFull = () => taken.length === maxItems || (taken.length > 0 && room <= 0);
    while (this.#count > 0 && !isFull()) {
      const share = Math.max(1, Math.floor((maxItems - taken.length) / this.#backlogs.size));
      const sizeShare = room / this.#backlogs.size;
      // A tenant that is set again comes last, so the loop over the map itself would visit it again.
      const turns = [...this.#backlogs];
      for (const [tenant, backlog] of turns) {
        if (isFull()) break;
        const removed = this.#remove(tenant, backlog, countFitting(backlog.items, share, sizeShare));
        for (const item of removed) {
          taken.push(item);
          room -= item.size;
        }
        if (backlog.items.length > 0) this.#backlogs.set(tenant, backlog);
      }
    }
    return taken;
  }

  /** Removes and returns the oldest items of each tenant that meet a condition. */
  takeWhile(condition: (item: Item) => boolean): Item[] {
    const taken: Item[] = [];
    const turns = [...this.#backlogs];
    for (const [tenant, backlog] of turns) {
      const end = backlog.items.findIndex((item) => !condition(item));
      if (end === 0) continue;
      taken.push(...this.#remove(tenant, backlog, end === -1 ? backlog.items.length : end));
      if (backlog.items.length > 0) this.#backlogs.set(tenant, backlog);
    }
    return taken;
  }

  /** Removes the oldest items of a tenant, and the tenant from the turns. */
  #remove(tenant: string, backlog: Backlog<Item>, count: number): Item[] {
    const removed = backlog.items.splice(0, count);
    for (const { size } of removed) {
      backlog.size -= size;
      this.#size -= size;
    }
    this.#count -= removed.length;
    this.#backlogs.delete(tenant);
    return removed;
  }
}

/** Returns the number of first items with a sum of sizes up to `maxSize`, but at least 1 and at most `maxItems`. */
function countFitting(
  items: readonly { readonly size: number }[],
  maxItems: number,
  maxSize: number,
): number {
  let sum = 0;
  let count = 0;
  for (const { size } of items) {
    sum += size;
    if (count === maxItems || (count > 0 && sum > maxSize)) break;
    count += 1;
  }
  return count;
}
