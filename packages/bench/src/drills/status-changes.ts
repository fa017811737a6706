import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '@leads/local-stack/processes/services';
import { crmLeadsPath } from '../load/requests.ts';
import type { Restartable } from '../stack/restartable.ts';

/**
 * Changes the status of some of the newest leads twice until it is disposed, so leads have several events in
 * order.
 */
export class StatusChanges implements AsyncDisposable {
  readonly #relays: readonly Restartable<Service>[];
  readonly #headers: Readonly<Record<string, string>>;
  readonly #changedIds = new Set<string>();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(relays: readonly Restartable<Service>[], headers: Readonly<Record<string, string>>) {
    this.#relays = relays;
    this.#headers = { ...headers, 'Content-Type': 'application/json' };
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      // The CRM may have been killed during the request.
      await this.#change().catch(() => undefined);
      await sleep(750, undefined, { signal }).catch(() => undefined);
    }
  }

  async #change(): Promise<void> {
    const relay = this.#relays.find(({ isRunning }) => isRunning);
    if (relay === undefined) return;
    const send = async (path: string, request?: RequestInit): Promise<unknown> => {
      const response = await fetch(`${relay.process.url}${crmLeadsPath}${path}`, {
        ...request,
        headers: this.#headers,
        signal: AbortSignal.timeout(5_000),
      });
      return response.json();
    };
    const newest = (await send('?limit=10&status=OnHold')) as { id: string }[];
    const ids = newest.map(({ id }) => id).filter((id) => !this.#changedIds.has(id));
    if (ids.length === 0) return;
    for (const id of ids) this.#changedIds.add(id);
    for (const status of ['Approved', 'OnHold']) {
      await send('/status', { method: 'POST', body: JSON.stringify({ ids, status }) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
