import { processorTimeUs } from '../process-tree.ts';
import { checkpoint } from '../stack/database.ts';
import type { DeliveryBench } from './bench.ts';
import { createTenants, LeadWriter, planAll, startDeliverer, waitUntilSent } from './delivery-stack.ts';
import { startReceivers } from '../stack/receivers.ts';

const endpoints = 10;
const chunk = 1_000;
/** The time that the receivers take to answer. */
const delayMs = 50;

/** Measures how fast one process sends waiting deliveries to receivers that take 50 ms. */
export async function measureDrain({ postgres, createDatabase, waiting, onProgress }: DeliveryBench) {
  const databaseUrl = await createDatabase('drain');
  await using receivers = await startReceivers(
    Array.from({ length: endpoints }, () => ({ status: 204, delayMs })),
  );
  const tenants = await createTenants(
    databaseUrl,
    'drain',
    receivers.urls.map((url) => [url]),
  );
  await using writer = new LeadWriter(databaseUrl, tenants);
  for (let written = 0; written < waiting; written += chunk)
    await writer.write(Math.min(chunk, waiting - written));
  const planned = await planAll(databaseUrl);
  await checkpoint(postgres);
  const before = processorTimeUs(postgres.pid);
  const start = performance.now();
  await using deliverer = await startDeliverer(databaseUrl);
  await waitUntilSent(databaseUrl, { timeoutMs: 600_000 });
  const seconds = (performance.now() - start) / 1000;
  const delivererUs = processorTimeUs(deliverer.pid);
  const postgresUs = processorTimeUs(postgres.pid) - before;
  const requests = (await receivers.take()).map((received) => received.requests);
  const delivered = requests.reduce((sum, { size }) => sum + size, 0);
  if (delivered !== planned) throw new Error(`${planned} deliveries were due, and ${delivered} arrived`);
  const figures = {
    waiting: planned,
    endpoints,
    delayMs,
    seconds,
    deliveriesPerSecond: delivered / seconds,
    /** Deliveries per second of processor time of the deliverer. */
    deliveriesPerCoreSecond: delivered / (delivererUs / 1e6),
    delivererUsPerDelivery: delivererUs / delivered,
    postgresUsPerDelivery: postgresUs / delivered,
  };
  onProgress(
    `  ${figures.deliveriesPerSecond.toFixed(0)}/s, ${figures.deliveriesPerCoreSecond.toFixed(0)} a core`,
  );
  return figures;
}
