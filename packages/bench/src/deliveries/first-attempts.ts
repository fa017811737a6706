import { withProcessorTime } from '../process-tree.ts';
import { percentile } from '../statistics.ts';
import type { DeliveryBench } from './bench.ts';
import { createTenants, LeadWriter, startDeliverer, waitUntilSent } from './delivery-stack.ts';
import { startReceivers } from '../stack/receivers.ts';

const endpoints = 10;
const eventsPerSecond = 500;
const warmUpSeconds = 1;

/** Measures the time from an event to its first request, at a steady rate. */
export async function measureFirstAttempts({ createDatabase, seconds, rounds, onProgress }: DeliveryBench) {
  const databaseUrl = await createDatabase('first_attempts');
  await using receivers = await startReceivers(
    Array.from({ length: endpoints }, () => ({ status: 204, delayMs: 50 })),
  );
  const tenants = await createTenants(
    databaseUrl,
    'first',
    receivers.urls.map((url) => [url]),
  );
  await using writer = new LeadWriter(databaseUrl, tenants);
  await using deliverer = await startDeliverer(databaseUrl);
  await writer.writeSteadily(eventsPerSecond, warmUpSeconds);
  await waitUntilSent(databaseUrl, { timeoutMs: 60_000 });
  await receivers.take();
  const { processorUs } = await withProcessorTime({ deliverer }, async () => {
    await writer.writeSteadily(eventsPerSecond, seconds * rounds);
    await waitUntilSent(databaseUrl, { timeoutMs: 60_000 });
  });
  const received = await receivers.take();
  const latenciesMs = received.flatMap((each) => each.latenciesMs);
  const figures = {
    endpoints,
    eventsPerSecond,
    events: latenciesMs.length,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    maxMs: Math.max(...latenciesMs),
    delivererUsPerDelivery: processorUs.deliverer / latenciesMs.length,
  };
  onProgress(`  p50 ${figures.p50Ms} ms, p99 ${figures.p99Ms} ms`);
  return figures;
}
