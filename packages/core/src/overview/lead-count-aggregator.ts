import { BackgroundLoop } from '../background/background-loop.ts';
import { BatchSize } from '../background/batch-size.ts';
import type { OverviewStore } from './overview-store.ts';

/** The pause between two aggregations, in milliseconds. */
const intervalMs = 5_000;
/**
 * Leads in one aggregation. It takes 3 ms if all sub-ids differ. A larger one would delay creates for longer, such as while
 * many leads are approved, and one of 1,000 leads takes nearly as long for each lead.
 */
export const maxLeadsPerAggregation = 250;
const minLeadsPerAggregation = 25;

/** Aggregates new lead counts every few seconds, outside of requests. */
export class LeadCountAggregator implements AsyncDisposable {
  readonly #store: Pick<OverviewStore, 'aggregate'>;
  readonly #batchSize = new BatchSize({ min: minLeadsPerAggregation, max: maxLeadsPerAggregation });
  readonly #loop: BackgroundLoop;

  /** @param onError called for every failed aggregation. */
  constructor(store: Pick<OverviewStore, 'aggregate'>, onError: (error: unknown) => void) {
    this.#store = store;
    this.#loop = new BackgroundLoop({
      step: () => this.#aggregate(),
      onError,
      reportsEveryError: true,
      firstPauseMs: intervalMs,
      retryMs: intervalMs,
    });
  }

  async #aggregate(): Promise<number> {
    const limit = this.#batchSize.current;
    const startMs = performance.now();
    const count = await this.#batchSize.adjust(() => this.#store.aggregate(limit));
    // Postgres has three quarters of the time for requests.
    return count < limit ? intervalMs : 3 * (performance.now() - startMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
