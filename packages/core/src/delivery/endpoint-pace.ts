/** The concurrent requests to one endpoint: at first, and at most. */
const bounds = { initial: 4, max: 50 };

interface Pace {
  running: number;
  limit: number;
}

/**
 * Limits the concurrent requests to each endpoint, and in total. The limit of an endpoint grows by one with each success,
 * and is one after a failure, so that a receiver that hangs takes no room from others.
 */
export class EndpointPace {
  readonly #paces = new Map<string, Pace>();
  readonly #maxRunning: number;
  #running = 0;

  /** @param maxRunning the maximum of concurrent requests to all endpoints. */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  get running(): number {
    return this.#running;
  }

  /** Returns how many requests each endpoint may begin. Endpoints take turns if there is not enough room for all. */
  share(endpointIds: readonly string[]): Map<string, number> {
    const room = new Map<string, number>();
    let free = this.#maxRunning - this.#running;
    let wanting = shuffled(endpointIds).map((id) => ({ id, left: this.#freeOf(id) }));
    while (free > 0) {
      wanting = wanting.filter(({ left }) => left > 0);
      if (wanting.length === 0) break;
      for (const each of wanting.slice(0, free)) {
        room.set(each.id, (room.get(each.id) ?? 0) + 1);
        each.left -= 1;
        free -= 1;
      }
    }
    return room;
  }

  begin(endpointId: string): void {
    const pace = this.#paces.get(endpointId) ?? { running: 0, limit: bounds.initial };
    pace.running += 1;
    this.#paces.set(endpointId, pace);
    this.#running += 1;
  }

  end(endpointId: string, isSuccess: boolean): void {
    const pace = this.#paces.get(endpointId);
    if (pace === undefined) return;
    pace.running -= 1;
    pace.limit = isSuccess ? Math.min(bounds.max, pace.limit + 1) : 1;
    this.#running -= 1;
  }

  #freeOf(endpointId: string): number {
    const { running, limit } = this.#paces.get(endpointId) ?? { running: 0, limit: bounds.initial };
    return Math.max(0, limit - running);
  }
}

/** Returns the items in random order, so that no endpoint is always the first. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
