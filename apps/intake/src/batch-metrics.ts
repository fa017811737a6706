import type { BatchObserver, LeadBatcher } from '@leads/core/background/lead-batcher';
import type { Metrics } from '@leads/http/service/metrics';

/** Leads in a batch. */
const sizeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/** In seconds: from a commit that is over at once to the longest that a lead may wait. */
const waitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Counts what goes through a batcher that is given it. */
export function observeBatches(metrics: Metrics): BatchObserver {
  const sizes = metrics.histogram({ name: 'lead_batch_size', help: 'Leads in a batch.' }, sizeBounds);
  const waits = metrics.histogram(
    { name: 'lead_batch_wait_seconds', help: 'How long a lead waited for its batch to set out.' },
    waitBounds,
  );
  let sheds = 0;
  metrics.counter(
    { name: 'lead_sheds_total', help: 'Leads turned away: no room, or no batch in time.' },
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

/** What waits in a batcher, and how many batches are on their way. */
export function registerBatchMetrics(metrics: Metrics, batcher: Pick<LeadBatcher, 'load'>): void {
  metrics.gauge(
    { name: 'lead_batch_queue_size', help: 'Leads that wait for a batch.' },
    () => batcher.load.waiting,
  );
  metrics.gauge(
    { name: 'lead_batches_in_flight', help: 'Batches on their way to the database.' },
    () => batcher.load.inFlight,
  );
}
