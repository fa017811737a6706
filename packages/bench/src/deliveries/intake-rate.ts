import { parseMetrics, sumOf } from '@leads/test-kit/prometheus-text';
import { countNot200, type LoadFigures } from '../load/load-process.ts';
import { submitPath } from '../load/requests.ts';
import { withProcessorTime } from '../process-tree.ts';
import { createOwner } from '../stack/credentials.ts';
import { checkpoint, query, removeLeads } from '../stack/database.ts';
import { startProgram } from '../stack/programs.ts';
import { mean, measureInTurn, medianFigures, standardError } from '../statistics.ts';
import type { DeliveryBench } from './bench.ts';
import { planAll, startDeliverer } from './delivery-stack.ts';
import { addWebhooks } from '../stack/webhooks.ts';
import { startReceivers } from '../stack/receivers.ts';

const endpoints = 3;
const connections = 64;
/** A new process that sends takes about 0.5 s of processor time to compile its code. The other subjects run longer. */
const warmUpMs = { sending: 3_000, other: 1_000 };

/** What runs beside the intake. */
const subjects = ['no endpoint', 'queued', 'no endpoint again', 'queued and sent'] as const;
const withoutEndpoint: ReadonlySet<string> = new Set(['no endpoint', 'no endpoint again']);

/**
 * Measures the rate of the intake without an endpoint, with three endpoints whose deliveries are only queued, and with a
 * process that sends them on the same machine. The subject without an endpoint is measured twice.
 */
export async function measureIntakeRate({
  postgres,
  createDatabase,
  load,
  rounds,
  seconds,
  moveToOwnCore,
  onProgress,
}: DeliveryBench) {
  const databaseUrl = await createDatabase('intake_rate');
  const { API_KEY } = await createOwner(databaseUrl);
  await using receivers = await startReceivers(
    Array.from({ length: endpoints }, () => ({ status: 204, delayMs: 0 })),
  );
  moveToOwnCore?.(receivers.pid);
  const [workspace] = await query<{ id: string }>(databaseUrl, 'SELECT id FROM workspace');
  await addWebhooks(
    databaseUrl,
    workspace?.id ?? '',
    receivers.urls.map((url) => ({ url })),
  );
  await using intake = await startProgram('intake', { databaseUrl });
  const target = { port: intake.port, path: submitPath, headers: { API_KEY }, connections };
  const measured = await measureInTurn(subjects, rounds, async (subject) => {
    await removeLeads(databaseUrl);
    await query(databaseUrl, 'TRUNCATE delivery, delivery_outbox');
    await query(
      databaseUrl,
      `UPDATE delivery_endpoint SET deleted_at = ${withoutEndpoint.has(subject) ? 'now()' : 'NULL'}`,
    );
    await checkpoint(postgres);
    await using deliverer = subject === 'queued and sent' ? await startDeliverer(databaseUrl) : undefined;
    if (deliverer !== undefined) moveToOwnCore?.(deliverer.pid);
    const longestMs = deliverer === undefined ? warmUpMs.other : warmUpMs.sending;
    await load.send({ ...target, durationMs: Math.min(longestMs, seconds * 1000) });
    const batchesBefore = await readBatches(intake.port);
    const { result: sent, processorUs } = await withProcessorTime({ service: intake, postgres }, () =>
      load.send({ ...target, durationMs: seconds * 1000 }),
    );
    const leads = sent.statuses['200'] ?? 0;
    const batches = (await readBatches(intake.port)) - batchesBefore;
    await assertQueued(databaseUrl, subject, sent);
    onProgress(`  ${subject}: ${sent.requestsPerSecond.toFixed(0)} leads/s`);
    return {
      leadsPerSecond: sent.requestsPerSecond,
      p99Ms: sent.p99Ms,
      serviceUsPerLead: processorUs.service / leads,
      postgresUsPerLead: processorUs.postgres / leads,
      leadsPerBatch: leads / batches,
      not200: countNot200(sent),
    };
  });
  const [alone = [], , again = []] = measured;
  return subjects.map((subject, at) => figuresOf(subject, measured[at] ?? [], [alone, again]));
}

/** Returns the number of batches that the intake has stored. */
async function readBatches(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  return sumOf(parseMetrics(await answer.text()).samples, 'lead_batch_size_count');
}

interface Round extends Readonly<Record<string, number>> {
  readonly leadsPerSecond: number;
  readonly serviceUsPerLead: number;
  readonly postgresUsPerLead: number;
}

/** @param references the two measurements without an endpoint of each round. Their mean varies less than one of them. */
function figuresOf<Measured extends Round>(
  subject: (typeof subjects)[number],
  measured: readonly Measured[],
  references: readonly (readonly Measured[])[],
) {
  const ratiosOf = (value: (of: Round) => number) =>
    measured.map((of, round) => {
      const others = references.flatMap((rounds) => rounds[round] ?? []).filter((other) => other !== of);
      return value(of) / mean(others.map(value));
    });
  const rateRatios = ratiosOf(({ leadsPerSecond }) => leadsPerSecond);
  return {
    subject,
    ...medianFigures(measured),
    rateRatio: mean(rateRatios),
    rateError: standardError(rateRatios),
    /** The processor time of a lead limits the rate, and varies less with what else runs on the machine. */
    costRatio:
      1 / mean(ratiosOf(({ serviceUsPerLead, postgresUsPerLead }) => serviceUsPerLead + postgresUsPerLead)),
    ...(subject === 'queued' && { required: 'rate ratio 0.95 or more' }),
  };
}

/** Checks that each lead has a delivery for each endpoint. @throws Error if one is missing. */
async function assertQueued(databaseUrl: string, subject: string, { statuses }: LoadFigures): Promise<void> {
  const planned = await planAll(databaseUrl);
  const isQueued = !withoutEndpoint.has(subject);
  const wanted = isQueued ? endpoints * (statuses['200'] ?? 0) : 0;
  if (!isQueued ? planned > 0 : planned < wanted) {
    throw new Error(`${subject}: ${planned} deliveries of ${wanted}`);
  }
}
