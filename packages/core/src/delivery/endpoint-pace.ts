import type { DueEndpoint } from './delivery-queue.ts';

/** The concurrent requests to one endpoint: at first, and at most. */
const bounds = { initial: 4, max: 50 };

interface Pace {
  readonly workspaceId: string;
  running: number;
  limit: number;
}

/**
 * Limits the concurrent requests to each endpoint, of each workspace, and in total. The limit of an endpoint grows by one
 * with each success, and is one after a failure, so that a receiver that hangs takes no room from others. A workspace may
 * begin a further request while it has fewer requests than are free (dynamic thresholds, as in {@link FairShares}). So one
 * workspace gets at most half of the requests, also with many endpoints that are slow.
 */
export class EndpointPace {
  readonly #paces = new Map<string, Pace>();
  readonly #maxRunning: number;
  /** The running requests by workspace. */
  readonly #taken = new Map<string, number>();
  #running = 0;

  /** @param maxRunning the maximum of concurrent requests to all endpoints. */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  get running(): number {
    return this.#running;
  }

  /** Returns how many requests each endpoint may begin. Endpoints take turns if there is not enough room for all. */
  share(endpoints: readonly DueEndpoint[]): Map<string, number> {
    const room = new Map<string, number>();
    const taken = new Map(this.#taken);
    let free = this.#maxRunning - this.#running;
    let wanting = shuffled(endpoints).map(({ id, workspaceId }) => ({
      id,
      workspaceId,
      left: this.#freeOf(id),
    }));
    while (wanting.length > 0) {
      const next: typeof wanting = [];
      for (const each of wanting) {
        const ofWorkspace = taken.get(each.workspaceId) ?? 0;
        if (each.left === 0 || ofWorkspace >= free) continue;
        room.set(each.id, (room.get(each.id) ?? 0) + 1);
        taken.set(each.workspaceId, ofWorkspace + 1);
        each.left -= 1;
        free -= 1;
        next.push(each);
      }
      wanting = next;
    }
    return room;
  }

  begin({ id, workspaceId }: DueEndpoint): void {
    const pace = this.#paces.get(id) ?? { workspaceId, running: 0, limit: bounds.initial };
    pace.running += 1;
    this.#paces.set(id, pace);
    this.#change(workspaceId, 1);
  }

  end(endpointId: string, isSuccess: boolean): void {
    const pace = this.#paces.get(endpointId);
    if (pace === undefined) return;
    pace.running -= 1;
    pace.limit = isSuccess ? Math.min(bounds.max, pace.limit + 1) : 1;
    this.#change(pace.workspaceId, -1);
  }

  #change(workspaceId: string, change: 1 | -1): void {
    const taken = (this.#taken.get(workspaceId) ?? 0) + change;
    if (taken === 0) this.#taken.delete(workspaceId);
    else this.#taken.set(workspaceId, taken);
    this.#running += change;
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
