import { freePort } from '@leads/local-stack/processes/free-port';
import { query } from '../stack/database.ts';
import { measureInTurn, medianFigures, medianRatio, percentile } from '../statistics.ts';
import type { DeliveryBench } from './bench.ts';
import { createTenants, LeadWriter, startDeliverer, waitUntilSent } from './delivery-stack.ts';
import { addWebhooks } from '../stack/webhooks.ts';
import { startReceivers } from '../stack/receivers.ts';

const healthy = 100;
const perWorkspace = 10;
/** Each event goes to the endpoints of a workspace: 10, or 11 beside the failing ones. */
const eventsPerSecond = 30;

/**
 * Measures the time from an event to its first request at 100 healthy receivers: alone, and beside one receiver that
 * hangs, one that refuses connections, and one that answers 500. These get as many events as the others.
 */
export async function measureFailingReceivers({
  createDatabase,
  rounds,
  seconds,
  onProgress,
}: DeliveryBench) {
  const databaseUrl = await createDatabase('failing');
  await using receivers = await startReceivers([
    ...Array.from({ length: healthy }, () => ({ status: 204, delayMs: 50 })),
    'hangs',
    { status: 500, delayMs: 50 },
  ]);
  const [hanging = '', failing = ''] = receivers.urls.slice(healthy);
  const refusing = `http://127.0.0.1:${await freePort()}/hook`;
  const tenants = await createTenants(
    databaseUrl,
    'failing',
    Array.from({ length: healthy / perWorkspace }, (_, at) =>
      receivers.urls.slice(at * perWorkspace, (at + 1) * perWorkspace),
    ),
  );
  const unhealthyUrls = [hanging, failing, refusing];
  for (const [at, url] of unhealthyUrls.entries())
    await addWebhooks(databaseUrl, tenants[at]?.workspaceId ?? '', [{ url }]);
  await using writer = new LeadWriter(databaseUrl, tenants);
  await using _deliverer = await startDeliverer(databaseUrl);
  const measured = await measureInTurn(['alone', 'beside'] as const, rounds, async (subject) => {
    await query(
      databaseUrl,
      `UPDATE delivery_endpoint SET deleted_at = ${subject === 'alone' ? 'now()' : 'NULL'} WHERE url = ANY($1)`,
      [unhealthyUrls],
    );
    await receivers.take();
    await writer.writeSteadily(eventsPerSecond, seconds);
    await waitUntilSent(databaseUrl, { timeoutMs: 60_000, except: unhealthyUrls });
    const received = (await receivers.take()).slice(0, healthy);
    const latenciesMs = received.flatMap((each) => each.latenciesMs);
    const figures = {
      deliveries: latenciesMs.length,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
    };
    onProgress(`  ${subject}: p99 ${figures.p99Ms} ms of ${figures.deliveries} deliveries`);
    return figures;
  });
  const [alone = [], beside = []] = measured.map((figures) => figures.map(({ p99Ms }) => p99Ms));
  return {
    ratio: medianRatio(beside, alone),
    required: '1.2 or less',
    receivers: [
      { subject: 'alone', ...medianFigures(measured[0] ?? []) },
      { subject: 'beside 3 that fail', ...medianFigures(measured[1] ?? []) },
    ],
  };
}
