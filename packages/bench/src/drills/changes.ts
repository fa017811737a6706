import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '@leads/local-stack/processes/services';
import type { Part } from './part.ts';

/** Changes the status of some of the newest leads twice, again and again, so that leads have events with an order. */
export class StatusChanger implements AsyncDisposable {
  readonly #relays: readonly Part<Service>[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #changed = new Set<string>();
  readonly #isOver = new AbortController();
  readonly #running: Promise<void>;

  constructor(relays: readonly Part<Service>[], headers: Readonly<Record<string, string>>) {
    this.#relays = relays;
    this.#headers = { ...headers, 'Content-Type': 'application/json' };
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#isOver;
    while (!signal.aborted) {
      try {
        await this.#change();
      } catch {
        // Whoever is asked may be just the one that was killed.
      }
      await sleep(100, undefined, { signal }).catch(() => undefined);
    }
  }

  async #change(): Promise<void> {
    const relay = this.#relays.find(({ isThere }) => isThere);
    if (relay === undefined) return;
    const ask = async (path: string, request?: RequestInit): Promise<unknown> => {
      const response = await fetch(`${relay.process.url}/api/v1/order/leads${path}`, {
        ...request,
        headers: this.#headers,
        signal: AbortSignal.timeout(5_000),
      });
      return response.json();
    };
    const newest = (await ask('?limit=10&status=OnHold')) as { id: string }[];
    const ids = newest.map(({ id }) => id).filter((id) => !this.#changed.has(id));
    if (ids.length === 0) return;
    for (const id of ids) this.#changed.add(id);
    for (const status of ['Approved', 'OnHold']) {
      await ask('/status', { method: 'POST', body: JSON.stringify({ ids, status }) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver.abort();
    await this.#running;
  }
}
