import type { BatchObserver } from '@leads/core/background/batcher';
import type { LeadBatcher } from '@leads/core/background/lead-batcher';
import type { Metrics } from './metrics.ts';

/** Histogram bounds of the leads in a batch. */
const sizeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/** Histogram bounds of the waiting time in seconds, from a fast commit to the maximum waiting time. */
const waitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Registers the metrics of batches and rejected leads. Returns the observer that records them. */
export function observeBatches(metrics: Metrics): BatchObserver {
  const sizes = metrics.histogram({ name: 'lead_batch_size', help: 'Leads in a batch.' }, sizeBounds);
  const waits = metrics.histogram(
    { name: 'lead_batch_wait_seconds', help: 'Time that a lead waited until its batch was sent.' },
    waitBounds,
  );
  let sheds = 0;
  metrics.counter(
    { name: 'lead_sheds_total', help: 'Leads rejected because the queue was full or the wait too long.' },
    () => sheds,
  );
  return {
    batch(waitsMs) {
      sizes.observe(waitsMs.length);
      for (const waitMs of waitsMs) waits.observe(waitMs / 1000);
    },
    shed() {
      sheds += 1;
    },
  };
}

/** Registers the gauges of waiting leads and batches in flight. */
export function registerBatchMetrics(metrics: Metrics, batcher: Pick<LeadBatcher, 'load'>): void {
  metrics.gauge(
    { name: 'lead_batch_queue_size', help: 'Leads that wait for a batch.' },
    () => batcher.load.waiting,
  );
  metrics.gauge(
    { name: 'lead_batches_in_flight', help: 'Batches in flight to the database.' },
    () => batcher.load.inFlight,
  );
}
