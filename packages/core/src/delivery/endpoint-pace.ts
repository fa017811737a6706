import type { DueEndpoint } from './delivery-queue.ts';

/** The concurrent requests to one endpoint: at first, at most, and after a failure until the next success. */
const bounds = { initial: 4, max: 50, failing: 1 };

interface Pace {
  readonly workspaceId: string;
  running: number;
  limit: number;
  /** Those of the running requests that began after a failure. */
  probing: number;
}

/**
 * Limits the concurrent requests to each endpoint, of each workspace, and in total. The limit of an endpoint grows by one
 * with each success, and is one after a failure, so that a receiver that hangs takes no room from others. A workspace may
 * begin a further request while it has fewer requests than are free (dynamic thresholds, as in {@link FairShares}). So one
 * workspace gets at most half of the requests, also with many endpoints that are slow.
 *
 * Many endpoints may hang at once, for example all of one host. So the failing endpoints of a workspace have fewer requests
 * than the workspace may still begin, and those of all workspaces have fewer than are free.
 */
export class EndpointPace {
  readonly #paces = new Map<string, Pace>();
  readonly #maxRunning: number;
  /** The running requests by workspace. */
  readonly #taken = new Map<string, number>();
  /** Those of them that began after a failure of their endpoint. */
  readonly #probing = new Map<string, number>();
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
    const probing = new Map(this.#probing);
    let free = this.#maxRunning - this.#running;
    let allProbing = [...probing.values()].reduce((sum, each) => sum + each, 0);
    let wanting = this.#inTurn(shuffled(endpoints));
    while (wanting.length > 0) {
      const next: typeof wanting = [];
      for (const each of wanting) {
        const ofWorkspace = taken.get(each.workspaceId) ?? 0;
        if (each.left === 0 || ofWorkspace >= free) continue;
        if (each.isFailing) {
          const ofFailing = probing.get(each.workspaceId) ?? 0;
          if (ofFailing >= free - ofWorkspace || allProbing >= free) continue;
          probing.set(each.workspaceId, ofFailing + 1);
          allProbing += 1;
        }
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
    const pace = this.#paces.get(id) ?? { workspaceId, running: 0, limit: bounds.initial, probing: 0 };
    pace.running += 1;
    // Several requests may begin after a failure, because another request may fail while their deliveries are claimed.
    if (pace.limit === bounds.failing) {
      pace.probing += 1;
      change(this.#probing, workspaceId, 1);
    }
    this.#paces.set(id, pace);
    change(this.#taken, workspaceId, 1);
    this.#running += 1;
  }

  end(endpointId: string, isSuccess: boolean): void {
    const pace = this.#paces.get(endpointId);
    if (pace === undefined) return;
    pace.running -= 1;
    if (pace.probing > 0) {
      pace.probing -= 1;
      change(this.#probing, pace.workspaceId, -1);
    }
    pace.limit = isSuccess ? Math.min(bounds.max, pace.limit + 1) : bounds.failing;
    change(this.#taken, pace.workspaceId, -1);
    this.#running -= 1;
  }

  /** Sorts failing endpoints by the requests that their workspace has for such endpoints, so that workspaces take turns. */
  #inTurn(endpoints: readonly DueEndpoint[]) {
    const failing = new Map(this.#probing);
    return endpoints
      .map(({ id, workspaceId }) => {
        const isFailing = this.#paces.get(id)?.limit === bounds.failing;
        const turn = isFailing ? (failing.get(workspaceId) ?? 0) : 0;
        if (isFailing) failing.set(workspaceId, turn + 1);
        return { id, workspaceId, left: this.#freeOf(id), isFailing, turn };
      })
      .toSorted((a, b) => a.turn - b.turn);
  }

  #freeOf(endpointId: string): number {
    const { running, limit } = this.#paces.get(endpointId) ?? { running: 0, limit: bounds.initial };
    return Math.max(0, limit - running);
  }
}

/** Changes the number of a workspace. */
function change(numbers: Map<string, number>, workspaceId: string, by: 1 | -1): void {
  const number = (numbers.get(workspaceId) ?? 0) + by;
  if (number === 0) numbers.delete(workspaceId);
  else numbers.set(workspaceId, number);
}

/** Returns the items in random order, so that no endpoint is always the first. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
