import { BackgroundLoop } from '../background/background-loop.ts';
import { BatchSize } from '../background/batch-size.ts';
import type { OverviewStore } from './overview-store.ts';

/** The pause between two aggregations, in milliseconds. */
const intervalMs = 5_000;
/** Leads in one aggregation. It takes 0.7 s if all sub-ids differ, and some hundredths of a second if few differ. */
export const maxLeadsPerAggregation = 5_000;
const minLeadsPerAggregation = 100;

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
    const count = await this.#batchSize.adjust(() => this.#store.aggregate(limit));
    return count < limit ? intervalMs : 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
